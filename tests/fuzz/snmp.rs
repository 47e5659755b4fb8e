//! Fuzz targets of SNMP: messages, USM, what is inside of sealed messages, walks.

use std::sync::{Arc, LazyLock};

use super::binds::Binds;
use super::encode::community_message;
use super::message::{Pdu, PduKind, VERSION_3, peek_id, peek_version, read_community, read_community_as};
use super::notice::fuzz::read_notice;
use super::notice::{Read, Refusal};
use super::report::Report;
use super::target::User;
use super::usm::fuzz::{Head, seal};
use super::usm::{self, Envelope, Keyring, Keys};
use super::v3::fuzz::{Judged, judge, judge_probe};
use super::walk::fuzz::drive;
use super::{AuthProtocol, Credentials, KeyExtension, PrivacyProtocol, Secret, Value};
use crate::fuzz::Bytes;

/// Messages of SNMPv2c: what is read is written and read again without a change, and is what
/// snmp2 reads, as far as that reads.
pub(crate) fn message(data: &[u8]) {
    let peeked = peek_id(data);
    let read = read_community(data);
    assert_eq!(read.as_ref().err(), read_community_as::<Binds>(data).as_ref().err());
    let Ok(read) = read else { return };
    bounded(&read.pdu, data);
    if read.pdu.kind == PduKind::Response {
        assert_eq!(peeked, Some(read.pdu.request_id), "a message that is read has the id that was peeked");
    }
    assert!(read.trailing <= data.len());
    let encoded = read_community_as::<Binds>(data).expect("what is read is read as it came, too");
    assert_eq!(encoded.pdu.varbinds.decoded(), read.pdu.varbinds);
    let written = community_message(read.community, &read.pdu);
    assert_eq!(read_community(&written).map(|again| again.pdu).as_ref(), Ok(&read.pdu));
    if let Ok(theirs) = snmp2::Pdu::from_bytes(data) {
        assert_eq!(theirs.community, read.community);
        agree(&read.pdu, &theirs);
    }
}

/// Messages of SNMPv3 as they come: none has a digest that anybody could have made.
pub(crate) fn usm(data: &[u8]) {
    let _ = peek_id(data);
    let Ok(incoming) = usm::read(data) else { return };
    for keys in KEYS.iter() {
        let _ = incoming.scoped(Some(keys));
    }
    if let Ok(octets) = incoming.scoped(None)
        && let Ok(pdu) = usm::read_scoped(&octets)
    {
        bounded(&pdu, data);
        let _ = Report::of(&pdu).failure(&user(AuthProtocol::Sha1, None), &pdu);
    }
    let id = incoming.msg_id;
    for (user, keys) in [(user(AuthProtocol::Sha1, None), Some(&*KEYS[0])), (nobody(), None)] {
        for authentic in [false, true] {
            if let Judged::Response(pdu) = judge(&user, &ENGINE, keys, id, authentic, data) {
                assert!(keys.is_none(), "a message that nobody signed was believed");
                bounded(&pdu, data);
            }
        }
    }
    judge_probe(data, id);
}

/// Messages that are signed and encrypted as they should be, and hold anything at all: a
/// router that has our keys, and no manners.
pub(crate) fn sealed(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (user, keys) = bytes.of(&USERS);
    let sizes = [0, 484, 1_400, 65_507, 65_535, 0x7fff_ffff, -1, i64::MIN, i64::MAX];
    let times = [0, 1, 7, 86_400, 0x7fff_ffff, 0x8000_0000, -1, i64::MIN, i64::MAX];
    let head = Head {
        msg_id: if bytes.octet() == 0xff { i64::from(bytes.word()) } else { i64::from(ID) },
        max_size: *bytes.of(&sizes),
        flags: if bytes.octet() < 0xf0 { None } else { Some(bytes.octet()) },
        boots: *bytes.of(&times),
        time: *bytes.of(&times),
        engine_id: if bytes.octet() < 0xf0 { &ENGINE } else { bytes.take(40) },
        salt: if bytes.octet() < 0xf0 { None } else { Some(bytes.take(12)) },
    };
    let plain = bytes.0;
    let Some(datagram) = seal(&head, user, keys, plain) else { return };
    let authentic = plain.len().is_multiple_of(2);
    let judged = judge(user, &ENGINE, Some(keys), ID, authentic, &datagram);
    let Judged::Response(pdu) = judged else { return };
    assert_eq!((head.msg_id, head.engine_id), (i64::from(ID), &ENGINE[..]), "a foreign message was believed");
    bounded(&pdu, &datagram);
    // What was believed is what stands there; to what DES encrypts up to seven zeros are added,
    // which may be the end of a text that lacks it.
    let padded = [plain, &[0; 7]].concat();
    assert_eq!(usm::read_scoped(&padded).as_ref(), Ok(&pdu));
    let envelope = Envelope {
        msg_id: ID,
        max_size: 65_507,
        engine_id: &ENGINE,
        boots: 7,
        time: 86_400,
        user: user.name.as_bytes(),
        context_engine_id: &ENGINE,
        context_name: b"vr1",
    };
    let again = usm::seal(&envelope, &pdu, Some(keys), 1).expect("these keys fit");
    let read = usm::read(&again).expect("our own message is read");
    assert!(read.verify(keys));
    assert_eq!(read.scoped(Some(keys)).and_then(|octets| usm::read_scoped(&octets)), Ok(pdu));
}

/// Notifications: nobody is believed who does not know a community or a user's keys, whoever
/// is answered is answered with a message of its own version, and an acknowledgement tells
/// nothing that did not come.
pub(crate) fn notice(data: &[u8]) {
    let (secret, user) = (Secret::new("notice-community"), user(AuthProtocol::Sha1, None));
    let known = [Credentials::V2c(secret), Credentials::V3(user)];
    let (read, answer) = read_notice(data, &known);
    let named = read_community(data).is_ok_and(|message| message.community == b"notice-community");
    match &read {
        Read::Notice { by, inform, .. } => {
            assert!(named && by[..] == [0], "a notification was believed that nobody vouched for");
            assert_eq!(*inform, answer.is_some(), "an inform is acknowledged, a trap is not");
        }
        Read::Discovery => assert!(answer.is_some() && peek_version(data) == Some(VERSION_3)),
        Read::Refused(_) => assert!(answer.is_none() || peek_version(data) == Some(VERSION_3)),
    }
    if let Some(answer) = answer {
        assert_eq!(peek_version(&answer), peek_version(data));
        assert!(answer.len() <= data.len() + 400, "an answer that is larger than what was asked");
    }
    let (read, answer) = read_notice(data, &[]);
    assert_eq!((read, answer), (Read::Refused(Refusal::UnknownSender), None));
}

/// Answers of any agent to a walk: it ends or fails, OIDs only grow, rows lie in the table,
/// and no more of them are kept than came.
pub(crate) fn walk(data: &[u8]) {
    drive(&mut Bytes(data));
}

/// No more is made of a message than its octets can hold: a varbind has six at the least.
fn bounded(pdu: &Pdu, data: &[u8]) {
    assert!(pdu.varbinds.len() <= data.len() / 6);
    let values: usize = pdu.varbinds.iter().map(|varbind| size(&varbind.value)).sum();
    let arcs: usize = pdu.varbinds.iter().map(|varbind| varbind.oid.arcs().len()).sum();
    assert!(values <= data.len() && arcs <= 2 * data.len());
}

fn size(value: &Value) -> usize {
    match value {
        Value::Octets(octets) | Value::IpAddress(octets) | Value::Opaque(octets) => octets.len(),
        Value::Undecodable { octets, .. } => octets.len(),
        _ => 0,
    }
}

/// Ours may refuse what snmp2 takes; a value that both read is the same.
fn agree(ours: &Pdu, theirs: &snmp2::Pdu<'_>) {
    assert_eq!(theirs.req_id, ours.request_id);
    for (ours, (name, value)) in ours.varbinds.iter().zip(theirs.varbinds.clone()) {
        let arcs: Option<Vec<u64>> = name.iter().map(Iterator::collect);
        // snmp2 splits a first octet beyond 2.39 wrongly, and shows 0.0 as 0.
        if let Some(arcs) = arcs
            && arcs.len() > 2
            && arcs.first() < Some(&2)
        {
            assert!(
                arcs.iter().copied().eq(ours.oid.arcs().iter().map(|arc| u64::from(*arc))),
                "{}",
                ours.oid
            );
        }
        assert!(same(&ours.value, &value), "{:?} is another value to snmp2", ours.value);
    }
}

fn same(ours: &Value, theirs: &snmp2::Value<'_>) -> bool {
    match (ours, theirs) {
        (Value::Integer(a), snmp2::Value::Integer(b)) => a == b,
        (Value::Octets(a), snmp2::Value::OctetString(b)) => a == b,
        (Value::IpAddress(a), snmp2::Value::IpAddress(b)) => a == b,
        (Value::Counter32(a), snmp2::Value::Counter32(b)) => a == b,
        (Value::Gauge32(a), snmp2::Value::Unsigned32(b)) => a == b,
        (Value::TimeTicks(a), snmp2::Value::Timeticks(b)) => a == b,
        (Value::Opaque(a), snmp2::Value::Opaque(b)) => a == b,
        (Value::Counter64(a), snmp2::Value::Counter64(b)) => a == b,
        (Value::ObjectId(_), snmp2::Value::ObjectIdentifier(_)) => true,
        (Value::Null, snmp2::Value::Null)
        | (Value::NoSuchObject, snmp2::Value::NoSuchObject)
        | (Value::NoSuchInstance, snmp2::Value::NoSuchInstance)
        | (Value::EndOfMibView, snmp2::Value::EndOfMibView)
        | (Value::Undecodable { .. }, _) => true,
        _ => false,
    }
}

/// The engine that the keys are made for.
const ENGINE: [u8; 11] = [0x80, 0, 0x1f, 0x88, 4, b'p', b'o', b'o', b'l', b's', b'y'];
/// The msgID that is waited for.
const ID: i32 = 4_711;

const AUTHS: [AuthProtocol; 6] = [
    AuthProtocol::Md5,
    AuthProtocol::Sha1,
    AuthProtocol::Sha224,
    AuthProtocol::Sha256,
    AuthProtocol::Sha384,
    AuthProtocol::Sha512,
];
const PRIVACIES: [Option<PrivacyProtocol>; 5] = [
    None,
    Some(PrivacyProtocol::Des),
    Some(PrivacyProtocol::Aes128),
    Some(PrivacyProtocol::Aes192),
    Some(PrivacyProtocol::Aes256),
];

/// Users of every level that signs, with their keys.
static USERS: LazyLock<Vec<(User, Arc<Keys>)>> = LazyLock::new(|| {
    let pairs = AUTHS.iter().flat_map(|auth| PRIVACIES.map(|privacy| user(*auth, privacy)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be had");
    let ring = Arc::new(Keyring::default());
    let keys = |user: User| {
        let keys = runtime.block_on(ring.keys(&user, &ENGINE)).expect("no password is empty");
        (user, keys)
    };
    pairs.map(keys).collect()
});

/// One for each length of digests and kind of privacy, which is what raw messages differ by.
static KEYS: LazyLock<Vec<Arc<Keys>>> =
    LazyLock::new(|| USERS.iter().take(10).map(|(_, keys)| Arc::clone(keys)).collect());

fn user(auth: AuthProtocol, privacy: Option<PrivacyProtocol>) -> User {
    User {
        name: "tester".into(),
        auth: Some((auth, Secret::new("auth-password"))),
        privacy: privacy.map(|privacy| (privacy, Secret::new("privacy-password"))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

fn nobody() -> User {
    User {
        name: "tester".into(),
        auth: None,
        privacy: None,
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}
