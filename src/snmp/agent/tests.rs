use super::super::encode::community_message;
use super::super::message::{Pdu, PduKind, Varbind};
use super::super::{Oid, Value};
use super::*;

const TABLE: &str = "1.3.6.1.2.1.1.1.0|4|box\n1.3.6.1.9.1.1|2|11\n1.3.6.1.9.1.2|2|12\n1.3.6.1.9.2.1|2|21\n";

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

fn served(text: &str) -> Served {
    let recordings = HashMap::from([(b"public".to_vec(), Arc::new(Recording::parse(text).unwrap()))]);
    Served { recordings: Mutex::new(recordings), engine: None, max_octets: AtomicUsize::new(DEFAULT_OCTETS) }
}

fn request(kind: PduKind, numbers: (i32, i32), oids: &[&str]) -> Pdu {
    let varbinds = oids.iter().map(|text| Varbind { oid: oid(text), value: Value::Null }).collect();
    Pdu { kind, request_id: 77, error_status: numbers.0, error_index: numbers.1, varbinds }
}

fn ask(served: &Served, request: &Pdu) -> Pdu {
    let answer = served.answer(&community_message(b"public", request)).unwrap();
    let message = read_community(&answer).unwrap();
    assert_eq!((message.community, message.trailing), (&b"public"[..], 0));
    assert_eq!((message.pdu.kind, message.pdu.request_id), (PduKind::Response, 77));
    message.pdu
}

/// The varbinds of an answer without an error, as text.
fn list(served: &Served, request: &Pdu) -> Vec<String> {
    let pdu = ask(served, request);
    assert_eq!(pdu.error_status, 0);
    pdu.varbinds.iter().map(|varbind| format!("{}={:?}", varbind.oid, varbind.value)).collect()
}

#[test]
fn get_tells_absent_objects_from_absent_instances() {
    let asked = ["1.3.6.1.9.1.2", "1.3.6.1.9.1.9", "1.3.6.1.8.1"];
    assert_eq!(
        list(&served(TABLE), &request(PduKind::Get, (0, 0), &asked)),
        ["1.3.6.1.9.1.2=Integer(12)", "1.3.6.1.9.1.9=NoSuchInstance", "1.3.6.1.8.1=NoSuchObject"]
    );
}

#[test]
fn getnext_goes_on_to_the_end_of_the_view() {
    let asked = ["1.3.6.1.9.1", "1.3.6.1.9.1.2", "1.3.6.1.9.2.1"];
    assert_eq!(
        list(&served(TABLE), &request(PduKind::GetNext, (0, 0), &asked)),
        ["1.3.6.1.9.1.1=Integer(11)", "1.3.6.1.9.2.1=Integer(21)", "1.3.6.1.9.2.1=EndOfMibView"]
    );
}

#[test]
fn getbulk_repeats_all_but_the_first_and_stops_when_all_have_ended() {
    let asked = ["1.3.6.1.2.1.1.1", "1.3.6.1.9.1", "1.3.6.1.9.2"];
    assert_eq!(
        list(&served(TABLE), &request(PduKind::GetBulk, (1, 50), &asked)),
        [
            "1.3.6.1.2.1.1.1.0=Octets([98, 111, 120])",
            "1.3.6.1.9.1.1=Integer(11)",
            "1.3.6.1.9.2.1=Integer(21)",
            "1.3.6.1.9.1.2=Integer(12)",
            "1.3.6.1.9.2.1=EndOfMibView",
            "1.3.6.1.9.2.1=Integer(21)",
            "1.3.6.1.9.2.1=EndOfMibView",
            "1.3.6.1.9.2.1=EndOfMibView",
            "1.3.6.1.9.2.1=EndOfMibView",
        ]
    );
}

#[test]
fn numbers_of_a_getbulk_beyond_reason_end_too() {
    let pdu = ask(&served(TABLE), &request(PduKind::GetBulk, (0, i32::MAX), &[]));
    assert_eq!((pdu.error_status, pdu.varbinds.len()), (0, 0));
    let pdu = ask(&served(TABLE), &request(PduKind::GetBulk, (i32::MAX, i32::MAX), &["1.3"]));
    assert_eq!(pdu.varbinds.len(), 1);
    let pdu = ask(&served(TABLE), &request(PduKind::GetBulk, (-1, -1), &["1.3"]));
    assert_eq!(pdu.varbinds.len(), 0);
}

#[test]
fn an_answer_stays_below_the_maximum() {
    let text: String = (1..=2000).map(|row| format!("1.3.6.1.9.1.{row}|4|pool-{row}\n")).collect();
    let served = served(&text);
    for max in [100, 484, 1400, 9000, MAX_DATAGRAM] {
        served.max_octets.store(max, Ordering::Relaxed);
        let asked = community_message(b"public", &request(PduKind::GetBulk, (0, 10_000), &["1.3.6.1.9.1"]));
        let answer = served.answer(&asked).unwrap();
        assert!(answer.len() <= max, "{} > {max}", answer.len());
        let rows = read_community(&answer).unwrap().pdu.varbinds.len();
        // A varbind of the longest kind here has 24 octets.
        assert!(answer.len() + 24 + LENGTH_OCTETS > max || rows > 2000, "{} of {max}", answer.len());
    }
}

#[test]
fn what_does_not_fit_at_all_is_too_big() {
    let served = served(&format!("1.3.6.1.9.1.1|4|{}\n", "x".repeat(1400)));
    for kind in [PduKind::Get, PduKind::GetNext, PduKind::GetBulk] {
        let asked = if kind == PduKind::Get { "1.3.6.1.9.1.1" } else { "1.3" };
        let pdu = ask(&served, &request(kind, (0, 1), &[asked]));
        assert_eq!((pdu.error_status, pdu.varbinds.len()), (1, 0));
    }
}

#[test]
fn what_is_no_request_to_it_is_not_answered() {
    let served = served(TABLE);
    let get = request(PduKind::Get, (0, 0), &["1.3"]);
    assert_eq!(served.answer(&community_message(b"private", &get)), None);
    assert_eq!(served.answer(&community_message(b"public", &request(PduKind::Response, (0, 0), &[]))), None);
    assert_eq!(served.answer(b"nonsense"), None);
    assert_eq!(ask(&served, &request(PduKind::Set, (0, 0), &["1.3"])).error_status, 17);
}

#[tokio::test]
async fn it_stops_when_dropped() {
    let agent = ReplayAgent::start("127.0.0.1:0".parse().unwrap(), Vec::new()).await.unwrap();
    let address = agent.address();
    drop(agent);
    // The socket is closed once the task is gone, which the runtime does at its next turn.
    for _ in 0..1000 {
        if UdpSocket::bind(address).await.is_ok() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{address} is still taken");
}
