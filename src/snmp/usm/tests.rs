//! Sealing and opening, with snmp2 as the other side.

use std::sync::Arc;

use proptest::prelude::*;
use snmp2::v3 as theirs;

use super::*;
use crate::snmp::message::tests::any_pdu;
use crate::snmp::message::{Pdu, PduKind, Varbind};
use crate::snmp::target::User;
use crate::snmp::{AuthProtocol, KeyExtension, PrivacyProtocol, Secret, Value};

const ENGINE: [u8; 11] = [0x80, 0, 0x1f, 0x88, 4, b'p', b'o', b'o', b'l', b's', b'y'];
const BOOTS: u32 = 7;
const TIME: u32 = 86_400;

const AUTHS: [(AuthProtocol, theirs::AuthProtocol); 6] = [
    (AuthProtocol::Md5, theirs::AuthProtocol::Md5),
    (AuthProtocol::Sha1, theirs::AuthProtocol::Sha1),
    (AuthProtocol::Sha224, theirs::AuthProtocol::Sha224),
    (AuthProtocol::Sha256, theirs::AuthProtocol::Sha256),
    (AuthProtocol::Sha384, theirs::AuthProtocol::Sha384),
    (AuthProtocol::Sha512, theirs::AuthProtocol::Sha512),
];

const PRIVACIES: [(PrivacyProtocol, theirs::Cipher); 4] = [
    (PrivacyProtocol::Des, theirs::Cipher::Des),
    (PrivacyProtocol::Aes128, theirs::Cipher::Aes128),
    (PrivacyProtocol::Aes192, theirs::Cipher::Aes192),
    (PrivacyProtocol::Aes256, theirs::Cipher::Aes256),
];

/// One user, as we and as snmp2 see it.
struct Pair {
    ours: Arc<Keys>,
    theirs: theirs::Security,
}

fn user(auth: AuthProtocol, privacy: Option<PrivacyProtocol>, key_extension: KeyExtension) -> User {
    User {
        name: "tester".into(),
        auth: Some((auth, Secret::new("auth-password"))),
        privacy: privacy.map(|privacy| (privacy, Secret::new("privacy-password"))),
        key_extension,
        engine_id: None,
    }
}

/// Every pair of protocols, with both ways to stretch keys.
fn pairs() -> Vec<Pair> {
    let ring = Arc::new(Keyring::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let extensions = [
        (KeyExtension::Blumenthal, theirs::KeyExtension::Blumenthal),
        (KeyExtension::Reeder, theirs::KeyExtension::Reeder),
    ];
    let mut pairs = Vec::new();
    for (auth, their_auth) in AUTHS {
        for privacy in PRIVACIES.map(Some).into_iter().chain([None]) {
            for (extension, their_extension) in extensions {
                let their_level = match privacy {
                    None => theirs::Auth::AuthNoPriv,
                    Some((_, cipher)) => {
                        theirs::Auth::AuthPriv { cipher, privacy_password: b"privacy-password".to_vec() }
                    }
                };
                let theirs = theirs::Security::new(b"tester", b"auth-password")
                    .with_auth_protocol(their_auth)
                    .with_auth(their_level)
                    .with_key_extension_method(their_extension)
                    .with_engine_id(&ENGINE)
                    .unwrap()
                    .with_engine_boots_and_time(i64::from(BOOTS), i64::from(TIME));
                let user = user(auth, privacy.map(|privacy| privacy.0), extension);
                let ours = runtime.block_on(ring.keys(&user, &ENGINE)).unwrap();
                pairs.push(Pair { ours, theirs });
            }
        }
    }
    assert_eq!(pairs.len(), 6 * 5 * 2);
    pairs
}

fn envelope(msg_id: i32) -> Envelope<'static> {
    Envelope {
        msg_id,
        max_size: OUR_MAX_SIZE,
        engine_id: &ENGINE,
        boots: BOOTS,
        time: TIME,
        user: b"tester",
        context_engine_id: &ENGINE,
        context_name: b"vr1",
    }
}

/// A PDU whose encoded length varies with `id`, so that padding does too.
fn pdu(id: i32) -> Pdu {
    let octets = vec![0x42; usize::try_from(id % 17).unwrap()];
    Pdu {
        kind: PduKind::Response,
        request_id: id,
        error_status: 0,
        error_index: 0,
        varbinds: vec![Varbind { oid: "1.3.6.1.4.1.4874.5".parse().unwrap(), value: Value::Octets(octets) }],
    }
}

fn open(datagram: &[u8], keys: &Keys) -> Pdu {
    let message = read(datagram).unwrap();
    assert!(message.authenticated && message.verify(keys));
    assert_eq!(message.encrypted, keys.encrypts());
    assert_eq!((message.engine_id, message.user), (&ENGINE[..], &b"tester"[..]));
    assert_eq!((message.boots, message.time), (BOOTS, TIME));
    read_scoped(&message.scoped(Some(keys)).unwrap()).unwrap()
}

/// snmp2 builds messages only of PDUs that it has read: one of ours, unsigned.
fn sealed_by_snmp2(pdu: &Pdu, theirs: &theirs::Security) -> Vec<u8> {
    let plain = seal(&envelope(pdu.request_id), pdu, None, 0).unwrap();
    let mut reader = theirs::Security::new(b"tester", b"")
        .with_auth(theirs::Auth::NoAuthNoPriv)
        .with_engine_id(&ENGINE)
        .unwrap()
        .with_engine_boots_and_time(i64::from(BOOTS), i64::from(TIME));
    let read = snmp2::Pdu::from_bytes_with_security(&plain, Some(&mut reader)).unwrap();
    read.to_bytes_with_security(Some(theirs)).unwrap()
}

#[test]
fn what_snmp2_seals_is_opened_for_every_pair_of_protocols() {
    for (pair, id) in pairs().iter().zip(1..) {
        let pdu = pdu(id);
        assert_eq!(open(&sealed_by_snmp2(&pdu, &pair.theirs), &pair.ours), pdu);
    }
}

#[test]
fn what_is_sealed_is_opened_by_snmp2_for_every_pair_of_protocols() {
    for (pair, id) in pairs().into_iter().zip(1..) {
        let sealed = seal(&envelope(id), &pdu(id), Some(&pair.ours), 0x0123_4567_89ab_cdef).unwrap();
        let mut theirs = pair.theirs;
        let read = snmp2::Pdu::from_bytes_with_security(&sealed, Some(&mut theirs)).unwrap();
        assert_eq!((read.req_id, read.v3_msg_id), (id, id));
        let (name, value) = read.varbinds.clone().next().unwrap();
        assert_eq!(name.to_id_string(), "1.3.6.1.4.1.4874.5");
        let octets = vec![0x42; usize::try_from(id % 17).unwrap()];
        assert!(matches!(value, snmp2::Value::OctetString(read) if read == octets));
    }
}

#[test]
fn what_is_only_signed_is_sealed_octet_for_octet_as_by_snmp2() {
    let mut compared = 0;
    for pair in pairs().iter().filter(|pair| !pair.ours.encrypts()) {
        let theirs = pair.theirs.clone().with_context_name("vr1");
        // A question: snmp2 would ask for Reports on an answer, too.
        let question = Pdu { kind: PduKind::Get, ..pdu(300) };
        let ours = seal(&envelope(300), &question, Some(&pair.ours), 0).unwrap();
        assert_eq!(ours, sealed_by_snmp2(&question, &theirs));
        compared += 1;
    }
    assert_eq!(compared, 12);
}

#[test]
fn no_damaged_octet_goes_unnoticed() {
    for pair in pairs().iter().step_by(7) {
        let sealed = seal(&envelope(5), &pdu(5), Some(&pair.ours), 1).unwrap();
        for place in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[place] ^= 1;
            let believed =
                read(&damaged).is_ok_and(|message| message.authenticated && message.verify(&pair.ours));
            assert!(!believed, "octet {place}");
        }
        let mut longer = sealed.clone();
        longer.extend([0, 0]);
        let message = read(&longer).unwrap();
        assert!(message.verify(&pair.ours), "what stands behind the message is no part of it");
        assert_eq!(message.trailing, 2);
    }
}

#[test]
fn a_digest_of_another_length_is_wrong() {
    let pairs = pairs();
    let (md5, sha512) = (&pairs[8].ours, &pairs[58].ours);
    assert_eq!((md5.digest_length(), sha512.digest_length()), (12, 48));
    let sealed = seal(&envelope(5), &pdu(5), Some(md5), 1).unwrap();
    assert!(read(&sealed).unwrap().verify(md5));
    assert!(!read(&sealed).unwrap().verify(sha512));
}

#[test]
fn the_discovery_message_names_nobody() {
    let probe = discovery(0x1234, OUR_MAX_SIZE);
    #[rustfmt::skip]
    let by_hand = [
        0x30, 58, 2, 1, 3, // version 3
        0x30, 15, 2, 2, 0x12, 0x34, 2, 3, 0, 0xff, 0xe3, 4, 1, 4, 2, 1, 3, // msgID, 65507, reportable, USM
        4, 16, 0x30, 14, 4, 0, 2, 1, 0, 2, 1, 0, 4, 0, 4, 0, 4, 0, // no engine, no user
        0x30, 18, 4, 0, 4, 0, 0xa0, 12, 2, 2, 0x12, 0x34, 2, 1, 0, 2, 1, 0, 0x30, 0, // a GET of nothing
    ];
    assert_eq!(probe, by_hand);
}

#[test]
fn any_msg_max_size_and_boots_of_zero_are_taken() {
    let with = |size: &[u8], boots: &[u8]| {
        let part =
            |tag: u8, contents: &[u8]| [&[tag, u8::try_from(contents.len()).unwrap()], contents].concat();
        let global = part(0x30, &[&[2, 1, 9][..], size, &[4, 1, 0, 2, 1, 3]].concat());
        let security = part(0x30, &[&part(4, &ENGINE)[..], boots, &[2, 1, 5, 4, 0, 4, 0, 4, 0]].concat());
        let scoped = [0x30, 18, 4, 0, 4, 0, 0xa8, 12, 2, 2, 0x12, 0x34, 2, 1, 0, 2, 1, 0, 0x30, 0];
        part(0x30, &[&[2, 1, 3][..], &global, &part(4, &security), &scoped].concat())
    };
    for size in [&[2, 2, 1, 0xe4][..], &[2, 3, 0, 0xff, 0xff], &[2, 4, 0x7f, 0xff, 0xff, 0xff]] {
        let datagram = with(size, &[2, 1, 0]);
        let message = read(&datagram).unwrap();
        assert_eq!((message.msg_id, message.boots, message.time), (9, 0, 5));
        assert_eq!(read_scoped(&message.scoped(None).unwrap()).unwrap().kind, PduKind::Report);
    }
    assert_eq!(
        read(&with(&[2, 5, 0, 0x80, 0, 0, 0], &[2, 1, 0])).unwrap_err().problem,
        "msgMaxSize is out of range"
    );
    assert_eq!(read(&with(&[2, 1, 0xff], &[2, 1, 0])).unwrap_err().problem, "msgMaxSize is out of range");
    assert_eq!(
        read(&with(&[2, 2, 1, 0xe4], &[2, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))
            .unwrap_err()
            .problem,
        "the engine's boots is out of range"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_sealed_is_opened(pdu in any_pdu(), which in any::<prop::sample::Index>(), salt in any::<u64>()) {
        // Making keys is slow; they are made once for all cases.
        static PAIRS: std::sync::OnceLock<Vec<Arc<Keys>>> = std::sync::OnceLock::new();
        let all = PAIRS.get_or_init(|| pairs().into_iter().map(|pair| pair.ours).collect());
        let keys = which.get(all);
        let sealed = seal(&envelope(pdu.request_id), &pdu, Some(keys), salt).unwrap();
        prop_assert_eq!(open(&sealed, keys), pdu);
    }

    #[test]
    fn no_damage_makes_it_panic(
        pdu in any_pdu(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut datagram = seal(&envelope(1), &pdu, None, 0).unwrap();
        for (index, octet) in damage {
            let index = index.index(datagram.len());
            datagram[index] = octet;
        }
        datagram.truncate(cut.index(datagram.len() + 1));
        if let Ok(message) = read(&datagram) {
            let _ = message.scoped(None).map(|octets| read_scoped(&octets));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (read(&bytes).is_ok(), read_scoped(&bytes));
    }
}
