//! A conversation that was idle for longer than a message may be late.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::UdpSocket;

use super::*;
use crate::snmp::message::Varbind;
use crate::snmp::{AuthProtocol, Limits, Reach, Secret, Value};

const ENGINE: &[u8] = b"\x80\x00\x1f\x88\x04one";
const IDLE: u64 = 200;

fn user() -> User {
    User {
        name: "u".into(),
        auth: Some((AuthProtocol::Sha256, Secret::new("authpass-12345"))),
        privacy: None,
        key_extension: Default::default(),
        engine_id: None,
    }
}

#[tokio::test]
async fn time_goes_on_while_nothing_is_said() {
    let agent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let peer: SocketAddr = agent.local_addr().unwrap();
    let transport = Transport::new().unwrap();
    let before = Instant::now() - Duration::from_secs(IDLE);
    // Heard 200 seconds ago, in an authenticated message.
    let known = Known {
        clock: Clock::resynced(3, 1_000, before),
        ..Known::introduced(ENGINE.to_vec(), Clock::guessed(0, 0, before))
    };
    transport.remember_engine(peer, &user().name, &known);
    let mut line = Line::new(&transport, peer, Limits::default(), Reach::default());
    let mut conversation = Conversation::new(&transport, peer, user(), None);
    let keys = transport.keyring().keys(&user(), ENGINE).await.unwrap();
    let answering = async {
        let mut buffer = vec![0; 0xffff];
        let (length, from) = agent.recv_from(&mut buffer).await.unwrap();
        let message = usm::read(&buffer[..length]).unwrap();
        assert!(message.verify(&keys));
        let asked = usm::read_scoped(&message.scoped(None).unwrap()).unwrap();
        // The agent's clock went on as ours did; an answer of then would be too late.
        let envelope = Envelope {
            msg_id: message.msg_id,
            max_size: usm::OUR_MAX_SIZE,
            engine_id: ENGINE,
            boots: 3,
            time: 1_000 + IDLE as u32,
            user: b"u",
            context_engine_id: ENGINE,
            context_name: b"",
        };
        let answer = |value| Pdu {
            kind: PduKind::Response,
            varbinds: vec![Varbind { oid: "1.3.6.1".parse().unwrap(), value: Value::Integer(value) }],
            ..asked.clone()
        };
        for (envelope, value) in [(Envelope { time: 1_000, ..envelope }, 666), (envelope, 7)] {
            let sealed = usm::seal(&envelope, &answer(value), Some(&keys), 0).unwrap();
            agent.send_to(&sealed, from).await.unwrap();
        }
        (message.boots, message.time)
    };
    let context = Context::default();
    let oids = ["1.3.6".parse().unwrap()];
    let question = Question {
        context: &context,
        kind: PduKind::GetNext,
        once: &[],
        oids: &oids,
        repetitions: 0,
        tries: 1,
    };
    let (said, (boots, time)) = tokio::join!(conversation.ask(&mut line, question), answering);
    assert_eq!(said.unwrap().varbinds.decoded()[0].value, Value::Integer(7));
    assert_eq!(boots, 3);
    // Within a minute, on the busiest machine.
    assert!((1_200..1_260).contains(&time), "{time}");
    assert_eq!(line.cost.requests, 1);
}
