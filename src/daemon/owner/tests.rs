use std::net::SocketAddr;

use tempfile::TempDir;

use super::*;
use crate::config::Config;
use crate::cycle::exports_of;
use crate::mib::Library;
use crate::poll::Polled;
use crate::snmp::{Recording, ReplayAgent};
use crate::table::diff;

const WALK: &str = include_str!("../../../tests/data/walks/huawei-control-plane.snmprec");

/// An owner of two BASes and of an export. No batch of its
/// ends by itself while a test runs.
async fn owner(folder: &TempDir, [a, b]: [SocketAddr; 2]) -> Owner {
    let text = format!(
        "default-edge = \"east\"\n\
         [store]\npath = \"poolsync.db\"\n\
         [control]\nsocket = \"control.sock\"\n\
         [poll]\nbatch = \"1h\"\n\
         [snmp.sim]\nversion = \"2c\"\ncommunity = \"public\"\n\
         [export.list]\nformat = \"list\"\npath = \"pools.list\"\n\
         [edge.east]\naddresses = [\"198.18.0.1\"]\n\
         [bas.bas-a]\naddress = \"{a}\"\nsnmp = \"sim\"\nmib = \"auto\"\nedges = [\"east\"]\n\
         [bas.bas-b]\naddress = \"{b}\"\nsnmp = \"sim\"\nmib = \"auto\"\nedges = [\"east\"]\n"
    );
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    let config = Arc::new(Config::load(&path).unwrap().config);
    let exports = Arc::new(exports_of(&config).unwrap());
    let site = Site { config, library: Arc::new(Library::built_in()), exports };
    let cycle =
        Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await.unwrap();
    let reload: Reload = Box::new(|| Err("there is no other configuration".to_owned()));
    Owner::new(cycle, site, Transport::new().unwrap(), reload, None)
}

async fn agent() -> ReplayAgent {
    let walk = vec![("public".to_owned(), Recording::parse(WALK).unwrap())];
    ReplayAgent::start("127.0.0.1:0".parse().unwrap(), walk).await.unwrap()
}

/// A BAS is read, as by the owner's schedule.
async fn read(owner: &mut Owner, name: &str) {
    let bas = &owner.site.config.bas[name];
    let memory = owner.cycle.memory(&bas.name);
    let job = owner.fleet.job(&owner.site.config, bas, &memory, true, Timestamp::now()).unwrap();
    let polled = owner.fleet.poll(job).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    owner.arrived(Arrived { polled, scheduled: true, at: Timestamp::now() });
}

fn ask(owner: &mut Owner, name: &str) -> oneshot::Receiver<Reply> {
    let (sender, reply) = oneshot::channel();
    let request = PollRequest { bas: vec![name.to_owned()], publish: true, ..PollRequest::default() };
    owner.asked_to_poll(&request, sender);
    reply
}

/// Takes in what the export reports, until it has done what was wanted by that number.
async fn published(owner: &mut Owner, offer: u64) {
    while !owner.consumers.have_done(offer) {
        let report = owner.consumers.next().await;
        owner.cycle.note_published(report);
        owner.answer_waiting();
    }
}

#[tokio::test]
async fn whoever_waits_for_a_poll_waits_for_no_batch_but_their_own() {
    let (a, b, folder) = (agent().await, agent().await, tempfile::tempdir().unwrap());
    let mut owner = owner(&folder, [a.address(), b.address()]).await;

    let mut first = ask(&mut owner, "bas-a");
    read(&mut owner, "bas-a").await;
    owner.take_in().await;
    let wanted = owner.consumers.offered();
    assert!(wanted > 0 && first.try_recv().is_err(), "it is not published yet");
    // Another BAS, for which nobody waits, opens a batch that stays open.
    read(&mut owner, "bas-b").await;
    published(&mut owner, wanted).await;
    assert!(owner.batch_ends.is_some_and(|ends| ends > Instant::now()));
    let Answer::Json(told) = first.try_recv().unwrap().unwrap() else { panic!("no JSON") };
    assert_eq!((told["bas"].as_array().unwrap().len(), &told["bas"][0]["name"]), (1, &"bas-a".into()));

    // Nor for that of one who asked later.
    let mut second = ask(&mut owner, "bas-b");
    read(&mut owner, "bas-b").await;
    owner.take_in().await;
    let wanted = owner.consumers.offered();
    read(&mut owner, "bas-a").await;
    let mut third = ask(&mut owner, "bas-a");
    published(&mut owner, wanted).await;
    owner.answer_waiting();
    assert!(second.try_recv().unwrap().is_ok());
    assert!(third.try_recv().is_err(), "what it asked for has not been read yet");
    assert!(owner.batch_ends.is_some());
}

#[tokio::test]
async fn a_poll_that_panics_takes_nothing_away_and_its_bas_is_polled_again() {
    let (a, b, folder) = (agent().await, agent().await, tempfile::tempdir().unwrap());
    let mut owner = owner(&folder, [a.address(), b.address()]).await;
    read(&mut owner, "bas-a").await;
    owner.take_in().await;
    let table = Arc::clone(&owner.cycle.state().table);
    assert!(!table.entries().is_empty());

    let name = Name::from("bas-a");
    owner.schedule.force(&name, owner.now());
    while let Some(_due) = owner.schedule.take(owner.now()) {}
    assert!(owner.schedule.is_running(&name));
    let polled = Polled::broken(&name, a.address());
    owner.arrived(Arrived { polled, scheduled: true, at: Timestamp::now() });
    assert!(!owner.schedule.is_running(&name));
    owner.take_in().await;
    let memory = owner.cycle.memory(&name);
    assert_eq!((&*memory.state, &*memory.reason), ("failed", "internal"));
    assert!(diff(&table, &owner.cycle.state().table).is_empty());
}
