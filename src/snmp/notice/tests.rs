use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::snmp::message::Varbind;
use crate::snmp::usm::Envelope;
use crate::snmp::{AuthProtocol, KeyExtension, PrivacyProtocol, Secret};

const OURS: [u8; 9] = [0x80, 0, 0, 0, 5, 1, 2, 3, 4];
const THEIRS: [u8; 9] = [0x80, 0, 0x1f, 0x88, 4, b'b', b'a', b's', b'1'];
const BOOTS: u32 = 7;
const COLD_START: [u32; 10] = [1, 3, 6, 1, 6, 3, 1, 1, 5, 1];

fn community(text: &str) -> Credentials {
    Credentials::V2c(Secret::new(text))
}

fn user_with(name: &str, auth: &str, privacy: Option<&str>) -> User {
    User {
        name: name.into(),
        auth: Some((AuthProtocol::Sha256, Secret::new(auth))),
        privacy: privacy.map(|privacy| (PrivacyProtocol::Aes128, Secret::new(privacy))),
        key_extension: KeyExtension::default(),
        engine_id: None,
    }
}

fn poller() -> User {
    user_with("poller", "auth-password", Some("privacy-password"))
}

fn pdu(kind: PduKind) -> Pdu {
    let varbind = |oid: &[u32], value| Varbind { oid: Oid::new(oid), value };
    let varbinds = vec![
        varbind(&[1, 3, 6, 1, 2, 1, 1, 3, 0], Value::TimeTicks(4711)),
        varbind(&SNMP_TRAP_OID, Value::ObjectId(Oid::new(COLD_START))),
        varbind(&[1, 3, 6, 1, 2, 1, 1, 5, 0], Value::Octets(b"bas".to_vec())),
    ];
    Pdu { kind, request_id: 815, error_status: 0, error_index: 0, varbinds }
}

fn reader() -> NoticeReader {
    NoticeReader::new(&Transport::new().unwrap(), OwnEngine::started(OURS.to_vec(), BOOTS))
}

fn notice(inform: bool, by: &[usize]) -> Read {
    Read::Notice { oid: Oid::new(COLD_START), inform, by: by.to_vec() }
}

fn refused(refusal: Refusal) -> (Read, Option<Vec<u8>>) {
    (Read::Refused(refusal), None)
}

/// A message under an engine, at its boots and time.
async fn sealed(user: &User, engine: &[u8], at: (u32, u32), pdu: &Pdu) -> Vec<u8> {
    let keys = Arc::new(usm::Keyring::default()).keys(user, engine).await;
    let envelope = Envelope {
        msg_id: 99,
        max_size: usm::OUR_MAX_SIZE,
        engine_id: engine,
        boots: at.0,
        time: at.1,
        user: user.name.as_bytes(),
        context_engine_id: &THEIRS,
        context_name: b"vr1",
    };
    usm::seal(&envelope, pdu, keys.as_deref(), 1).unwrap()
}

/// What a Report says: its arc in usmStats, and whether it is signed by the poller's keys.
async fn reported(answer: Option<Vec<u8>>) -> (u32, bool) {
    let answer = answer.unwrap();
    let message = usm::read(&answer).unwrap();
    assert_eq!((message.engine_id, message.boots, message.msg_id), (&OURS[..], BOOTS, 99));
    assert!(!message.reportable && !message.encrypted);
    let keys = Arc::new(usm::Keyring::default()).keys(&poller(), &OURS).await.unwrap();
    let signed = message.authenticated && message.verify(&keys);
    assert_eq!(signed, message.authenticated);
    let pdu = usm::read_scoped(&message.scoped(None).unwrap()).unwrap();
    assert_eq!(pdu.kind, PduKind::Report);
    let [.., statistic, 0] = pdu.varbinds[0].oid.arcs() else { panic!("{:?}", pdu.varbinds) };
    assert!(matches!(pdu.varbinds[0].value, Value::Counter32(count) if count > 0));
    (*statistic, signed)
}

#[tokio::test]
async fn a_trap_of_v2c_is_believed_by_its_community() {
    let known = [community("one"), Credentials::V3(poller()), community("two"), community("one")];
    let mut reader = reader();
    let trap = community_message(b"one", &pdu(PduKind::Trap));
    assert_eq!(reader.read(&trap, &known).await, (notice(false, &[0, 3]), None));
    let trap = community_message(b"two", &pdu(PduKind::Trap));
    assert_eq!(reader.read(&trap, &known).await, (notice(false, &[2]), None));
    let trap = community_message(b"three", &pdu(PduKind::Trap));
    assert_eq!(reader.read(&trap, &known).await, refused(Refusal::WrongCommunity));
    assert_eq!(reader.read(&trap, &known[1..2]).await, refused(Refusal::UnsupportedVersion));
    assert_eq!(reader.read(&trap, &[]).await, refused(Refusal::UnknownSender));
}

#[tokio::test]
async fn an_inform_of_v2c_is_acknowledged() {
    let inform = community_message(b"one", &pdu(PduKind::Inform));
    let (read, answer) = reader().read(&inform, &[community("one")]).await;
    assert_eq!(read, notice(true, &[0]));
    let answer = answer.unwrap();
    let answer = read_community(&answer).unwrap();
    assert_eq!((answer.community, answer.pdu), (&b"one"[..], pdu(PduKind::Response)));
    let (_, answer) = reader().read(&inform, &[community("two")]).await;
    assert_eq!(answer, None, "who does not know the community is told nothing");
}

#[tokio::test]
async fn what_is_no_notification_is_refused() {
    let known = [community("one")];
    let refusal = async |datagram: &[u8]| {
        let (read, answer) = reader().read(datagram, &known).await;
        assert_eq!(answer, None);
        read
    };
    for kind in [PduKind::Get, PduKind::GetBulk, PduKind::Set, PduKind::Response, PduKind::Report] {
        let datagram = community_message(b"one", &pdu(kind));
        assert_eq!(refusal(&datagram).await, Read::Refused(Refusal::NotANotification), "{kind:?}");
    }
    let mut nameless = pdu(PduKind::Trap);
    nameless.varbinds.remove(1);
    assert_eq!(refusal(&community_message(b"one", &nameless)).await, Read::Refused(Refusal::Malformed));
    let mut odd = pdu(PduKind::Inform);
    odd.varbinds[1].value = Value::Octets(b"coldStart".to_vec());
    assert_eq!(refusal(&community_message(b"one", &odd)).await, Read::Refused(Refusal::Malformed));
    // SNMPv1: version 0.
    let mut old = community_message(b"one", &pdu(PduKind::Trap));
    old[4] = 0;
    assert_eq!(refusal(&old).await, Read::Refused(Refusal::UnsupportedVersion));
    old[4] = 2;
    assert_eq!(refusal(&old).await, Read::Refused(Refusal::Malformed));
    let whole = community_message(b"one", &pdu(PduKind::Trap));
    for length in 0..whole.len() {
        assert_eq!(refusal(&whole[..length]).await, Read::Refused(Refusal::Malformed), "{length}");
    }
}

#[tokio::test]
async fn a_trap_of_v3_is_believed_by_its_senders_keys() {
    let signing = user_with("signer", "auth-password", None);
    let known = [community("one"), Credentials::V3(poller()), Credentials::V3(signing.clone())];
    let mut reader = reader();
    let at = (3, 1000);
    let trap = pdu(PduKind::Trap);
    let whole = sealed(&poller(), &THEIRS, at, &trap).await;
    assert_eq!(reader.read(&whole, &known).await, (notice(false, &[1]), None));
    let signed = sealed(&signing, &THEIRS, at, &trap).await;
    assert_eq!(reader.read(&signed, &known).await, (notice(false, &[2]), None));

    for (user, refusal) in [
        (user_with("nobody", "auth-password", None), Refusal::UnknownUser),
        (user_with("poller", "auth-password", None), Refusal::UnsupportedLevel),
        (User { auth: None, privacy: None, ..poller() }, Refusal::UnsupportedLevel),
        (user_with("poller", "another-one", Some("privacy-password")), Refusal::WrongDigest),
        (user_with("poller", "auth-password", Some("another-one")), Refusal::DecryptionError),
    ] {
        let datagram = sealed(&user, &THEIRS, at, &trap).await;
        assert_eq!(reader.read(&datagram, &known).await, refused(refusal), "{user:?}");
    }
    assert_eq!(reader.read(&whole, &known[..1]).await, refused(Refusal::UnsupportedVersion));
    let plain = Credentials::V3(User { auth: None, privacy: None, ..poller() });
    let datagram = sealed(&User { auth: None, privacy: None, ..poller() }, &THEIRS, at, &trap).await;
    assert_eq!(reader.read(&datagram, &[plain]).await, refused(Refusal::UnsupportedLevel));
    let pinned = Credentials::V3(User { engine_id: Some(OURS.to_vec()), ..poller() });
    assert_eq!(reader.read(&whole, &[pinned]).await, refused(Refusal::UnknownEngine));
    let response = sealed(&poller(), &THEIRS, at, &pdu(PduKind::Response)).await;
    assert_eq!(reader.read(&response, &known).await, refused(Refusal::NotANotification));
}

#[tokio::test]
async fn a_trap_that_was_kept_from_earlier_is_refused() {
    let known = [Credentials::V3(poller())];
    let mut reader = reader();
    let trap = pdu(PduKind::Trap);
    for (at, timely) in [
        ((3, 1000), true),
        ((3, 1000), true),
        ((3, 900), true),
        ((3, 849), false),
        ((2, 5000), false),
        ((3, 5000), true),
        ((3, 1000), false),
        ((4, 1), true),
        ((3, 6000), false),
        ((0x7fff_ffff, 1), false),
    ] {
        let datagram = sealed(&poller(), &THEIRS, at, &trap).await;
        let expected = if timely { (notice(false, &[0]), None) } else { refused(Refusal::NotInTimeWindow) };
        assert_eq!(reader.read(&datagram, &known).await, expected, "{at:?}");
    }
    // Each engine has a clock of its own.
    let datagram = sealed(&poller(), &[0x80, 0, 0, 1, 2], (1, 1), &trap).await;
    assert_eq!(reader.read(&datagram, &known).await, (notice(false, &[0]), None));
}

#[tokio::test]
async fn our_engine_is_found_by_discovery() {
    let (read, answer) =
        reader().read(&usm::discovery(99, usm::OUR_MAX_SIZE), &[Credentials::V3(poller())]).await;
    assert_eq!(read, Read::Discovery);
    assert_eq!(reported(answer).await, (4, false));
    // An inform to the engine that we were before is told so, too.
    let old = sealed(&poller(), &THEIRS, (1, 1), &pdu(PduKind::Inform)).await;
    let (read, answer) = reader().read(&old, &[Credentials::V3(poller())]).await;
    assert_eq!(read, Read::Refused(Refusal::UnknownEngine));
    assert_eq!(reported(answer).await, (4, false));
    // Nobody else learns anything.
    assert_eq!(
        reader().read(&usm::discovery(99, usm::OUR_MAX_SIZE), &[]).await,
        refused(Refusal::UnknownSender)
    );
}

#[tokio::test]
async fn an_inform_of_v3_is_acknowledged_as_it_was_sent() {
    for user in [poller(), user_with("poller", "auth-password", None)] {
        let inform = sealed(&user, &OURS, (BOOTS, 100), &pdu(PduKind::Inform)).await;
        let (read, answer) = reader().read(&inform, &[Credentials::V3(user.clone())]).await;
        assert_eq!(read, notice(true, &[0]));
        let answer = answer.unwrap();
        let message = usm::read(&answer).unwrap();
        assert_eq!((message.engine_id, message.boots, message.msg_id), (&OURS[..], BOOTS, 99));
        assert_eq!(message.user, b"poller");
        assert_eq!((message.encrypted, message.reportable), (user.privacy.is_some(), false));
        let keys = Arc::new(usm::Keyring::default()).keys(&user, &OURS).await.unwrap();
        assert!(message.verify(&keys));
        let octets = message.scoped(Some(&keys)).unwrap();
        let scoped = usm::read_scoped_pdu(&octets).unwrap();
        assert_eq!((scoped.engine_id, scoped.context), (&THEIRS[..], &b"vr1"[..]));
        assert_eq!(scoped.pdu, pdu(PduKind::Response));
    }
}

#[tokio::test]
async fn who_sends_an_inform_wrongly_is_told_why() {
    let known = [Credentials::V3(poller())];
    let inform = pdu(PduKind::Inform);
    let now = (BOOTS, 0);
    for (user, at, refusal, report) in [
        (user_with("poller", "auth-password", None), now, Refusal::UnsupportedLevel, (1, false)),
        (poller(), (BOOTS - 1, 0), Refusal::NotInTimeWindow, (2, true)),
        (poller(), (BOOTS + 1, 0), Refusal::NotInTimeWindow, (2, true)),
        (poller(), (BOOTS, 152), Refusal::NotInTimeWindow, (2, true)),
        (user_with("nobody", "auth-password", None), now, Refusal::UnknownUser, (3, false)),
        (user_with("poller", "another-one", Some("privacy-password")), now, Refusal::WrongDigest, (5, false)),
        (
            user_with("poller", "auth-password", Some("another-one")),
            now,
            Refusal::DecryptionError,
            (6, false),
        ),
    ] {
        let (read, answer) = reader().read(&sealed(&user, &OURS, at, &inform).await, &known).await;
        if refusal == Refusal::DecryptionError {
            // What a wrong key makes of it cannot be read, and is not always seen to be so.
            assert_eq!(read, Read::Refused(refusal));
            assert_eq!(reported(answer).await, report);
            continue;
        }
        assert_eq!((read, reported(answer).await), (Read::Refused(refusal), report), "{user:?} {at:?}");
    }
    // Who does not know our time yet asks for it in this way.
    let (read, answer) = reader().read(&sealed(&poller(), &OURS, (0, 0), &inform).await, &known).await;
    assert_eq!((read, reported(answer).await), (Read::Discovery, (2, true)));
    // A trap is not answered, whatever is wrong with it.
    let trap = sealed(&poller(), &OURS, now, &pdu(PduKind::Trap)).await;
    assert_eq!(reader().read(&trap, &known).await, refused(Refusal::NotANotification));
    let trap = sealed(&poller(), &OURS, (BOOTS - 1, 0), &pdu(PduKind::Trap)).await;
    assert_eq!(reader().read(&trap, &known).await, refused(Refusal::NotInTimeWindow));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Everything in a signed message is signed: no octet of it can be another one.
    #[test]
    fn any_changed_octet_of_a_signed_notification_makes_it_none(place in any::<prop::sample::Index>(), change in 1u8..=255, inform in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let known = [Credentials::V3(poller())];
            let mut datagram = match inform {
                true => sealed(&poller(), &OURS, (BOOTS, 0), &pdu(PduKind::Inform)).await,
                false => sealed(&poller(), &THEIRS, (3, 1000), &pdu(PduKind::Trap)).await,
            };
            let at = place.index(datagram.len());
            datagram[at] ^= change;
            let (read, _) = reader().read(&datagram, &known).await;
            assert!(!matches!(read, Read::Notice { .. }), "octet {at}: {read:?}");
        });
    }

    #[test]
    fn any_octets_are_read_without_panic(octets in prop::collection::vec(any::<u8>(), 0..200), version in 0u8..4) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let known = [community("one"), Credentials::V3(poller())];
            let mut reader = reader();
            reader.read(&octets, &known).await;
            // What begins like a message.
            let mut message = vec![0x30, 0x81, octets.len() as u8 + 3, 2, 1, version];
            message.extend(&octets);
            let (read, _) = reader.read(&message, &known).await;
            assert!(!matches!(read, Read::Notice { .. }));
        });
    }
}
