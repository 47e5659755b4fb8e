//! However many routers there are, and however many of them are dead, there are two sockets,
//! and one for each configured source. Alone in its process, whose sockets are counted.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use poolsync::snmp::{
    Context, Credentials, Limits, Oid, Reach, Reason, Recording, ReplayAgent, Secret, Session, Target,
    Transport, Value,
};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

const WALK: &str = include_str!("data/walks/huawei-control-plane.snmprec");
/// So many that a socket for each would go over the usual limit of open files.
const DEAD: u16 = 2_000;
const LIVE: u16 = 100;
const SOURCES: u8 = 3;

fn sockets() -> usize {
    fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .filter(|to| to.to_string_lossy().starts_with("socket:"))
        .count()
}

fn target(address: SocketAddr, timeout: Duration, source: Option<IpAddr>) -> Target {
    Target {
        address,
        credentials: Credentials::V2c(Secret::new("public")),
        limits: Limits { timeout, retries: 0, ..Limits::default() },
        engine: None,
        reach: Reach { source, ..Reach::default() },
    }
}

async fn object_id(mut session: Session) -> Result<Vec<Value>, Reason> {
    let oid: Oid = "1.3.6.1.2.1.1.2.0".parse().unwrap();
    session.get(&Context::default(), &[oid]).await.map_err(|failure| failure.reason)
}

#[tokio::test]
async fn the_number_of_sockets_does_not_depend_on_that_of_the_routers() {
    let walk = vec![("public".to_owned(), Recording::parse(WALK).unwrap())];
    let agent = ReplayAgent::start((Ipv4Addr::LOCALHOST, 0).into(), walk).await.unwrap();
    // Nobody listens at the dead ones; this only keeps their port.
    let reserved = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = reserved.local_addr().unwrap().port();
    let transport = Transport::new().unwrap();
    let before = sockets();

    let mut dead = JoinSet::new();
    for n in 0..DEAD {
        let [high, low] = n.to_be_bytes();
        let address = SocketAddr::from(([127, 1, high, low], port));
        let session = Session::new(&transport, target(address, Duration::from_millis(1500), None));
        dead.spawn(object_id(session));
    }
    // The live ones are read while the dead ones are waited for.
    let mut live = JoinSet::new();
    for _ in 0..LIVE {
        let session = Session::new(&transport, target(agent.address(), Duration::from_secs(30), None));
        live.spawn(object_id(session));
    }
    let mut read = 0;
    while let Some(values) = live.join_next().await {
        assert!(matches!(values.unwrap().unwrap().as_slice(), [Value::ObjectId(_)]));
        read += 1;
    }
    assert_eq!(read, LIVE);
    assert_eq!(sockets(), before);
    while let Some(values) = dead.join_next().await {
        assert_eq!(values.unwrap(), Err(Reason::Timeout));
    }
    assert_eq!(sockets(), before);

    for n in 0..LIVE {
        let source = IpAddr::from([127, 0, 0, 10 + n.to_be_bytes()[1] % SOURCES]);
        let target = target(agent.address(), Duration::from_secs(30), Some(source));
        object_id(Session::new(&transport, target)).await.unwrap();
    }
    assert_eq!(sockets(), before + usize::from(SOURCES));
    drop(transport);
}
