//! What the tests of operators' acts stand on: routers that replay what a test tells them,
//! in this process, and an installation that polls them.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use poolsync::snmp::{Recording, ReplayAgent};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::support::junose;
use crate::support::poolsync::Outcome;
use crate::support::program::Program;
use crate::support::scratch::Scratch;
use crate::support::site::{Site, configuration};

/// A pool: name, first and last address.
pub(crate) type Pool = (&'static str, &'static str, &'static str);

/// A router's walk: who it is, and its pools. `used` addresses of each pool are in use.
pub(crate) fn walk(pools: &[Pool], used: u32) -> Recording {
    Recording::parse(&text(pools, used, "")).unwrap()
}

fn text(pools: &[Pool], used: u32, named: &str) -> String {
    let system = "1.3.6.1.2.1.1.1.0|4|Juniper Networks, Inc. ERX-1440 Edge Routing Switch\n\
                  1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.4874.1.1.1.1.3\n\
                  1.3.6.1.2.1.1.3.0|67|864000000\n";
    let rows = junose::table(pools).lines().fold(String::new(), |mut text, line| {
        // Column 7: addresses in use.
        let counts = line.starts_with("1.3.6.1.4.1.4874.2.2.21.1.1.1.1.7.");
        match (counts, line.split_once('|')) {
            (true, Some((oid, _))) => text += &format!("{oid}|2|{used}\n"),
            _ => text += &format!("{line}\n"),
        }
        text
    });
    format!("{system}{named}{rows}")
}

/// Routers and one installation.
pub(crate) struct Plant {
    /// There until it is dropped.
    runtime: Option<Runtime>,
    routers: BTreeMap<&'static str, (SocketAddr, Option<ReplayAgent>)>,
    pub(crate) site: Site,
}

impl Plant {
    /// Routers (name, edge, pools) and an installation that polls them.
    pub(crate) fn new(routers: &[(&'static str, &'static str, &[Pool])]) -> Self {
        Self::with(routers, |text| text)
    }

    /// The same with another configuration.
    pub(crate) fn with(
        routers: &[(&'static str, &'static str, &[Pool])],
        change: impl Fn(String) -> String,
    ) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let mut running = BTreeMap::new();
        let mut lines = Vec::new();
        for (name, edge, pools) in routers {
            let agent = runtime.block_on(start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), pools));
            lines.push((*name, agent.address(), *edge));
            running.insert(*name, (agent.address(), Some(agent)));
        }
        let site = Site::new(Scratch::new(), &change(configuration(&lines)));
        Self { runtime: Some(runtime), routers: running, site }
    }

    /// What a router lists from now on.
    pub(crate) fn set(&self, router: &str, pools: &[Pool]) {
        self.set_used(router, pools, 0);
    }

    /// The same, with addresses in use.
    pub(crate) fn set_used(&self, router: &str, pools: &[Pool], used: u32) {
        let agent = self.routers[router].1.as_ref().unwrap();
        agent.replace(junose::COMMUNITY, walk(pools, used));
    }

    /// What a router says from now on, all of it.
    pub(crate) fn set_recording(&self, router: &str, recording: Recording) {
        self.routers[router].1.as_ref().unwrap().replace(junose::COMMUNITY, recording);
    }

    /// Who a router says it is from now on, besides what it lists.
    pub(crate) fn name(&self, router: &str, sys_name: &str, pools: &[Pool]) {
        let named = format!("1.3.6.1.2.1.1.5.0|4|{sys_name}\n");
        let agent = self.routers[router].1.as_ref().unwrap();
        agent.replace(junose::COMMUNITY, Recording::parse(&text(pools, 0, &named)).unwrap());
    }

    /// Where a router answers.
    pub(crate) fn address(&self, router: &str) -> SocketAddr {
        self.routers[router].0
    }

    /// A router that answers no more.
    pub(crate) fn silence(&mut self, router: &str) {
        let agent = self.routers.get_mut(router).unwrap().1.take();
        self.runtime.as_ref().unwrap().block_on(async { drop(agent) });
    }

    /// A router that answers again.
    pub(crate) fn wake(&mut self, router: &str, pools: &[Pool]) {
        let slot = self.routers.get_mut(router).unwrap();
        slot.1 = Some(self.runtime.as_ref().unwrap().block_on(start(slot.0, pools)));
    }

    /// Runs a command.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.site.run(args)
    }

    /// Runs a command that ends with a code, and gives its JSON.
    #[track_caller]
    pub(crate) fn json(&self, code: i32, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        self.run(&all).expect(code).json()
    }

    /// The published entries as `first-last BAS`.
    #[track_caller]
    pub(crate) fn entries(&self) -> Vec<String> {
        self.site.entries()
    }

    /// Which group and edges answer an address, as `group: edge edge`.
    #[track_caller]
    pub(crate) fn answer(&self, ip: &str) -> String {
        let found = &self.json(0, &["lookup", ip])[0];
        let edges: Vec<&str> = found["edges"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        format!("{}: {}", found["group"].as_str().unwrap(), edges.join(" "))
    }

    /// What `status` says.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.json(0, &["status"])
    }

    /// Starts the daemon, and waits until it has published.
    pub(crate) fn daemon(&self) -> Program {
        let log = self.site.scratch.join("daemon.log");
        let mut daemon = crate::support::poolsync::daemon(&self.site.config, &log);
        daemon.wait_ready("an answer", || {
            let status = self.run(&["status", "--json"]);
            status.code == Some(0) && status.json()["running"] == true && status.json()["filled"] == true
        });
        daemon
    }
}

impl Drop for Plant {
    /// Also within another runtime, which must not wait.
    fn drop(&mut self) {
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

async fn start(address: SocketAddr, pools: &[Pool]) -> ReplayAgent {
    ReplayAgent::start(address, vec![(junose::COMMUNITY.to_owned(), walk(pools, 0))]).await.unwrap()
}
