//! `demo`: the whole way on an embedded example. Five replay agents play routers of five
//! vendors; everything else is the real thing.

mod first_day;

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::args::DemoArgs;
use super::exit::Exit;
use super::output::{Report, print};
use super::poll::poll;
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{bold, counted};
use crate::cycle::shapes::{HeldShape, LookupShape, PollShape, StatusShape};
use crate::cycle::{Cycle, LookupRequest, PollRequest};
use crate::snmp::{Recording, ReplayAgent};

/// One of the demo's routers.
struct Router {
    name: &'static str,
    edges: &'static str,
    walk: &'static str,
}

const ROUTERS: &[Router] = &[
    Router { name: "bng-north-1", edges: r#"["edge-north"]"#, walk: include_str!("demo/juniper.snmprec") },
    Router {
        name: "bng-east-1",
        edges: r#"["edge-east", "edge-north"]"#,
        walk: include_str!("demo/huawei.snmprec"),
    },
    Router { name: "bng-south-1", edges: r#"["edge-south"]"#, walk: include_str!("demo/cisco.snmprec") },
    Router { name: "bng-west-1", edges: r#"["edge-west"]"#, walk: include_str!("demo/zte.snmprec") },
    Router { name: "bng-centre-1", edges: r#"["edge-east"]"#, walk: include_str!("demo/flexbng.snmprec") },
];

/// Which router gets a pool more in the second act, and which loses all in the third.
const GROWS: usize = 3;
const EMPTIES: usize = 4;

/// Viewers whose addresses are looked up: of each router, and of nobody.
const VIEWERS: &[&str] = &[
    "198.18.9.7",
    "198.18.64.2",
    "198.18.147.254",
    "2001:db8:1042::1",
    "198.18.224.9",
    "198.19.9.1",
    "203.0.113.5",
];

const COMMUNITY: &str = "demo";

/// What the demo did.
#[derive(Debug, Serialize)]
struct Demo {
    folder: PathBuf,
    first: PollShape,
    status: StatusShape,
    lookups: Vec<LookupShape>,
    grown: PollShape,
    grown_lookups: Vec<LookupShape>,
    emptied: PollShape,
    held: Vec<HeldShape>,
    emptied_lookups: Vec<LookupShape>,
}

/// Runs `demo`.
pub(crate) async fn run(args: &DemoArgs, json: bool) -> Result<Exit, Stop> {
    let folder = folder(args)?;
    let agents = start().await?;
    write_secret(&folder.join("community"), COMMUNITY)?;
    write(&folder.join("config.toml"), &configuration(&agents))?;
    write(&folder.join("old-table.csv"), first_day::OLD_TABLE)?;
    write(&folder.join("viewers.log"), &first_day::log())?;
    let site = Site::load(&folder.join("config.toml"), Secrets::Needed)?;
    let mut cycle =
        Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await?;
    let told = act(&mut cycle, &site, &agents, folder).await;
    cycle.close().await?;
    print(&told?, json);
    Ok(Exit::Ok)
}

/// The three acts: read everything; a pool more; a router that has lost its pools.
async fn act(cycle: &mut Cycle, site: &Site, agents: &[ReplayAgent], folder: PathBuf) -> Result<Demo, Stop> {
    let everything = PollRequest::default();
    let first = poll(cycle, site, &everything).await?;
    let status = cycle.state().status(false, Timestamp::now());
    let lookups = lookups(cycle)?;
    replace(agents, GROWS, grown)?;
    let grown = poll(cycle, site, &everything).await?;
    let grown_lookups = self::lookups(cycle)?;
    replace(agents, EMPTIES, emptied)?;
    let emptied = poll(cycle, site, &everything).await?;
    let emptied_lookups = self::lookups(cycle)?;
    let held = cycle.state().held();
    Ok(Demo { folder, first, status, lookups, grown, grown_lookups, emptied, held, emptied_lookups })
}

fn folder(args: &DemoArgs) -> Result<PathBuf, Stop> {
    let failed = |e: std::io::Error| Stop::failed(format!("no folder for the demo: {e}"));
    let folder = match &args.folder {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(failed)?;
            std::path::absolute(folder).map_err(failed)?
        }
        None => tempfile::Builder::new().prefix("poolsync-demo-").tempdir().map_err(failed)?.keep(),
    };
    std::fs::create_dir_all(folder.join("export")).map_err(failed)?;
    Ok(folder)
}

async fn start() -> Result<Vec<ReplayAgent>, Stop> {
    let mut agents = Vec::new();
    for router in ROUTERS {
        let served = vec![(COMMUNITY.to_owned(), recording(router.walk)?)];
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let agent = ReplayAgent::start(anywhere, served).await;
        agents.push(agent.map_err(|e| Stop::failed(format!("no replay agent can be started: {e}")))?);
    }
    Ok(agents)
}

fn recording(walk: &str) -> Result<Recording, Stop> {
    Recording::parse(walk).map_err(|e| Stop::failed(format!("an embedded walk is broken: {e}")))
}

fn replace(agents: &[ReplayAgent], place: usize, change: impl Fn(&str) -> String) -> Result<(), Stop> {
    if let (Some(agent), Some(router)) = (agents.get(place), ROUTERS.get(place)) {
        agent.replace(COMMUNITY, recording(&change(router.walk))?);
    }
    Ok(())
}

/// The ZTE walk with one pool more: iptv-west gets 198.18.224.0/24.
fn grown(walk: &str) -> String {
    let copied = walk
        .lines()
        .filter(|line| line.contains("198.18.208.0.198.18.208.255"))
        .map(|line| line.replace("198.18.208.", "198.18.224."));
    let mut text = walk.to_owned();
    for line in copied {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The walk without any section: the router answers, and lists no range.
fn emptied(walk: &str) -> String {
    const SECTIONS: &str = "1.3.6.1.4.1.54268.1.1.2.2.1.";
    walk.lines().filter(|line| !line.starts_with(SECTIONS)).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

fn lookups(cycle: &Cycle) -> Result<Vec<LookupShape>, Stop> {
    let ips: Vec<IpAddr> = VIEWERS.iter().filter_map(|viewer| viewer.parse().ok()).collect();
    let request = LookupRequest {
        ips,
        space: "internet".to_owned(),
        service: "default".to_owned(),
        at: None,
        generation: None,
    };
    Ok(cycle.state().lookup(&request)?)
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(|e| Stop::failed(format!("{}: {e}", path.display())))
}

/// Writes what only the owner may read.
fn write_secret(path: &Path, text: &str) -> Result<(), Stop> {
    let failed = |e: std::io::Error| Stop::failed(format!("{}: {e}", path.display()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn configuration(agents: &[ReplayAgent]) -> String {
    let mut text = String::from(
        r#"# Written by `poolsync demo`. Its routers live only as long as the demo runs.
default-edge = "edge-centre"

[store]
path = "poolsync.db"

[guard]
ignore-below = 16        # the demo's fleet is small

[snmp.demo]
version = "2c"
community = { file = "community" }

[export.dns]             # Knot, PowerDNS, BIND, gdnsd, nginx, CoreDNS, Envoy
format = "mmdb"
path = "export/gslb.mmdb"
name = "cdn.example.net"
groups = { format = "knot", path = "export/geo.conf" }

[export.nginx]
format = "nginx-geo"
path = "export/nginx-geo.conf"
groups = { format = "nginx-map", path = "export/nginx-map.conf" }

[export.haproxy]
format = "haproxy-map"
path = "export/edges.map"

[export.table]
format = "csv"
path = "export/table.csv"

[export.json]
format = "json"
path = "export/table.json"
"#,
    );
    for (edge, host) in [("centre", 1), ("north", 10), ("east", 20), ("south", 30), ("west", 40)] {
        let _ = write!(
            text,
            "\n[edge.edge-{edge}]\naddresses = [\"198.51.100.{host}\", \"2001:db8:ffff::{host}\"]\n\
             host = \"edge-{edge}.cdn.example.net\"\n"
        );
    }
    for (router, agent) in ROUTERS.iter().zip(agents) {
        let _ = write!(
            text,
            "\n[bas.{}]\naddress = \"{}\"\nsnmp = \"demo\"\nedges = {}\n",
            router.name,
            agent.address(),
            router.edges
        );
    }
    text
}

impl Report for Demo {
    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}\n",
            bold("1. Five routers of five vendors are read by SNMP, and their pools make a table")
        );
        text.push_str(&self.first.text());
        let _ = writeln!(text, "\n{}\n", bold("2. What a GSLB finds in it"));
        text.push_str(&self.lookups.text());
        let _ = writeln!(text, "\n{}\n", bold("3. bng-west-1 gets a pool more; the next poll brings it in"));
        text.push_str(&self.grown.text());
        text.push('\n');
        text.push_str(&changed(&self.lookups, &self.grown_lookups));
        let _ = writeln!(
            text,
            "\n{}\n",
            bold(
                "4. bng-centre-1 answers without a single pool: its addresses stay published until somebody approves"
            )
        );
        text.push_str(&self.held.text());
        text.push('\n');
        text.push_str(&changed(&self.grown_lookups, &self.emptied_lookups));
        text.push_str(&next(&self.folder));
        text
    }
}

/// The lookups that are answered otherwise than before.
fn changed(before: &[LookupShape], after: &[LookupShape]) -> String {
    let other: Vec<LookupShape> =
        after.iter().zip(before).filter(|(a, b)| a != b).map(|(a, _)| a.clone()).collect();
    if other.is_empty() {
        return format!("all {} are answered as before\n", counted(after.len(), "lookup", "lookups"));
    }
    format!("answered otherwise than before:\n{}", other.text())
}

fn next(folder: &Path) -> String {
    let at = folder.display();
    format!(
        "\n{}\n\n\
         {at}/export          what consumers read: MMDB, Knot, nginx, HAProxy, CSV, JSON\n\
         {at}/config.toml     the configuration; the store lies beside it\n\
         {at}/old-table.csv   a table kept by hand, and viewers.log, a day of an edge\n\n\
         poolsync -c {at}/config.toml status\n\
         poolsync -c {at}/config.toml held show 1\n\
         poolsync -c {at}/config.toml held approve 1\n\
         poolsync -c {at}/config.toml lookup 198.18.9.7\n\
         poolsync -c {at}/config.toml diff --against {at}/old-table.csv\n\
         poolsync -c {at}/config.toml coverage {at}/viewers.log --against {at}/old-table.csv\n\n\
         The first real router needs no configuration:\n\
         COMMUNITY=... poolsync walk ADDRESS --community-env COMMUNITY\n",
        bold("5. What there is now, and what to do next")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_act_adds_one_row_and_the_third_takes_all_sections() {
        let west = ROUTERS[GROWS].walk;
        assert_eq!(
            recording(&grown(west)).unwrap().objects().len(),
            recording(west).unwrap().objects().len() + 10
        );
        let centre = ROUTERS[EMPTIES].walk;
        assert_eq!(
            recording(&emptied(centre)).unwrap().objects().len(),
            recording(centre).unwrap().objects().len() - 15
        );
    }
}
