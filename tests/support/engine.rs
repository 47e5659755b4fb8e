//! An SNMPv3 engine for scripted agents. Its USM is snmp2's, so that ours is not its own
//! judge.

use snmp2::MessageType;
use snmp2::v3::{Auth, AuthProtocol, Cipher, KeyExtension, Security};

use super::wire::{self, Address, GET, GET_BULK, GET_NEXT, Request, arcs};

pub const USER: &str = "tester";
pub const AUTH_PASSWORD: &str = "authpass-12345";
pub const PRIVACY_PASSWORD: &str = "privpass-12345";

pub const UNSUPPORTED_LEVEL: &str = "1.3.6.1.6.3.15.1.1.1.0";
pub const NOT_IN_TIME_WINDOW: &str = "1.3.6.1.6.3.15.1.1.2.0";
pub const UNKNOWN_USER: &str = "1.3.6.1.6.3.15.1.1.3.0";
pub const UNKNOWN_ENGINE: &str = "1.3.6.1.6.3.15.1.1.4.0";
pub const WRONG_DIGEST: &str = "1.3.6.1.6.3.15.1.1.5.0";
pub const DECRYPTION_ERROR: &str = "1.3.6.1.6.3.15.1.1.6.0";
pub const UNKNOWN_CONTEXT: &str = "1.3.6.1.6.3.12.1.5.0";

/// How a user's messages are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Plain,
    Signed,
    Encrypted,
}

/// An engine and one user of it.
#[derive(Clone)]
pub struct Engine {
    pub id: Vec<u8>,
    pub boots: i64,
    pub time: i64,
    keys: [Security; 3],
}

/// The head of a message that asks.
#[derive(Clone, Debug)]
pub struct Head {
    pub id: i64,
    pub max_size: i64,
    pub flags: u8,
    pub engine: Vec<u8>,
    pub boots: i64,
    pub time: i64,
    pub user: Vec<u8>,
}

impl Engine {
    /// An engine whose user signs with SHA-256 and encrypts with AES-128.
    pub fn new(id: &[u8], boots: i64, time: i64) -> Self {
        Self::with(id, boots, time, AuthProtocol::Sha256, Cipher::Aes128, KeyExtension::Blumenthal)
    }

    pub fn with(
        id: &[u8],
        boots: i64,
        time: i64,
        auth: AuthProtocol,
        cipher: Cipher,
        extension: KeyExtension,
    ) -> Self {
        let private = Auth::AuthPriv { cipher, privacy_password: PRIVACY_PASSWORD.as_bytes().to_vec() };
        let keys = [Auth::NoAuthNoPriv, Auth::AuthNoPriv, private].map(|level| {
            Security::new(USER.as_bytes(), AUTH_PASSWORD.as_bytes())
                .with_auth_protocol(auth)
                .with_auth(level)
                .with_key_extension_method(extension)
                .with_engine_id(id)
                .unwrap()
        });
        Self { id: id.to_vec(), boots, time, keys }
    }

    /// The same engine at another time.
    pub fn at(&self, boots: i64, time: i64) -> Self {
        Self { boots, time, ..self.clone() }
    }

    /// What a message is addressed by; what it asks is not looked at.
    pub fn head(message: &[u8]) -> Head {
        let parts = wire::message_pieces(message);
        let global = wire::pieces(message, parts[1].contents.clone());
        let security = wire::pieces(message, parts[2].contents.clone()).remove(0);
        let security = wire::pieces(message, security.contents);
        Head {
            id: wire::number(message, &global[0]),
            max_size: wire::number(message, &global[1]),
            flags: message[global[2].contents.start],
            engine: message[security[0].contents.clone()].to_vec(),
            boots: wire::number(message, &security[1]),
            time: wire::number(message, &security[2]),
            user: message[security[3].contents.clone()].to_vec(),
        }
    }

    /// Whether the message is a probe for the engine's id.
    pub fn is_probe(message: &[u8]) -> bool {
        Self::head(message).engine.is_empty()
    }

    /// What a message asks, as snmp2 verifies and decrypts it. It must be the user's.
    pub fn read(&self, message: &[u8]) -> Request {
        let head = Self::head(message);
        let level = match head.flags & 3 {
            0 => Level::Plain,
            1 => Level::Signed,
            _ => Level::Encrypted,
        };
        // It writes into what it reads.
        let copy = message.to_vec();
        let mut keys = self.keys(level).with_engine_boots_and_time(head.boots, head.time);
        let pdu = snmp2::Pdu::from_bytes_with_security(&copy, Some(&mut keys)).unwrap();
        let kind = match pdu.message_type {
            MessageType::GetRequest => GET,
            MessageType::GetNextRequest => GET_NEXT,
            MessageType::GetBulkRequest => GET_BULK,
            other => panic!("{other:?}"),
        };
        Request {
            community: Vec::new(),
            kind,
            id: i64::from(pdu.req_id),
            first: i64::from(pdu.error_status),
            second: i64::from(pdu.error_index),
            oids: pdu.varbinds.clone().map(|(name, _)| arcs(&name.to_id_string())).collect(),
        }
    }

    /// A PDU as an answer, protected at a level.
    pub fn seal(&self, level: Level, id: i64, pdu: &[u8]) -> Vec<u8> {
        let plain = wire::unsigned_v3(self.address(id), pdu);
        if level == Level::Plain {
            return plain;
        }
        // snmp2 protects what it has read before.
        let mut reader = self.keys(Level::Plain).with_engine_boots_and_time(self.boots, self.time);
        let read = snmp2::Pdu::from_bytes_with_security(&plain, Some(&mut reader)).unwrap();
        let keys = self.keys(level).with_engine_boots_and_time(self.boots, self.time);
        read.to_bytes_with_security(Some(&keys)).unwrap()
    }

    /// A Report, protected at a level.
    pub fn report(&self, level: Level, id: i64, what: &str) -> Vec<u8> {
        let counter = (arcs(what), vec![0x41, 1, 7]);
        self.seal(level, id, &wire::answer_pdu(wire::REPORT, id, 0, 0, &[counter]))
    }

    /// The answer to a probe. Its request id is not that of the probe: agents differ.
    pub fn introduce(&self, message: &[u8]) -> Vec<u8> {
        let counter = (arcs(UNKNOWN_ENGINE), vec![0x41, 1, 7]);
        let pdu = wire::answer_pdu(wire::REPORT, 0, 0, 0, &[counter]);
        wire::unsigned_v3(Address { user: b"", ..self.address(Self::head(message).id) }, &pdu)
    }

    fn address(&self, id: i64) -> Address<'_> {
        Address { id, engine: &self.id, boots: self.boots, time: self.time, user: USER.as_bytes() }
    }

    fn keys(&self, level: Level) -> Security {
        self.keys[level as usize].clone()
    }
}
