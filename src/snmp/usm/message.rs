//! Messages of SNMPv3 with USM: read strictly, verified before anything in them is believed;
//! and sealed.

use std::ops::Range;

use super::keys::Keys;
use crate::snmp::ber::{self, Malformed, Reader, SEQUENCE};
use crate::snmp::encode::Writer;
use crate::snmp::message::{List, Pdu, PduKind, VERSION_3, Varbind, read_pdu};

const FLAG_AUTH: u8 = snmp2::snmp::V3_MSG_FLAGS_AUTH;
const FLAG_PRIVACY: u8 = snmp2::snmp::V3_MSG_FLAGS_PRIVACY;
const FLAG_REPORTABLE: u8 = snmp2::snmp::V3_MSG_FLAGS_REPORTABLE;
/// msgSecurityModel of USM.
const USM: i64 = 3;
/// msgMaxSize that we tell: what our receive buffer holds.
pub(in crate::snmp) const OUR_MAX_SIZE: u32 = 65_507;
/// The range of boots, time and msgMaxSize.
const MAX: i64 = 0x7fff_ffff;

/// A message whose head has been read. Nothing in it is verified yet.
#[derive(Debug)]
pub(in crate::snmp) struct Incoming<'a> {
    /// The message without what stands behind it.
    whole: &'a [u8],
    pub(in crate::snmp) trailing: usize,
    pub(in crate::snmp) msg_id: i32,
    /// The largest message that its sender takes.
    pub(in crate::snmp) max_size: u32,
    /// Whether it claims to be authenticated.
    pub(in crate::snmp) authenticated: bool,
    pub(in crate::snmp) encrypted: bool,
    /// Whether a Report may be sent back.
    pub(in crate::snmp) reportable: bool,
    pub(in crate::snmp) engine_id: &'a [u8],
    pub(in crate::snmp) boots: u32,
    pub(in crate::snmp) time: u32,
    pub(in crate::snmp) user: &'a [u8],
    /// Where msgAuthenticationParameters stand in `whole`.
    digest: Range<usize>,
    salt: &'a [u8],
    /// The scoped PDU, or its ciphertext.
    data: Reader<'a>,
}

/// Reads the head of a message.
pub(in crate::snmp) fn read(datagram: &[u8]) -> Result<Incoming<'_>, Malformed> {
    let mut outer = Reader::new(datagram);
    let mut message = outer.expect(SEQUENCE, "the message")?.reader();
    let trailing = outer.rest().len();
    let at = message.at();
    if message.integer::<i64>("the version")? != VERSION_3 {
        return Err(Malformed::new(at, "the version is not 3"));
    }
    let (msg_id, max_size, flags) = read_global(&mut message)?;
    let at = message.at();
    let mut parameters = message.expect(ber::OCTET_STRING, "the security parameters")?.reader();
    let mut security = parameters.expect(SEQUENCE, "the security parameters")?.reader();
    parameters.finish("the security parameters")?;
    let engine_id = security.octets("the engine id")?;
    let boots = natural(&mut security, "the engine's boots")?;
    let time = natural(&mut security, "the engine's time")?;
    let user = security.octets("the user name")?;
    let digest = security.expect(ber::OCTET_STRING, "the digest")?;
    let salt = security.octets("the salt")?;
    security.finish("the security parameters")?;
    if flags & FLAG_PRIVACY != 0 && flags & FLAG_AUTH == 0 {
        return Err(Malformed::new(at, "the message is encrypted, but not authenticated"));
    }
    Ok(Incoming {
        whole: datagram.get(..datagram.len() - trailing).unwrap_or(datagram),
        trailing,
        msg_id,
        max_size,
        authenticated: flags & FLAG_AUTH != 0,
        encrypted: flags & FLAG_PRIVACY != 0,
        reportable: flags & FLAG_REPORTABLE != 0,
        engine_id,
        boots,
        time,
        user,
        digest: digest.at..digest.at + digest.contents.len(),
        salt,
        data: message,
    })
}

/// msgGlobalData: msgID, msgMaxSize and the flags.
fn read_global(message: &mut Reader<'_>) -> Result<(i32, u32, u8), Malformed> {
    let mut global = message.expect(SEQUENCE, "the header")?.reader();
    let msg_id = global.integer("msgID")?;
    let max_size = natural(&mut global, "msgMaxSize")?;
    let at = global.at();
    let &[flags] = global.octets("the flags")? else {
        return Err(Malformed::new(at, "the flags are not one octet"));
    };
    let at = global.at();
    let model: i64 = global.integer("the security model")?;
    global.finish("the header")?;
    if model != USM {
        return Err(Malformed::new(at, format!("security model {model} is not USM")));
    }
    Ok((msg_id, max_size, flags))
}

/// An INTEGER from 0 to 2^31-1.
fn natural(reader: &mut Reader<'_>, what: &str) -> Result<u32, Malformed> {
    let at = reader.at();
    let number: i64 = reader.integer(what)?;
    u32::try_from(number)
        .ok()
        .filter(|_| number <= MAX)
        .ok_or_else(|| Malformed::new(at, format!("{what} is out of range")))
}

impl Incoming<'_> {
    /// Whether the digest is that of the message under these keys.
    pub(in crate::snmp) fn verify(&self, keys: &Keys) -> bool {
        let parts = self.whole.split_at_checked(self.digest.start).and_then(|(before, rest)| {
            let (claimed, after) = rest.split_at_checked(self.digest.len())?;
            Some((before, claimed, after))
        });
        let Some((before, claimed, after)) = parts else { return false };
        let blank = vec![0; keys.digest_length()];
        claimed.len() == blank.len() && keys.verify(claimed, &[before, &blank, after])
    }

    /// The octets of the scoped PDU, decrypted where they are encrypted.
    pub(in crate::snmp) fn scoped(&self, keys: Option<&Keys>) -> Result<Vec<u8>, Malformed> {
        let mut data = self.data;
        if !self.encrypted {
            let octets = data.rest().to_vec();
            data.expect(SEQUENCE, "the scoped PDU")?;
            data.finish("the message")?;
            return Ok(octets);
        }
        let at = data.at();
        let encrypted = data.octets("the encrypted PDU")?;
        data.finish("the message")?;
        keys.and_then(|keys| keys.decrypt(self.boots, self.time, self.salt, encrypted))
            .ok_or_else(|| Malformed::new(at, "the PDU cannot be decrypted"))
    }
}

/// A PDU with its context.
#[derive(Debug)]
pub(in crate::snmp) struct ScopedPdu<'a, L = Vec<Varbind>> {
    pub(in crate::snmp) engine_id: &'a [u8],
    pub(in crate::snmp) context: &'a [u8],
    pub(in crate::snmp) pdu: Pdu<L>,
}

/// A scoped PDU (RFC 3412, 6); what stands behind it is padding.
pub(in crate::snmp) fn read_scoped_pdu<L: List>(octets: &[u8]) -> Result<ScopedPdu<'_, L>, Malformed> {
    let mut scoped = Reader::new(octets).expect(SEQUENCE, "the scoped PDU")?.reader();
    let engine_id = scoped.octets("the context's engine id")?;
    let context = scoped.octets("the context's name")?;
    let pdu = read_pdu(&mut scoped)?;
    scoped.finish("the scoped PDU")?;
    Ok(ScopedPdu { engine_id, context, pdu })
}

/// The PDU of a scoped PDU.
pub(in crate::snmp) fn read_scoped(octets: &[u8]) -> Result<Pdu, Malformed> {
    read_scoped_as(octets)
}

/// The same, its varbinds kept in another way.
pub(in crate::snmp) fn read_scoped_as<L: List>(octets: &[u8]) -> Result<Pdu<L>, Malformed> {
    read_scoped_pdu(octets).map(|scoped| scoped.pdu)
}

/// What a message is addressed by.
#[derive(Clone, Copy, Debug)]
pub(in crate::snmp) struct Envelope<'a> {
    pub(in crate::snmp) msg_id: i32,
    /// msgMaxSize: the largest message that the sender takes in, in octets.
    pub(in crate::snmp) max_size: u32,
    pub(in crate::snmp) engine_id: &'a [u8],
    pub(in crate::snmp) boots: u32,
    pub(in crate::snmp) time: u32,
    pub(in crate::snmp) user: &'a [u8],
    pub(in crate::snmp) context_engine_id: &'a [u8],
    pub(in crate::snmp) context_name: &'a [u8],
}

/// The message that makes any agent tell its engine id (RFC 3414, 4): strict ones want it
/// to name no user and to have no more than the reportable flag.
pub(in crate::snmp) fn discovery(msg_id: i32, max_size: u32) -> Vec<u8> {
    let pdu =
        Pdu { kind: PduKind::Get, request_id: msg_id, error_status: 0, error_index: 0, varbinds: Vec::new() };
    let envelope = Envelope {
        msg_id,
        max_size,
        engine_id: &[],
        boots: 0,
        time: 0,
        user: &[],
        context_engine_id: &[],
        context_name: &[],
    };
    let plain = scoped(&envelope, |w| w.pdu(&pdu));
    message(&envelope, FLAG_REPORTABLE, &[], &[], |w| w.raw(&plain))
}

/// A message with a PDU, encrypted and signed as the keys allow. `salt` is never used twice.
/// None where the keys do not fit their protocols.
pub(in crate::snmp) fn seal(
    envelope: &Envelope<'_>,
    pdu: &Pdu,
    keys: Option<&Keys>,
    salt: u64,
) -> Option<Vec<u8>> {
    protect(envelope, pdu.kind, scoped(envelope, |w| w.pdu(pdu)), keys, salt)
}

/// The same of the head of a PDU, and varbinds that are encoded already.
pub(in crate::snmp) fn seal_encoded(
    envelope: &Envelope<'_>,
    head: &Pdu,
    list: &[u8],
    keys: Option<&Keys>,
    salt: u64,
) -> Option<Vec<u8>> {
    protect(envelope, head.kind, scoped(envelope, |w| w.pdu_of(head, list)), keys, salt)
}

fn protect(
    envelope: &Envelope<'_>,
    kind: PduKind,
    plain: Vec<u8>,
    keys: Option<&Keys>,
    salt: u64,
) -> Option<Vec<u8>> {
    // Only what is answered may be answered with a Report (RFC 3412, 6.4).
    let flags = if kind.is_confirmed() { FLAG_REPORTABLE } else { 0 };
    let Some(keys) = keys else {
        return Some(message(envelope, flags, &[], &[], |w| w.raw(&plain)));
    };
    let blank = vec![0; keys.digest_length()];
    let mut sealed = if keys.encrypts() {
        let (encrypted, salt) = keys.encrypt(envelope.boots, envelope.time, salt, plain)?;
        message(envelope, flags | FLAG_AUTH | FLAG_PRIVACY, &blank, &salt, |w| w.octets(&encrypted))
    } else {
        message(envelope, flags | FLAG_AUTH, &blank, &[], |w| w.raw(&plain))
    };
    let digest = keys.digest(&[&sealed])?;
    // Reading it back is the one place that knows where the digest stands.
    let place = read(&sealed).ok()?.digest;
    sealed.get_mut(place)?.copy_from_slice(&digest);
    Some(sealed)
}

fn scoped(envelope: &Envelope<'_>, pdu: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.sequence(|w| {
        w.octets(envelope.context_engine_id);
        w.octets(envelope.context_name);
        pdu(w);
    });
    writer.into_bytes()
}

fn message(
    envelope: &Envelope<'_>,
    flags: u8,
    digest: &[u8],
    salt: &[u8],
    data: impl FnOnce(&mut Writer),
) -> Vec<u8> {
    let mut security = Writer::new();
    security.sequence(|w| {
        w.octets(envelope.engine_id);
        w.integer(i64::from(envelope.boots));
        w.integer(i64::from(envelope.time));
        w.octets(envelope.user);
        w.octets(digest);
        w.octets(salt);
    });
    let mut writer = Writer::new();
    writer.sequence(|w| {
        w.integer(VERSION_3);
        w.sequence(|w| {
            w.integer(i64::from(envelope.msg_id));
            w.integer(i64::from(envelope.max_size));
            w.octets(&[flags]);
            w.integer(USM);
        });
        w.octets(&security.into_bytes());
        data(w);
    });
    writer.into_bytes()
}
