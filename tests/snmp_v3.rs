//! SNMPv3 against engines that reboot, forget, refuse and are impersonated.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, Limits, Outcome, PrivacyProtocol, Reason,
    Secret, Session, TableRead, Target, Transport, User, Value,
};
use support::engine::{
    AUTH_PASSWORD, DECRYPTION_ERROR, Engine, Level, NOT_IN_TIME_WINDOW, PRIVACY_PASSWORD, UNKNOWN_CONTEXT,
    UNKNOWN_ENGINE, UNKNOWN_USER, UNSUPPORTED_LEVEL, USER, WRONG_DIGEST,
};
use support::scripted::{Act, Scripted};
use support::wire::{self, Objects, RESPONSE, integer};

const ENGINE_ID: &[u8] = b"\x80\x00\x1f\x88\x04one";
const OTHER_ID: &[u8] = b"\x80\x00\x1f\x88\x04two";
const COLUMN: &str = "1.3.6.1.4.1.9.1.2";
const PATIENT: Duration = Duration::from_secs(5);
const QUICK: Duration = Duration::from_millis(60);

fn user(level: Level) -> User {
    let signs = level != Level::Plain;
    let encrypts = level == Level::Encrypted;
    User {
        name: USER.into(),
        auth: signs.then(|| (AuthProtocol::Sha256, Secret::new(AUTH_PASSWORD))),
        privacy: encrypts.then(|| (PrivacyProtocol::Aes128, Secret::new(PRIVACY_PASSWORD))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

fn objects() -> Objects {
    Objects::table(&[COLUMN], 60, |_, row| integer(i64::from(row)))
}

fn session(transport: &Transport, address: SocketAddr, user: User, timeout: Duration) -> Session {
    session_with(transport, address, user, limits(timeout))
}

/// Less than the default is never exceeded: 60 rows are always four answers.
fn limits(timeout: Duration) -> Limits {
    Limits { timeout, max_repetitions: 19, ..Limits::default() }
}

fn session_with(transport: &Transport, address: SocketAddr, user: User, limits: Limits) -> Session {
    Session::new(
        transport,
        Target {
            address,
            credentials: Credentials::V3(user),
            limits,
            engine: None,
            reach: Default::default(),
        },
    )
}

async fn walk_in(session: &mut Session, context: &Context) -> TableRead {
    let columns = Columns { entry: "1.3.6.1.4.1.9.1".parse().unwrap(), columns: vec![2] };
    session.table(context, &columns, None).await
}

async fn walk(session: &mut Session) -> TableRead {
    walk_in(session, &Context::default()).await
}

#[track_caller]
fn assert_read(read: &TableRead) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    let rows: Vec<_> =
        (1..=60).map(|row: u32| (vec![row], vec![Some(Value::Integer(i64::from(row)))])).collect();
    assert_eq!(read.rows.to_map().into_iter().collect::<Vec<_>>(), rows);
}

#[track_caller]
fn assert_failed(read: &TableRead, reason: Reason, detail: &str) {
    assert_eq!(read.outcome, Outcome::Failed(reason), "{}", read.detail);
    assert!(read.detail.contains(detail), "`{}` lacks `{detail}`", read.detail);
}

/// The proper answer of an engine to a request at its own level.
fn answer(engine: &Engine, level: Level, message: &[u8]) -> Vec<u8> {
    let asked = engine.read(message);
    let pdu = wire::answer_pdu(RESPONSE, asked.id, 0, 0, &objects().varbinds(&asked));
    engine.seal(level, Engine::head(message).id, &pdu)
}

/// An agent that introduces its engine, and else does what the script says.
async fn agent(
    engine: Arc<Mutex<Engine>>,
    mut script: impl FnMut(&Engine, &[u8]) -> Vec<Act> + Send + 'static,
) -> Scripted {
    Scripted::start(move |message| {
        let engine = engine.lock().unwrap();
        if Engine::is_probe(message) {
            vec![Act::Send(engine.introduce(message))]
        } else {
            script(&engine, message)
        }
    })
    .await
}

fn shared(boots: i64, time: i64) -> Arc<Mutex<Engine>> {
    Arc::new(Mutex::new(Engine::new(ENGINE_ID, boots, time)))
}

/// An agent that reports, unsigned, whatever it is asked.
async fn reporting(what: &'static str) -> Scripted {
    agent(shared(3, 1000), move |engine, message| {
        vec![Act::Send(engine.report(Level::Plain, Engine::head(message).id, what))]
    })
    .await
}

#[tokio::test]
async fn a_probe_names_nobody() {
    let engine = Engine::new(ENGINE_ID, 3, 1000);
    let agent = Scripted::start(move |message| {
        let head = Engine::head(message);
        if !head.engine.is_empty() {
            return vec![Act::Send(answer(&engine, Level::Encrypted, message))];
        }
        let plain = head.flags == 4 && head.user.is_empty() && (head.boots, head.time) == (0, 0);
        if plain { vec![Act::Send(engine.introduce(message))] } else { Vec::new() }
    })
    .await;
    let transport = Transport::new().unwrap();
    assert_read(&walk(&mut session(&transport, agent.address(), user(Level::Encrypted), PATIENT)).await);
}

#[tokio::test]
async fn each_level_is_asked_for_and_kept() {
    for (level, flags) in [(Level::Plain, 4), (Level::Signed, 5), (Level::Encrypted, 7)] {
        let agent = agent(shared(3, 1000), move |engine, message| {
            assert_eq!(Engine::head(message).flags, flags);
            vec![Act::Send(answer(engine, level, message))]
        })
        .await;
        let transport = Transport::new().unwrap();
        let mut session = session(&transport, agent.address(), user(level), PATIENT);
        assert_read(&walk(&mut session).await);
        assert_eq!(session.cost().requests, 1 + 4);
        let engine = session.engine().unwrap();
        assert_eq!((engine.id.as_str(), engine.boots), ("80001f88046f6e65", 3));
    }
}

/// The largest answer that we take is told in every message, that of discovery included; an agent
/// that keeps to it makes more of them.
#[tokio::test]
async fn the_largest_answer_is_told_and_kept() {
    // Sixty rows of some 20 octets each.
    for (limit, answers) in [(Limits::default().msg_max_size, 1..=2), (484, 3..=8)] {
        let engine = Engine::new(ENGINE_ID, 3, 1000);
        let agent = Scripted::start(move |message| {
            let head = Engine::head(message);
            assert_eq!(head.max_size, i64::from(limit));
            if head.engine.is_empty() {
                return vec![Act::Send(engine.introduce(message))];
            }
            let asked = engine.read(message);
            let mut varbinds = objects().varbinds(&asked);
            loop {
                let pdu = wire::answer_pdu(RESPONSE, asked.id, 0, 0, &varbinds);
                let sealed = engine.seal(Level::Encrypted, head.id, &pdu);
                if i64::try_from(sealed.len()).unwrap() <= head.max_size {
                    return vec![Act::Send(sealed)];
                }
                varbinds.pop();
            }
        })
        .await;
        let transport = Transport::new().unwrap();
        let user = user(Level::Encrypted);
        let limits = Limits { msg_max_size: limit, max_repetitions: 60, ..limits(PATIENT) };
        let mut session = session_with(&transport, agent.address(), user, limits);
        assert_read(&walk(&mut session).await);
        let requests = session.cost().requests;
        assert!(answers.contains(&(requests - 1)), "{limit}: {requests}");
    }
}

#[tokio::test]
async fn both_ways_to_stretch_keys_are_spoken() {
    for (ours, theirs) in [
        (KeyExtension::Blumenthal, snmp2::v3::KeyExtension::Blumenthal),
        (KeyExtension::Reeder, snmp2::v3::KeyExtension::Reeder),
    ] {
        let (auth, cipher) = (snmp2::v3::AuthProtocol::Sha1, snmp2::v3::Cipher::Aes256);
        let engine = Engine::with(ENGINE_ID, 3, 1000, auth, cipher, theirs);
        let agent = agent(Arc::new(Mutex::new(engine)), |engine, message| {
            vec![Act::Send(answer(engine, Level::Encrypted, message))]
        })
        .await;
        let mut user = user(Level::Encrypted);
        user.auth = Some((AuthProtocol::Sha1, Secret::new(AUTH_PASSWORD)));
        user.privacy = Some((PrivacyProtocol::Aes256, Secret::new(PRIVACY_PASSWORD)));
        user.key_extension = ours;
        assert_read(&walk(&mut session(&Transport::new().unwrap(), agent.address(), user, PATIENT)).await);
    }
}

#[tokio::test]
async fn reports_are_told_apart_within_one_round_trip() {
    for (what, reason, detail) in [
        (UNKNOWN_USER, Reason::UnknownUser, "does not know the user tester"),
        (WRONG_DIGEST, Reason::WrongDigest, "authentication password"),
        (UNSUPPORTED_LEVEL, Reason::UnsupportedLevel, "security level"),
        (DECRYPTION_ERROR, Reason::DecryptionError, "privacy password"),
        (UNKNOWN_CONTEXT, Reason::UnknownContext, "does not know the context"),
        ("1.3.6.1.6.3.11.2.1.3.0", Reason::UnknownContext, "context's engine id"),
        ("1.3.6.1.6.3.11.2.1.2.0", Reason::ErrorStatus, "a Report of 1.3.6.1.6.3.11.2.1.2.0"),
    ] {
        let agent = reporting(what).await;
        let mut session =
            session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
        assert_failed(&walk(&mut session).await, reason, detail);
        assert_eq!((session.cost().requests, session.cost().retries), (2, 0), "{what}");
    }
}

#[tokio::test]
async fn a_decryption_error_hints_at_the_other_way_to_stretch_keys() {
    for (extension, hint) in [
        (KeyExtension::Blumenthal, "key-extension = \"reeder\""),
        (KeyExtension::Reeder, "key-extension = \"blumenthal\""),
    ] {
        let agent = reporting(DECRYPTION_ERROR).await;
        let mut user = user(Level::Encrypted);
        user.privacy = Some((PrivacyProtocol::Aes256, Secret::new(PRIVACY_PASSWORD)));
        user.key_extension = extension;
        let read = walk(&mut session(&Transport::new().unwrap(), agent.address(), user, PATIENT)).await;
        assert_failed(&read, Reason::DecryptionError, hint);
    }
}

#[tokio::test]
async fn a_reboot_in_the_middle_of_a_walk_costs_one_message() {
    // Up, as after a reboot, and down, as after a wiped configuration. The Report is signed
    // and not encrypted, as agents send it.
    for (boots, time) in [(4, 7), (1, 30)] {
        let engine = shared(3, 100_000);
        let mut requests = 0;
        let agent = {
            let now = Arc::new(Mutex::new(engine.lock().unwrap().clone()));
            agent(engine, move |_, message| {
                requests += 1;
                let mut now = now.lock().unwrap();
                if requests == 3 {
                    (now.boots, now.time) = (boots, time);
                }
                let head = Engine::head(message);
                let timely = head.boots == now.boots && (head.time - now.time).abs() <= 150;
                let reply = if timely {
                    answer(&now, Level::Encrypted, message)
                } else {
                    now.report(Level::Signed, head.id, NOT_IN_TIME_WINDOW)
                };
                vec![Act::Send(reply)]
            })
            .await
        };
        let transport = Transport::new().unwrap();
        let mut session = session(&transport, agent.address(), user(Level::Encrypted), PATIENT);
        assert_read(&walk(&mut session).await);
        assert_eq!(session.cost().requests, 1 + 4 + 1);
        assert_eq!(i64::from(session.engine().unwrap().boots), boots);
    }
}

#[tokio::test]
async fn an_agent_whose_clock_cannot_be_met_is_not_asked_for_ever() {
    let agent = agent(shared(3, 1000), |engine, message| {
        vec![Act::Send(engine.report(Level::Signed, Engine::head(message).id, NOT_IN_TIME_WINDOW))]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
    assert_failed(&walk(&mut session).await, Reason::NotInTimeWindow, "even after its own time");
    assert_eq!(session.cost().requests, 3, "probe, question, question again");
}

#[tokio::test]
async fn boots_of_zero_are_taken() {
    // snmp2 cannot read such messages: what is signed alone can be read without it.
    let agent = agent(shared(0, 500), |engine, message| {
        let parts = wire::message_pieces(message);
        let scoped = wire::pieces(message, parts[3].contents.clone());
        let asked = wire::pdu(message, &scoped[2]);
        let pdu = wire::answer_pdu(RESPONSE, asked.id, 0, 0, &objects().varbinds(&asked));
        vec![Act::Send(engine.seal(Level::Signed, asked.id, &pdu))]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Signed), PATIENT);
    assert_read(&walk(&mut session).await);
    assert_eq!(session.engine().unwrap().boots, 0);
}

#[tokio::test]
async fn an_unsigned_time_changes_nothing() {
    let forged = |engine: &Engine, message: &[u8]| {
        let moved = engine.at(99, 5);
        moved.report(Level::Plain, Engine::head(message).id, NOT_IN_TIME_WINDOW)
    };
    let before = agent(shared(3, 1000), move |engine, message| {
        assert_eq!(Engine::head(message).boots, 3);
        vec![Act::Send(forged(engine, message)), Act::Send(answer(engine, Level::Encrypted, message))]
    })
    .await;
    let transport = Transport::new().unwrap();
    let mut fooled = session(&transport, before.address(), user(Level::Encrypted), PATIENT);
    assert_read(&walk(&mut fooled).await);
    assert_eq!(fooled.engine().unwrap().boots, 3);
    // Where nothing else comes, that is told.
    let alone = agent(shared(3, 1000), move |engine, message| vec![Act::Send(forged(engine, message))]).await;
    let read = walk(&mut session(&transport, alone.address(), user(Level::Encrypted), QUICK)).await;
    assert_failed(&read, Reason::NotInTimeWindow, "does not sign that");
}

#[tokio::test]
async fn boots_that_a_forged_introduction_moved_are_corrected() {
    // The introduction says 90 boots; nothing that is signed ever did.
    let engine = Engine::new(ENGINE_ID, 3, 1000);
    let agent = Scripted::start(move |message| {
        let head = Engine::head(message);
        if Engine::is_probe(message) {
            return vec![Act::Send(engine.at(90, 1000).introduce(message))];
        }
        let reply = match head.boots {
            3 => answer(&engine, Level::Encrypted, message),
            _ => engine.report(Level::Signed, head.id, NOT_IN_TIME_WINDOW),
        };
        vec![Act::Send(reply)]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
    assert_read(&walk(&mut session).await);
    assert_eq!(session.engine().unwrap().boots, 3);
}

#[tokio::test]
async fn answers_below_the_level_are_refused() {
    for (level, answered, detail) in [
        (Level::Encrypted, Level::Signed, "not encrypted"),
        (Level::Encrypted, Level::Plain, "not signed"),
        (Level::Signed, Level::Plain, "not signed"),
    ] {
        let agent =
            agent(shared(3, 1000), move |engine, message| vec![Act::Send(answer(engine, answered, message))])
                .await;
        let mut session = session(&Transport::new().unwrap(), agent.address(), user(level), QUICK);
        let read = walk(&mut session).await;
        assert_failed(&read, Reason::UnsupportedLevel, detail);
        assert!(read.rows.is_empty());
    }
}

#[tokio::test]
async fn lies_before_the_truth_change_nothing() {
    let mut requests = 0;
    let agent = agent(shared(3, 1000), move |engine, message| {
        requests += 1;
        let asked = engine.read(message);
        let lie: Vec<_> =
            objects().varbinds(&asked).into_iter().map(|(name, _)| (name, integer(666))).collect();
        let lie = |id: i64| wire::answer_pdu(RESPONSE, id, 0, 0, &lie);
        let truth = answer(engine, Level::Encrypted, message);
        let mut damaged = truth.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let other = Engine::new(OTHER_ID, 3, 1000);
        let old = engine.at(2, 1000);
        let known = requests > 1;
        vec![
            Act::Send(damaged),
            Act::Send(engine.seal(Level::Plain, asked.id, &lie(asked.id))),
            Act::Send(engine.seal(Level::Signed, asked.id, &lie(asked.id))),
            Act::Send(engine.seal(Level::Encrypted, asked.id + 1, &lie(asked.id + 1))),
            Act::Send(other.seal(Level::Encrypted, asked.id, &lie(asked.id))),
            Act::Elsewhere(engine.seal(Level::Encrypted, asked.id, &lie(asked.id))),
            // Once the boots are known, those of an earlier boot are an old recording.
            if known {
                Act::Send(old.seal(Level::Encrypted, asked.id, &lie(asked.id)))
            } else {
                Act::Send(Vec::new())
            },
            Act::Send(truth),
        ]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
    assert_read(&walk(&mut session).await);
    assert_eq!(session.cost().retries, 0);
}

#[tokio::test]
async fn an_old_recording_is_outside_the_window() {
    let mut requests = 0;
    let agent = agent(shared(3, 1000), move |engine, message| {
        requests += 1;
        let late = engine.at(3, if requests > 2 { 849 } else { 1000 });
        vec![Act::Send(answer(&late, Level::Encrypted, message))]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), QUICK);
    let read = walk(&mut session).await;
    assert_failed(&read, Reason::NotInTimeWindow, "outside the time window was refused");
    assert_eq!(read.rows.len(), 2 * 19);
}

#[tokio::test]
async fn a_report_that_anybody_may_have_written_does_not_stop_one_who_is_known() {
    // The first answer is true; every later one has a forged Report before it.
    let mut requests = 0;
    let forged = agent(shared(3, 1000), move |engine, message| {
        requests += 1;
        let report = engine.report(Level::Plain, Engine::head(message).id, WRONG_DIGEST);
        let truth = answer(engine, Level::Encrypted, message);
        if requests == 1 { vec![Act::Send(truth)] } else { vec![Act::Send(report), Act::Send(truth)] }
    })
    .await;
    let transport = Transport::new().unwrap();
    assert_read(&walk(&mut session(&transport, forged.address(), user(Level::Encrypted), PATIENT)).await);
    // A true one is believed when no answer follows, and nothing is sent again.
    let mut requests = 0;
    let changed = agent(shared(3, 1000), move |engine, message| {
        requests += 1;
        let report = engine.report(Level::Plain, Engine::head(message).id, WRONG_DIGEST);
        vec![Act::Send(if requests == 1 { answer(engine, Level::Encrypted, message) } else { report })]
    })
    .await;
    let unhurried = Duration::from_millis(500);
    let mut session = session(&transport, changed.address(), user(Level::Encrypted), unhurried);
    let read = walk(&mut session).await;
    assert_failed(&read, Reason::WrongDigest, "authentication password");
    assert_eq!((read.rows.len(), session.cost().retries), (19, 0));
}

#[tokio::test]
async fn an_engine_that_was_replaced_is_discovered_anew() {
    let engine = shared(3, 1000);
    let now = Arc::clone(&engine);
    let agent = agent(engine, |engine, message| {
        let head = Engine::head(message);
        vec![Act::Send(match head.engine == engine.id {
            true => answer(engine, Level::Encrypted, message),
            false => engine.report(Level::Plain, head.id, UNKNOWN_ENGINE),
        })]
    })
    .await;
    let transport = Transport::new().unwrap();
    let mut session = session(&transport, agent.address(), user(Level::Encrypted), PATIENT);
    assert_read(&walk(&mut session).await);
    *now.lock().unwrap() = Engine::new(OTHER_ID, 1, 10);
    let before = session.cost().requests;
    assert_read(&walk(&mut session).await);
    assert_eq!(session.cost().requests - before, 1 + 1 + 4, "refused, probed, walked");
    let engine = session.engine().unwrap();
    assert_eq!((engine.id.as_str(), engine.boots), ("80001f880474776f", 1));
}

#[tokio::test]
async fn a_forged_change_of_engine_moves_no_clock() {
    // At the third question an enemy says that the engine is another, and introduces the
    // same one with other boots.
    let engine = Engine::new(ENGINE_ID, 3, 1000);
    let mut requests = 0;
    let agent = Scripted::start(move |message| {
        let head = Engine::head(message);
        if Engine::is_probe(message) {
            let moved = if requests == 0 { engine.clone() } else { engine.at(90, 5) };
            return vec![Act::Send(moved.introduce(message))];
        }
        requests += 1;
        assert_eq!(head.boots, 3);
        let forged = requests == 3;
        let reply = match forged {
            true => engine.report(Level::Plain, head.id, UNKNOWN_ENGINE),
            false => answer(&engine, Level::Encrypted, message),
        };
        vec![Act::Send(reply)]
    })
    .await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
    assert_read(&walk(&mut session).await);
    assert_eq!(session.cost().requests, 1 + 4 + 1 + 1);
}

#[tokio::test]
async fn an_agent_that_is_deaf_to_what_is_encrypted_is_told_from_a_dead_one() {
    let deaf = agent(shared(3, 1000), |engine, message| {
        let head = Engine::head(message);
        if head.flags & 2 != 0 {
            return Vec::new();
        }
        let asked = engine.read(message);
        assert!(asked.oids.is_empty(), "nothing is asked for in the open");
        vec![Act::Send(engine.seal(
            Level::Signed,
            head.id,
            &wire::answer_pdu(RESPONSE, asked.id, 16, 0, &[]),
        ))]
    })
    .await;
    let transport = Transport::new().unwrap();
    let read = walk(&mut session(&transport, deaf.address(), user(Level::Encrypted), QUICK)).await;
    assert_failed(&read, Reason::DecryptionError, "answers only what is not encrypted: privacy password");
    // Nothing but a signature of the engine's own counts.
    let forged = agent(shared(3, 1000), |engine, message| {
        let id = Engine::head(message).id;
        let pdu = wire::answer_pdu(RESPONSE, id, 16, 0, &[]);
        let other = Engine::new(OTHER_ID, 3, 1000);
        vec![Act::Send(engine.seal(Level::Plain, id, &pdu)), Act::Send(other.seal(Level::Signed, id, &pdu))]
    })
    .await;
    let read = walk(&mut session(&transport, forged.address(), user(Level::Encrypted), QUICK)).await;
    assert!(!matches!(read.outcome, Outcome::Failed(Reason::DecryptionError)), "{}", read.detail);
    let dead = agent(shared(3, 1000), |_, _| Vec::new()).await;
    let mut lone = session(&transport, dead.address(), user(Level::Encrypted), QUICK);
    assert_failed(&walk(&mut lone).await, Reason::Timeout, "no answer from");
    // The probe, a bulk, a GETNEXT, one look into the silence.
    assert_eq!(lone.cost().requests, 4);
    // A table that hangs behind an agent that is well is no matter of keys.
    let hung = agent(shared(3, 1000), |engine, message| {
        let head = Engine::head(message);
        let asked = engine.read(message);
        let level = if head.flags & 2 == 0 { Level::Signed } else { Level::Encrypted };
        let reply = engine.seal(level, head.id, &wire::answer_pdu(RESPONSE, asked.id, 0, 0, &[]));
        if asked.oids.is_empty() { vec![Act::Send(reply)] } else { Vec::new() }
    })
    .await;
    let read = walk(&mut session(&transport, hung.address(), user(Level::Encrypted), QUICK)).await;
    assert_failed(&read, Reason::Timeout, "no answer from");
}

#[tokio::test]
async fn an_engine_that_never_knows_itself_is_not_asked_for_ever() {
    let agent = reporting(UNKNOWN_ENGINE).await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), PATIENT);
    assert_failed(&walk(&mut session).await, Reason::UnknownEngine, "engine id");
    assert_eq!(session.cost().requests, 4);
}

#[tokio::test]
async fn clones_with_one_engine_id_are_both_polled() {
    let script = |engine: &Engine, message: &[u8]| {
        let head = Engine::head(message);
        let timely = head.boots == engine.boots && (head.time - engine.time).abs() <= 150;
        vec![Act::Send(match timely {
            true => answer(engine, Level::Encrypted, message),
            false => engine.report(Level::Signed, head.id, NOT_IN_TIME_WINDOW),
        })]
    };
    let one = agent(shared(5, 1_000), script).await;
    let two = agent(shared(2, 900_000), script).await;
    let transport = Transport::new().unwrap();
    for _ in 0..20 {
        for (agent, boots) in [(&one, 5), (&two, 2)] {
            let mut session = session(&transport, agent.address(), user(Level::Encrypted), PATIENT);
            assert_read(&walk(&mut session).await);
            let engine = session.engine().unwrap();
            assert_eq!((engine.id.as_str(), engine.boots), ("80001f88046f6e65", boots));
        }
    }
    assert_eq!(one.heard().len(), 1 + 20 * 4, "one probe, and no message twice");
}

#[tokio::test]
async fn a_context_is_named_with_its_engine() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let agent = agent(shared(3, 1000), move |engine, message| {
        let parts = wire::message_pieces(message);
        let scoped = wire::pieces(message, parts[3].contents.clone());
        let named = [0, 1].map(|at| message[scoped[at].contents.clone()].to_vec());
        log.lock().unwrap().push(named);
        vec![Act::Send(answer(engine, Level::Signed, message))]
    })
    .await;
    let transport = Transport::new().unwrap();
    let mut session = session(&transport, agent.address(), user(Level::Signed), PATIENT);
    assert_read(&walk(&mut session).await);
    let vr = Context { name: b"router2".to_vec(), engine_id: None };
    assert_read(&walk_in(&mut session, &vr).await);
    let own = Context { name: b"router2".to_vec(), engine_id: Some(OTHER_ID.to_vec()) };
    assert_read(&walk_in(&mut session, &own).await);
    let mut seen = seen.lock().unwrap().clone();
    seen.dedup();
    let expected = [(ENGINE_ID, ""), (ENGINE_ID, "router2"), (OTHER_ID, "router2")];
    assert_eq!(seen, expected.map(|(engine, name)| [engine.to_vec(), name.as_bytes().to_vec()]));
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_malformed_at_once() {
    let agent = agent(shared(3, 1000), |engine, message| {
        // A PDU whose list of varbinds is an INTEGER. snmp2 would not sign it; to a user who
        // does not sign, a message is as good as its id.
        let id = Engine::head(message).id;
        let pdu = wire::tlv(RESPONSE, &[&integer(id), &integer(0), &integer(0), &integer(0)]);
        vec![Act::Send(engine.seal(Level::Plain, id, &pdu))]
    })
    .await;
    let start = Instant::now();
    let read =
        walk(&mut session(&Transport::new().unwrap(), agent.address(), user(Level::Plain), PATIENT)).await;
    assert_failed(&read, Reason::Malformed, "the list of varbinds has tag 0x02 where 0x30 belongs");
    assert!(start.elapsed() < PATIENT);
}

#[tokio::test]
async fn an_empty_password_is_no_password() {
    let agent = agent(shared(3, 1000), |_, _| Vec::new()).await;
    let mut user = user(Level::Signed);
    user.auth = Some((AuthProtocol::Sha256, Secret::new("")));
    let read = walk(&mut session(&Transport::new().unwrap(), agent.address(), user, PATIENT)).await;
    assert_failed(&read, Reason::SendFailed, "empty password");
}

#[tokio::test]
async fn a_silent_target_is_probed_with_all_tries_and_no_more() {
    let agent = Scripted::start(|_| Vec::new()).await;
    let mut session = session(&Transport::new().unwrap(), agent.address(), user(Level::Encrypted), QUICK);
    assert_failed(&walk(&mut session).await, Reason::Timeout, "no answer from");
    assert_eq!((session.cost().requests, session.cost().retries), (1, 3));
    assert_eq!(session.engine(), None);
}

#[tokio::test]
async fn an_engine_id_that_is_none_is_refused() {
    for id in [&b"four"[..], &[7; 33]] {
        let engine = Engine::new(id, 3, 1000);
        let agent = Scripted::start(move |message| vec![Act::Send(engine.introduce(message))]).await;
        let read =
            walk(&mut session(&Transport::new().unwrap(), agent.address(), user(Level::Signed), QUICK)).await;
        assert_failed(&read, Reason::Malformed, "an engine id of ");
    }
}
