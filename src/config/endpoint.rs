//! Addresses with an optional port, and host names.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

use super::value::FromText;

/// Where an SNMP agent listens: an address or a host name, and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: Host,
    /// The UDP port.
    pub port: u16,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A link-local address and the interface it is on (RFC 4007).
    Scoped(Ipv6Addr, String),
    /// A name, to be resolved at each poll.
    Name(String),
}

impl Endpoint {
    /// The port of SNMP (RFC 3417).
    pub const SNMP: u16 = 161;

    /// The socket address, where the host is an address that needs no looking up.
    pub fn socket(&self) -> Option<SocketAddr> {
        match (&self.host, self.port) {
            (Host::Address(address), port) => Some(SocketAddr::new(*address, port)),
            (Host::Scoped(address, zone), port) => {
                let scope = zone.parse().ok()?;
                Some(SocketAddrV6::new(*address, port, 0, scope).into())
            }
            (Host::Name(_), _) => None,
        }
    }

    /// Host and port as the system's resolver takes them (`tokio::net::lookup_host`); also
    /// good for addresses, with `%zone` where there is one.
    pub fn lookup(&self) -> (String, u16) {
        let host = match &self.host {
            Host::Address(address) => address.to_string(),
            Host::Scoped(address, zone) => format!("{address}%{zone}"),
            Host::Name(name) => name.clone(),
        };
        (host, self.port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = self.lookup();
        match (host.contains(':'), port == Self::SNMP) {
            (_, true) => f.write_str(&host),
            (true, false) => write!(f, "[{host}]:{port}"),
            (false, false) => write!(f, "{host}:{port}"),
        }
    }
}

impl std::str::FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::from_text(text).map_err(|problem| format!("`{text}` {problem}; expected {}", Self::EXPECTED))
    }
}

impl FromText for Endpoint {
    const EXPECTED: &'static str = "an address or host name, with a port where it is not 161: \"192.0.2.9\", \"192.0.2.9:1161\", \"2001:db8::1\", \"[2001:db8::1]:1161\", \"fe80::1%eth0\", \"bas1.example.net\"";

    /// Reads an address or host name with an optional port. What has two colons or more is
    /// an IPv6 address as a whole: a port behind it needs brackets.
    fn from_text(text: &str) -> Result<Self, String> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            bracketed(rest)?
        } else if text.matches(':').count() >= 2 {
            (six(text).ok_or("is not an IPv6 address")?, None)
        } else {
            match text.split_once(':') {
                Some((host, port)) => (four_or_name(host)?, Some(port)),
                None => (four_or_name(text)?, None),
            }
        };
        reachable(&host)?;
        Ok(Self { host, port: port.map_or(Ok(Self::SNMP), read_port)? })
    }
}

/// What stands behind an opening bracket: an IPv6 address, the closing one, perhaps a port.
fn bracketed(rest: &str) -> Result<(Host, Option<&str>), String> {
    let (inside, behind) = rest.split_once(']').ok_or("lacks the closing bracket")?;
    let host = six(inside).ok_or("holds no IPv6 address in its brackets")?;
    match behind.strip_prefix(':') {
        None if !behind.is_empty() => Err("has something other than a port behind its bracket".to_owned()),
        port => Ok((host, port)),
    }
}

fn read_port(text: &str) -> Result<u16, String> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|port| digits && *port > 0)
        .ok_or_else(|| "has no port from 1 to 65535".to_owned())
}

fn six(text: &str) -> Option<Host> {
    let Some((address, zone)) = text.split_once('%') else {
        return Some(Host::Address(text.parse::<Ipv6Addr>().ok()?.into()));
    };
    let legal = !zone.is_empty() && zone.bytes().all(|b| b.is_ascii_graphic() && b != b'%' && b != b']');
    legal.then(|| Some(Host::Scoped(address.parse().ok()?, zone.to_owned())))?
}

fn four_or_name(text: &str) -> Result<Host, String> {
    if let Ok(address) = text.parse() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    match HostName::from_text(text) {
        Ok(name) => Ok(Host::Name(name.0)),
        Err(_) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => {
            Err("is not an IPv4 address (four numbers from 0 to 255, without leading zeros)".to_owned())
        }
        Err(_) => Err("is neither an address nor a host name".to_owned()),
    }
}

/// Nobody answers from there.
fn reachable(host: &Host) -> Result<(), String> {
    match host {
        Host::Address(address) if address.is_unspecified() || address.is_multicast() => {
            Err("is no address of a host".to_owned())
        }
        Host::Address(IpAddr::V4(address)) if address.is_broadcast() => {
            Err("is no address of a host".to_owned())
        }
        _ => Ok(()),
    }
}

/// A host or domain name (RFC 1123, with underscores), without the dot at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostName(pub(super) String);

impl FromText for HostName {
    const EXPECTED: &'static str = "a host name, as \"gz-01.cdn.example.net\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let numeric = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        if name.len() > 253 || numeric || !name.split('.').all(label) {
            return Err("is not a host name".to_owned());
        }
        Ok(Self(name.to_owned()))
    }
}

impl FromText for IpAddr {
    const EXPECTED: &'static str = "an address without port, as \"192.0.2.9\" or \"2001:db8::1\"";

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "is not an address".to_owned())
    }
}

impl FromText for SocketAddr {
    const EXPECTED: &'static str = "an address with a port, as \"127.0.0.1:8420\" or \"[::1]:8420\"";

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "is not an address with a port".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Endpoint, String> {
        Endpoint::from_text(text)
    }

    fn at(address: &str, port: u16) -> Endpoint {
        Endpoint { host: Host::Address(address.parse().unwrap()), port }
    }

    #[test]
    fn every_form_is_read_as_it_is_meant() {
        for (text, expected) in [
            ("192.0.2.9", at("192.0.2.9", 161)),
            ("192.0.2.9:1161", at("192.0.2.9", 1161)),
            ("2001:db8::1", at("2001:db8::1", 161)),
            ("[2001:db8::1]", at("2001:db8::1", 161)),
            ("[2001:db8::1]:1161", at("2001:db8::1", 1161)),
            ("2001:db8::1:1161", at("2001:db8::1:1161", 161)),
            ("::1", at("::1", 161)),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
        let scoped =
            |zone: &str, port| Endpoint { host: Host::Scoped("fe80::1".parse().unwrap(), zone.into()), port };
        assert_eq!(read("fe80::1%eth0"), Ok(scoped("eth0", 161)));
        assert_eq!(read("[fe80::1%eth0]:1161"), Ok(scoped("eth0", 1161)));
        let named = |name: &str, port| Endpoint { host: Host::Name(name.into()), port };
        assert_eq!(read("bas1.example.net"), Ok(named("bas1.example.net", 161)));
        assert_eq!(read("bas1:1161"), Ok(named("bas1", 1161)));
        assert_eq!(read("bas1.example.net."), Ok(named("bas1.example.net", 161)));
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        for text in [
            "",
            ":",
            ":161",
            "300.1.2.3",
            "10.0.0",
            "010.0.0.1",
            "192.0.2.9:",
            "192.0.2.9:0",
            "192.0.2.9:65536",
            "192.0.2.9:+1",
            "[2001:db8::1",
            "[2001:db8::1]1161",
            "[192.0.2.9]",
            "[]:161",
            "2001:db8::g",
            "fe80::1%",
            "a b",
            "-a",
            "a..b",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.9/32",
            "host:snmp",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sockets_and_look_ups() {
        assert_eq!(at("2001:db8::1", 1161).socket(), Some("[2001:db8::1]:1161".parse().unwrap()));
        assert_eq!(read("fe80::1%3").unwrap().socket(), Some("[fe80::1%3]:161".parse().unwrap()));
        assert_eq!(read("fe80::1%eth0").unwrap().socket(), None);
        assert_eq!(read("fe80::1%eth0").unwrap().lookup(), ("fe80::1%eth0".to_owned(), 161));
    }

    proptest::proptest! {
        #[test]
        fn shown_endpoints_read_back(text in "(\\[?[0-9a-f:.]{1,20}\\]?|[a-z0-9.-]{1,12})(:[0-9]{1,5})?(%[a-z0-9]{1,4})?") {
            if let Ok(endpoint) = read(&text) {
                proptest::prop_assert_eq!(read(&endpoint.to_string()), Ok(endpoint));
            }
        }
    }
}
