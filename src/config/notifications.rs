//! `[notifications]`: traps and informs that make their BAS due.

use std::net::{IpAddr, SocketAddr};

use super::context::Context;
use super::print::{self, Writer};
use super::section::Section;
use super::text::{EngineId, hex};
use super::value::{FromText, list, parsed};
use crate::snmp::Oid;

/// Where notifications are listened for unless a port is given: the usual one, 162, takes root.
const PORT: u16 = 1162;

/// `[notifications]`: traps and informs that make their BAS due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Where they are listened for; nowhere where this is empty. Port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
    /// Which of them count: those under one of these OIDs; all where there is none.
    pub oids: Vec<Oid>,
    /// Our own engine id; drawn once and kept where it is none.
    pub engine_id: Option<Vec<u8>>,
}

impl Notifications {
    /// The keys of `[notifications]`.
    pub(super) const KEYS: &'static [&'static str] = &["listen", "oids", "engine-id"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        const LISTEN: &str = "a list of addresses, as [\"0.0.0.0\"] or [\"192.0.2.1:162\"]";
        const OIDS: &str = "a list of OIDs, as [\"1.3.6.1.6.3.1.1.5\"]";
        let at = |cx: &mut Context, node: &_| parsed(cx, node).map(|at: ListenAt| at.0);
        Self {
            listen: section.read_or(cx, "listen", Vec::new(), |cx, n| list(cx, n, LISTEN, at)),
            oids: section.read_or(cx, "oids", Vec::new(), |cx, n| list(cx, n, OIDS, parsed)),
            engine_id: section.read(cx, "engine-id", parsed).map(|id: EngineId| id.0),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["notifications"]);
        out.strings("listen", &self.listen);
        out.raw("oids", print::list(&self.oids));
        out.optional("engine-id", self.engine_id.as_deref().map(hex));
    }
}

/// An address with or without a port.
struct ListenAt(SocketAddr);

impl FromText for ListenAt {
    const EXPECTED: &'static str = "an address, with a port or without, as \"0.0.0.0\" or \"[::]:1162\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let with_port = || bare.parse::<IpAddr>().map(|address| SocketAddr::from((address, PORT)));
        let at = text.parse().or_else(|_| with_port());
        at.map(Self).map_err(|_| "is no address that can be listened on".to_owned())
    }
}

impl FromText for Oid {
    const EXPECTED: &'static str = "an OID in numbers, as \"1.3.6.1.6.3.1.1.5.1\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text.parse::<Self>() {
            Ok(oid) if oid.arcs().len() > 1 => Ok(oid),
            _ => Err("is no OID".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_1162_unless_one_is_given() {
        let read = |text: &str| ListenAt::from_text(text).map(|at| at.0.to_string());
        for (text, at) in [
            ("0.0.0.0", "0.0.0.0:1162"),
            ("192.0.2.1:162", "192.0.2.1:162"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("::", "[::]:1162"),
            ("[::1]", "[::1]:1162"),
            ("[2001:db8::1]:162", "[2001:db8::1]:162"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(at), "{text}");
        }
        for text in ["", "localhost", "1162", ":1162", "0.0.0.0:70000", "[127.0.0.1"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn oids_are_numbers() {
        assert!(Oid::from_text("1.3.6.1").is_ok() && Oid::from_text(".1.3.6.1").is_ok());
        for text in ["", "1", "coldStart", "1.3.", "1.3.4294967296"] {
            assert!(Oid::from_text(text).is_err(), "{text}");
        }
    }
}
