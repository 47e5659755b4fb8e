use super::*;
use crate::snmp::{PrivacyProtocol, Secret};

const ENGINE: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

fn user(password: &str) -> User {
    User {
        name: "u".into(),
        auth: Some((AuthProtocol::Sha1, Secret::new(password))),
        privacy: Some((PrivacyProtocol::Aes256, Secret::new("maplesyrup"))),
        key_extension: KeyExtension::Reeder,
        engine_id: None,
    }
}

fn signing() -> User {
    User { privacy: None, ..user("maplesyrup") }
}

/// A keyring of the next run: what the file held, and no password yet.
fn restarted(ring: &Keyring) -> Arc<Keyring> {
    let next = Arc::new(Keyring::default());
    next.load(&ring.save(Instant::now()).unwrap()).unwrap();
    next
}

#[tokio::test]
async fn keys_are_made_once_for_each_user_and_engine() {
    let ring = Arc::new(Keyring::default());
    let keys = ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    assert_eq!(keys.auth.1[..4], [0x66, 0x95, 0xfe, 0xbc]);
    assert_eq!(
        keys.privacy.as_ref().unwrap().1[20..],
        [0x9b, 0x8b, 0x6d, 0x78, 0x93, 0x6b, 0xa6, 0xe7, 0xd1, 0x9d, 0xfd, 0x9c]
    );
    let again = ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    assert!(Arc::ptr_eq(&keys, &again));
    assert_eq!(ring.made(), 1);
    let elsewhere = ring.keys(&user("maplesyrup"), &[1; 5]).await.unwrap();
    assert_ne!(keys, elsewhere);
    assert_eq!((ring.made(), unpoisoned(&ring.passwords).len()), (2, 1));
}

#[tokio::test]
async fn an_empty_password_gives_no_keys() {
    assert_eq!(Arc::new(Keyring::default()).keys(&user(""), &[1; 5]).await, None);
}

#[tokio::test]
async fn a_restart_makes_no_keys_again() {
    let ring = Arc::new(Keyring::default());
    let before = [
        ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap(),
        ring.keys(&signing(), &ENGINE).await.unwrap(),
    ];
    let next = restarted(&ring);
    assert_eq!(next.keys(&user("maplesyrup"), &ENGINE).await.unwrap(), before[0]);
    assert_eq!(next.keys(&signing(), &ENGINE).await.unwrap(), before[1]);
    assert_eq!(next.made(), 0);
    assert!(unpoisoned(&next.passwords).is_empty(), "no password was hashed");
    assert_eq!(next.save(Instant::now()), None, "the file is as it should be");
}

#[tokio::test]
async fn what_the_keys_are_made_of_may_not_change() {
    let ring = Arc::new(Keyring::default());
    ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    let other = |change: fn(&mut User)| {
        let mut user = user("maplesyrup");
        change(&mut user);
        user
    };
    let swapped = {
        let mut engine = ENGINE;
        engine[11] = 3;
        engine
    };
    for (user, engine) in [
        (user("maplesyruq"), &ENGINE[..]),
        (other(|user| user.auth = Some((AuthProtocol::Md5, Secret::new("maplesyrup")))), &ENGINE),
        (other(|user| user.privacy = Some((PrivacyProtocol::Aes256, Secret::new("other")))), &ENGINE),
        (other(|user| user.privacy = Some((PrivacyProtocol::Aes192, Secret::new("maplesyrup")))), &ENGINE),
        (other(|user| user.privacy = None), &ENGINE),
        (other(|user| user.key_extension = KeyExtension::Blumenthal), &ENGINE),
        (user("maplesyrup"), &swapped),
        (user("maplesyrup"), &ENGINE[..11]),
    ] {
        let next = restarted(&ring);
        ring.not_saved();
        let fresh = Arc::new(Keyring::default());
        let keys = next.keys(&user, engine).await.unwrap();
        assert_eq!(keys, fresh.keys(&user, engine).await.unwrap());
        assert_eq!(next.made(), 1, "{user:?} at {engine:?}");
    }
}

#[tokio::test]
async fn a_name_is_no_part_of_the_keys() {
    let ring = Arc::new(Keyring::default());
    ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    let renamed = User { name: "v".into(), ..user("maplesyrup") };
    ring.keys(&renamed, &ENGINE).await.unwrap();
    assert_eq!(ring.made(), 1);
}

#[tokio::test]
async fn what_nobody_used_for_a_day_is_dropped() {
    let ring = Arc::new(Keyring::default());
    ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    ring.keys(&signing(), &ENGINE).await.unwrap();
    let next = restarted(&ring);
    next.keys(&signing(), &ENGINE).await.unwrap();
    let begun = next.kept().since;
    assert_eq!(next.save(begun + UNUSED - Duration::from_secs(1)), None);
    assert_eq!(next.kept().keys.len(), 2);
    let saved = next.save(begun + UNUSED).unwrap();
    assert_eq!(next.kept().keys.len(), 1);
    assert_eq!(keyfile::parse(&saved).unwrap().keys.len(), 1);
    assert_eq!(next.save(begun + UNUSED), None);
}

#[test]
fn keys_are_never_made_on_the_runtime() {
    // The one thread for what blocks is busy: keys can only be made once it is free.
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let holding = tokio::task::spawn_blocking(move || busy.recv());
        let ring = Arc::new(Keyring::default());
        let user = user("maplesyrup");
        let mut keys = std::pin::pin!(ring.keys(&user, &ENGINE));
        let first =
            std::future::poll_fn(|cx| std::task::Poll::Ready(keys.as_mut().poll(cx).is_ready())).await;
        assert!(!first, "made where the future is polled");
        assert_eq!(ring.made(), 0);
        free.send(()).unwrap();
        holding.await.unwrap().unwrap();
        assert!(keys.await.is_some());
    });
}

#[tokio::test]
async fn a_damaged_file_is_no_file() {
    let ring = Arc::new(Keyring::default());
    ring.keys(&user("maplesyrup"), &ENGINE).await.unwrap();
    ring.keys(&signing(), &ENGINE).await.unwrap();
    let text = ring.save(Instant::now()).unwrap();
    let fresh = Keyring::default();
    for place in 0..text.len() {
        let mut damaged = text.clone().into_bytes();
        damaged[place] ^= 1;
        let damaged = String::from_utf8(damaged).unwrap();
        assert!(fresh.load(&damaged).is_err(), "octet {place}");
        assert!(fresh.load(&text[..place]).is_err(), "cut at {place}");
    }
    assert_eq!(fresh.load(""), Err(Malformed::Head));
    assert_eq!(fresh.load(&text[..text.len() - 1]), Err(Malformed::Digest));
    assert_eq!(fresh.load(&text), Ok(2));
    // A right digest over wrong lines: keys of another length, a protocol of no name.
    let lines: Vec<&str> = text.lines().collect();
    for (from, to) in [("sha1 66", "sha1 6666"), ("sha1", "sha3"), ("aes256", "aes128"), ("- -", "- 00")] {
        let body: String = lines[..4].iter().map(|line| line.replacen(from, to, 1) + "\n").collect();
        let digest = hash(AuthProtocol::Sha256, &[body.as_bytes()]);
        let error = Keyring::default().load(&(body + &crate::snmp::hex::to_hex(&digest) + "\n")).unwrap_err();
        assert!(matches!(error, Malformed::Line(3 | 4)), "{from} as {to}: {error}");
    }
}
