//! Pins against the clock, in the library: time is what the test says it is.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::sync::Arc;

use acts_support::{Plant, Pool};
use jiff::{SignedDuration, Timestamp};
use poolsync::config::Config;
use poolsync::cycle::{
    Answer, Cycle, Fleet, FreezeRequest, Operation, PIN_LASTS, PollRequest, ReleaseRequest, RollbackRequest,
    Who, collect, exports_of,
};
use poolsync::mib::Library;
use poolsync::snmp::Transport;
use poolsync::table::Approved;
use serde_json::Value;

const A: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255")];
const TINY: &[Pool] = &[("a", "198.18.0.0", "198.18.0.255")];
const MORE: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255"), ("b", "198.18.32.0", "198.18.32.255")];

/// The owner of a store, its routers, and a clock.
struct Clock {
    plant: Plant,
    config: Arc<Config>,
    cycle: Option<Cycle>,
    now: Timestamp,
}

impl Clock {
    async fn new(plant: Plant) -> Self {
        let config = Arc::new(without_environment(&plant));
        let now = "2026-11-30T00:00:00Z".parse().unwrap();
        let mut clock = Self { plant, config, cycle: None, now };
        clock.open().await;
        clock
    }

    async fn open(&mut self) {
        let exports = Arc::new(exports_of(&self.config).unwrap());
        self.cycle = Some(Cycle::open(Arc::clone(&self.config), exports, self.now).await.unwrap());
    }

    /// Ends the process, so to speak, and begins another one later.
    async fn restart_after(&mut self, pause: SignedDuration) {
        self.cycle.take().unwrap().close().await.unwrap();
        self.now += pause;
        self.open().await;
    }

    fn cycle(&mut self) -> &mut Cycle {
        self.cycle.as_mut().unwrap()
    }

    async fn poll(&mut self) {
        let (config, now) = (Arc::clone(&self.config), self.now);
        let fleet = Fleet::new(&config, Arc::new(Library::built_in()), Transport::new().unwrap());
        let jobs = self.cycle().jobs(&fleet, &PollRequest::default(), true, now).unwrap();
        let mut arrived = collect(&fleet, jobs, 4, |_| {}).await;
        arrived.iter_mut().for_each(|one| one.at = now);
        self.cycle().absorb(arrived, &Approved::default(), false, now).await.unwrap();
    }

    async fn tick(&mut self) {
        let now = self.now;
        self.cycle().absorb(Vec::new(), &Approved::default(), false, now).await.unwrap();
    }

    async fn does(&mut self, operation: Operation) -> Result<Value, String> {
        let now = self.now;
        match self.cycle().perform(operation, &Who::nobody(), now).await {
            Ok(Answer::Json(value)) => Ok(value),
            Ok(Answer::File(_)) => panic!("a file"),
            Err(problem) => Err(problem.code),
        }
    }

    /// How many addresses are published, and how many lie in the table beneath.
    fn sizes(&mut self) -> (usize, usize) {
        let state = self.cycle().state();
        let size = |table: &poolsync::table::Table| {
            table.entries().iter().map(|entry| entry.range.span() as usize + 1).sum()
        };
        (size(&state.snapshot.table), size(&state.table))
    }
}

/// The plant's configuration, its community written into it: the environment is the process's.
fn without_environment(plant: &Plant) -> Config {
    let text = support::site::content(&plant.site.config);
    let path = plant.site.scratch.write("community", support::junose::COMMUNITY);
    let text = text.replace(
        &format!("{{ env = \"{}\" }}", support::site::COMMUNITY_ENV),
        &format!("{{ file = \"{}\" }}", path.display()),
    );
    plant.site.configure(&text);
    Config::load(&plant.site.config).unwrap().config
}

fn routers(change: impl Fn(String) -> String) -> Plant {
    Plant::with(&[("bas-a", "east", A)], change)
}

/// Runs a story on the routers' own runtime.
fn told<F: Future<Output = ()>>(plant: Plant, story: impl FnOnce(Clock) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { story(Clock::new(plant).await).await });
}

#[test]
fn a_pin_lasts_a_day_and_no_longer() {
    told(routers(|text| text), |mut clock| async move {
        clock.poll().await;
        clock.does(Operation::Freeze(FreezeRequest::default())).await.unwrap();
        clock.plant.set("bas-a", MORE);
        clock.now += SignedDuration::from_mins(5);
        clock.poll().await;
        assert_eq!(clock.sizes(), (4096, 4352));
        clock.now += PIN_LASTS - SignedDuration::from_mins(5) - SignedDuration::from_nanos(1);
        clock.tick().await;
        assert_eq!(clock.sizes(), (4096, 4352));
        let generation = clock.cycle().state().snapshot.generation;
        clock.now += SignedDuration::from_nanos(1);
        clock.tick().await;
        assert_eq!(clock.sizes(), (4352, 4352));
        assert_eq!(clock.cycle().state().snapshot.generation, generation + 1);
        assert!(clock.cycle().state().pin.is_none());
    });
}

#[test]
fn a_pin_that_ran_out_while_nobody_was_there_is_released_at_the_start() {
    told(routers(|text| text), |mut clock| async move {
        clock.poll().await;
        clock.does(Operation::Freeze(FreezeRequest::default())).await.unwrap();
        clock.plant.set("bas-a", MORE);
        clock.poll().await;
        clock.restart_after(PIN_LASTS - SignedDuration::from_secs(1)).await;
        assert_eq!(clock.sizes(), (4096, 4352));
        clock.restart_after(SignedDuration::from_hours(24 * 40)).await;
        assert_eq!(clock.sizes(), (4352, 4352));
        let history =
            clock.does(Operation::History(poolsync::cycle::HistoryRequest { of: None, limit: 1 })).await;
        assert_eq!(history.unwrap()[0]["acts"][0]["kind"], "expire");
    });
}

#[test]
fn a_release_publishes_what_was_approved_beneath_unjudged() {
    told(routers(|text| text), |mut clock| async move {
        clock.poll().await;
        clock.plant.set("bas-a", MORE);
        clock.now += SignedDuration::from_mins(5);
        clock.poll().await;
        clock
            .does(Operation::Rollback(RollbackRequest { generation: 1, for_s: None, reason: None, by: None }))
            .await
            .unwrap();
        assert_eq!(clock.sizes(), (4096, 4352));
        // Beneath the pin most of the BAS goes; the guard holds that, a person approves it.
        clock.plant.set("bas-a", TINY);
        clock.now += SignedDuration::from_mins(5);
        clock.poll().await;
        assert_eq!(clock.sizes(), (4096, 4352), "held beneath");
        let held = clock.cycle().state().held();
        let request = poolsync::cycle::ApproveRequest { ids: vec![held[0].id], ..Default::default() };
        clock.does(Operation::Approve(request)).await.unwrap();
        assert_eq!(clock.sizes(), (4096, 256), "approved beneath, and published as before");
        clock.restart_after(SignedDuration::from_mins(1)).await;
        assert_eq!(clock.sizes(), (4096, 256));
        let done = clock.does(Operation::Release(ReleaseRequest::default())).await.unwrap();
        assert_eq!(done["pin"], Value::Null);
        assert_eq!(clock.sizes(), (256, 256));
        assert!(clock.cycle().state().held().is_empty(), "nobody is asked again");
        clock.now += SignedDuration::from_mins(5);
        clock.poll().await;
        assert_eq!((clock.sizes(), clock.cycle().state().held().len()), ((256, 256), 0));
    });
}

#[test]
fn what_is_pinned_outlives_what_is_pruned() {
    let short = |text: String| text.replacen("[store]\n", "[store]\nkeep = \"1h\"\nkeep-at-least = 1\n", 1);
    told(routers(short), |mut clock| async move {
        clock.poll().await;
        clock.does(Operation::Freeze(FreezeRequest::default())).await.unwrap();
        for pools in [MORE, A, MORE] {
            clock.plant.set("bas-a", pools);
            clock.now += SignedDuration::from_hours(3);
            clock.poll().await;
            let now = clock.now;
            clock.cycle().prune(now).await.unwrap();
        }
        clock.restart_after(SignedDuration::from_hours(1)).await;
        assert_eq!(clock.sizes().0, 4096);
        clock.does(Operation::Release(ReleaseRequest::default())).await.unwrap();
        let now = clock.now;
        clock.cycle().prune(now).await.unwrap();
        let again = RollbackRequest { generation: 1, for_s: None, reason: None, by: None };
        assert_eq!(clock.does(Operation::Rollback(again)).await, Err("no-generation".to_owned()));
    });
}
