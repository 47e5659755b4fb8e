//! One DNS question with a client subnet (RFC 1035, RFC 6891, RFC 7871), over UDP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::format::groups::Domain;

/// A record type that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
}

/// What a server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The response code.
    pub(super) code: u8,
    /// The addresses.
    pub(super) addresses: Vec<IpAddr>,
    /// The names that CNAMEs lead to, in lower case.
    pub(super) names: Vec<String>,
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
const OPT: u16 = 41;
const CLIENT_SUBNET: u16 = 8;
/// What a server may send us at most: what passes every path unbroken.
const PAYLOAD: u16 = 1232;
/// More labels or jumps than this are a loop.
const MAX_LABELS: usize = 128;
/// The most octets of a name (RFC 1035, 2.3.4), its lengths included.
const MAX_NAME: usize = 255;

/// Asks a server for a name's addresses on behalf of a viewer.
pub(super) async fn ask(
    server: SocketAddr,
    name: &Domain,
    kind: Kind,
    viewer: IpAddr,
    limit: Duration,
) -> Result<Answer, String> {
    let local: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let failed = |e: std::io::Error| format!("{server}: {e}");
    let socket = UdpSocket::bind((local, 0)).await.map_err(failed)?;
    socket.connect(server).await.map_err(failed)?;
    let id: u16 = rand::random();
    socket.send(&question(id, name, kind, viewer)).await.map_err(failed)?;
    let answer = async {
        let mut buffer = [0; PAYLOAD as usize];
        loop {
            let length = socket.recv(&mut buffer).await.map_err(failed)?;
            let message = buffer.get(..length).unwrap_or_default();
            if message.starts_with(&id.to_be_bytes()) {
                return parse(message).ok_or_else(|| format!("{server}: the answer cannot be read"));
            }
        }
    };
    timeout(limit, answer).await.unwrap_or_else(|_| Err(format!("{server}: no answer within {limit:?}")))
}

fn question(id: u16, name: &Domain, kind: Kind, viewer: IpAddr) -> Vec<u8> {
    let mut out = Vec::with_capacity(96);
    out.extend(id.to_be_bytes());
    // No flags (the server answers for itself), one question, one additional record.
    out.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    for label in name.as_str().split('.') {
        out.push(label.len() as u8);
        out.extend(label.as_bytes());
    }
    out.push(0);
    let kind = if kind == Kind::A { A } else { AAAA };
    for word in [kind, 1] {
        out.extend(word.to_be_bytes());
    }
    let (family, octets): (u16, Vec<u8>) = match viewer {
        IpAddr::V4(viewer) => (1, viewer.octets().to_vec()),
        IpAddr::V6(viewer) => (2, viewer.octets().to_vec()),
    };
    out.push(0);
    let option = 4 + octets.len() as u16;
    for word in [OPT, PAYLOAD, 0, 0, option + 4, CLIENT_SUBNET, option, family] {
        out.extend(word.to_be_bytes());
    }
    // The whole address; the scope is the server's to say.
    out.extend([octets.len() as u8 * 8, 0]);
    out.extend(octets);
    out
}

/// The answer in a message; none where it is broken, or no response.
pub(super) fn parse(message: &[u8]) -> Option<Answer> {
    let flags = *message.get(2)?;
    let code = message.get(3)? & 15;
    if flags & 0x80 == 0 {
        return None;
    }
    let mut answer = Answer { code, ..Answer::default() };
    let mut at = 12;
    for _ in 0..word(message, 4)? {
        at = name(message, at)?.1 + 4;
    }
    for _ in 0..word(message, 6)? {
        at = name(message, at)?.1;
        let (kind, length) = (word(message, at)?, usize::from(word(message, at + 8)?));
        let data = message.get(at + 10..at + 10 + length)?;
        match kind {
            A => answer.addresses.push(IpAddr::from(<[u8; 4]>::try_from(data).ok()?)),
            AAAA => answer.addresses.push(IpAddr::from(<[u8; 16]>::try_from(data).ok()?)),
            CNAME => answer.names.push(name(message, at + 10)?.0),
            _ => {}
        }
        at += 10 + length;
    }
    Some(answer)
}

fn word(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]))
}

/// The name at a place, and what stands behind it.
fn name(message: &[u8], start: usize) -> Option<(String, usize)> {
    let (mut at, mut behind, mut labels, mut octets) = (start, None, Vec::new(), 1);
    for _ in 0..MAX_LABELS {
        match *message.get(at)? {
            0 => {
                let text = labels.join(".").to_ascii_lowercase();
                return Some((text, behind.unwrap_or(at + 1)));
            }
            length if length & 0xc0 == 0xc0 => {
                behind.get_or_insert(at + 2);
                at = usize::from(word(message, at)? & 0x3fff);
            }
            length => {
                octets += 1 + usize::from(length);
                let label =
                    message.get(at + 1..at + 1 + usize::from(length)).filter(|_| octets <= MAX_NAME)?;
                labels.push(String::from_utf8_lossy(label).into_owned());
                at += 1 + usize::from(length);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_is_as_the_rfcs_have_it() {
        let name = "cdn.example.com".parse().unwrap();
        let sent = question(0x1234, &name, Kind::A, "192.0.2.1".parse().unwrap());
        let wanted = b"\x12\x34\0\0\0\x01\0\0\0\0\0\x01\x03cdn\x07example\x03com\0\0\x01\0\x01\
            \0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x08\0\x08\0\x01\x20\0\xc0\0\x02\x01";
        assert_eq!(sent, wanted);
        let sent = question(0, &name, Kind::Aaaa, "2001:db8::1".parse().unwrap());
        assert!(sent.ends_with(b"\0\x18\0\x08\0\x14\0\x02\x80\0\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"));
    }

    #[test]
    fn addresses_and_names_are_found_through_compression() {
        // A CNAME from the question's name to edge.EXAMPLE.com, and its two addresses.
        let mut message =
            b"\x12\x34\x84\0\0\x01\0\x03\0\0\0\0\x03cdn\x07example\x03com\0\0\x01\0\x01".to_vec();
        message.extend(b"\xc0\x0c\0\x05\0\x01\0\0\0\x1e\0\x07\x04Edge\xc0\x10");
        message.extend(b"\xc0\x2d\0\x01\0\x01\0\0\0\x1e\0\x04\xc6\x33\x64\x0a");
        message.extend(b"\xc0\x2d\0\x1c\0\x01\0\0\0\x1e\0\x10\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0a");
        let wanted = Answer {
            code: 0,
            addresses: vec!["198.51.100.10".parse().unwrap(), "2001:db8::a".parse().unwrap()],
            names: vec!["edge.example.com".to_owned()],
        };
        assert_eq!(parse(&message), Some(wanted));
        for length in 0..message.len() {
            assert_eq!(parse(&message[..length]), None, "cut to {length} octets");
        }
    }

    #[test]
    fn a_name_that_leads_to_itself_is_none() {
        assert_eq!(parse(b"\x12\x34\x84\0\0\x01\0\0\0\0\0\0\xc0\x0c\0\x01\0\x01"), None);
        // A question is no response.
        assert_eq!(parse(b"\x12\x34\x04\0\0\0\0\0\0\0\0\0"), None);
        assert_eq!(parse(b"\x12\x34\x84\x03\0\0\0\0\0\0\0\0").unwrap().code, 3);
    }

    proptest! {
        #[test]
        fn no_octets_break_the_reader(message in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&message);
        }
    }
}
