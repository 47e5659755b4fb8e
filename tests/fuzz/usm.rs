//! Sealing what no proper sender would seal, for the fuzz targets.

use super::Keys;
use crate::snmp::encode::Writer;
use crate::snmp::message::VERSION_3;
use crate::snmp::target::User;

/// What stands around a scoped PDU.
pub(in crate::snmp) struct Head<'a> {
    pub(in crate::snmp) msg_id: i64,
    pub(in crate::snmp) max_size: i64,
    /// The right ones where there are none.
    pub(in crate::snmp) flags: Option<u8>,
    pub(in crate::snmp) boots: i64,
    pub(in crate::snmp) time: i64,
    pub(in crate::snmp) engine_id: &'a [u8],
    /// msgPrivacyParameters; those of the cipher where there are none.
    pub(in crate::snmp) salt: Option<&'a [u8]>,
}

/// Seals octets of any kind, unlike [`usm::seal`], which writes only what is right.
pub(in crate::snmp) fn seal(head: &Head<'_>, user: &User, keys: &Keys, plain: &[u8]) -> Option<Vec<u8>> {
    let natural = |number: i64| u32::try_from(number).unwrap_or(0);
    let blank = vec![0; keys.digest_length()];
    let (data, salt, flags) = if keys.encrypts() {
        let (sealed, salt) = keys.encrypt(natural(head.boots), natural(head.time), 1, plain.to_vec())?;
        (sealed, salt.to_vec(), 7)
    } else {
        (plain.to_vec(), Vec::new(), 5)
    };
    let salt = head.salt.map_or(salt, <[u8]>::to_vec);
    let flags = head.flags.unwrap_or(flags);
    let mut security = Writer::new();
    security.sequence(|w| {
        w.octets(head.engine_id);
        w.integer(head.boots);
        w.integer(head.time);
        w.octets(user.name.as_bytes());
        w.octets(&blank);
        w.octets(&salt);
    });
    let security = security.into_bytes();
    let mut writer = Writer::new();
    writer.sequence(|w| {
        w.integer(VERSION_3);
        w.sequence(|w| {
            w.integer(head.msg_id);
            w.integer(head.max_size);
            w.octets(&[flags]);
            w.integer(3);
        });
        w.octets(&security);
        if keys.encrypts() { w.octets(&data) } else { w.raw(&data) }
    });
    let mut sealed = writer.into_bytes();
    let digest = keys.digest(&[&sealed])?;
    // The digest is the last but one of the security parameters, which are the last but one
    // of the message; both lengths behind it are below 128.
    let behind = if keys.encrypts() { encoded(&data) } else { data.len() };
    let end = sealed.len() - behind - 2 - salt.len();
    sealed.get_mut(end - digest.len()..end)?.copy_from_slice(&digest);
    Some(sealed)
}

/// The length of an OCTET STRING of these contents.
fn encoded(contents: &[u8]) -> usize {
    let mut writer = Writer::new();
    writer.octets(contents);
    writer.len()
}
