//! The way of one BAS's change, from what a poll found to what a real Knot answers: build,
//! difference, commit, publication (no batch is waited for).

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use jiff::Timestamp;
use poolsync::address::Range;
use poolsync::format::by_name;
use poolsync::format::groups::groups_by_name;
use poolsync::publish::{Argv, Canary, Clock, Export, GroupsFile, Publisher, Query, Report, State};
use poolsync::store::{Acts, Commit, Store};
use poolsync::table::{
    BuildRules, Change, Claim, Claimants, Class, GuardMemory, Ledger, Name, PoolName, Snapshot, Table,
    Touched, diff,
};
use tokio::sync::mpsc;

use crate::{BASES, Error, cpu, cpu_of_commands, runtime};

/// A running Knot.
struct Knot(Child);

impl Drop for Knot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A fleet that lists what it is told to.
struct Told(BTreeMap<Name, Vec<Claim>>);

impl Told {
    fn new(rows: &[(IpNet, usize)]) -> Self {
        let names: Vec<Name> = (0..BASES).map(|bas| Name::from(format!("bas-{bas:05}"))).collect();
        let (space, vrf, pool) = (Name::from("internet"), Name::default(), PoolName::new(b"pool"));
        let mut bases: BTreeMap<Name, Vec<Claim>> = BTreeMap::new();
        for (net, bas) in rows {
            let (range, name) = (Range::from(*net), &names[*bas]);
            bases.entry(name.clone()).or_default().push(Claim {
                space: space.clone(),
                range,
                whole: range,
                owner: name.clone(),
                bas: Some(name.clone()),
                pool: pool.clone(),
                vrf: vrf.clone(),
                priority: 0,
                class: Class::Fresh,
            });
        }
        Self(bases)
    }

    /// Every other range of a BAS gives way to its half.
    fn halve(&mut self, bas: &Name) -> Touched {
        let mut touched = Touched { bases: [bas.clone()].into(), ranges: Vec::new() };
        for claim in self.0.get_mut(bas).into_iter().flatten().step_by(2) {
            let (first, span) = (claim.range.first_bits(), claim.range.span());
            let Some(half) = Range::from_bits(claim.range.family(), first, first + span / 2) else {
                continue;
            };
            touched.ranges.extend([claim.range, half].map(|range| (claim.space.clone(), range)));
            (claim.range, claim.whole) = (half, half);
        }
        touched
    }
}

impl Claimants for Told {
    fn all(&self) -> Vec<Claim> {
        self.0.values().flatten().cloned().collect()
    }

    fn of_bas(&self, bas: &Name) -> Vec<Claim> {
        self.0.get(bas).cloned().unwrap_or_default()
    }

    fn of_lines(&self, _: &Name, _: Range) -> Vec<Claim> {
        Vec::new()
    }
}

/// Ten changes, one after the other.
pub(crate) fn measure(rows: &[(IpNet, usize)], first: &Snapshot, folder: &Path) -> Result<(), Error> {
    let Some(knotd) = ["/usr/sbin/knotd", "/usr/bin/knotd"].into_iter().find(|path| Path::new(path).exists())
    else {
        println!("\nSKIPPED: no Knot here (packages knot, knot-module-geoip): its part is left out");
        return Ok(());
    };
    let folder = std::fs::canonicalize(folder)?;
    let port = UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port();
    configure(&folder, port)?;
    let mut told = Told::new(rows);
    let mut ledger = Ledger::new(&told, &Table::default(), &BuildRules::default());
    let mut snapshot = Snapshot { table: Arc::new(ledger.table().clone()), ..first.clone() };
    let runtime = runtime()?;
    let mut store = runtime.block_on(Store::open(&folder.join("poolsync.db"), Default::default()))?;
    runtime.block_on(commit(&mut store, &diff(&Table::default(), &snapshot.table)))?;

    let mut export = export(&folder)?;
    let (sender, mut reports) = mpsc::channel(16);
    let clock: Clock = Arc::new(Timestamp::now);
    let entered = runtime.enter();
    let mut publisher = Publisher::start([export.clone()], &clock, &sender);
    publisher.offer(Arc::new(snapshot.clone()));
    runtime.block_on(published(&mut reports))?;
    let config = folder.join("knot.conf").display().to_string();
    let quiet = || Stdio::null();
    let _knot = Knot(Command::new(knotd).args(["-c", &config]).stdout(quiet()).stderr(quiet()).spawn()?);
    let reload =
        || Command::new("knotc").args(["-c", &config, "reload"]).stdout(quiet()).stderr(quiet()).status();
    let begun = Instant::now();
    while !reload()?.success() {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err("Knot does not start".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let checker = ["mmdblookup", "--file", "{file}", "--ip", "192.0.2.1"];
    export.check = Some(Argv::checker(checker.map(str::to_owned).into())?);
    export.reload = Some(Argv::new(vec!["knotc".into(), "-c".into(), config.clone(), "reload".into()])?);
    export.canary = Some(Canary::new(Query::Dns(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))));
    publisher.set([export]);
    println!(
        "\na change of one BAS until Knot answers anew: built, committed, rendered, proven, fsync, checked, reloaded, asked"
    );
    let (mut all, mut before, mut work, mut others) = (vec![], vec![], vec![], vec![]);
    for generation in 2..12_u64 {
        let name = Name::from(format!("bas-{:05}", generation as usize * 613 % BASES));
        let touched = told.halve(&name);
        let (begun, used, commands) = (Instant::now(), cpu(), cpu_of_commands());
        ledger.update(&touched, &told, &snapshot.table);
        let table = Arc::new(ledger.table().clone());
        let changes = diff(&snapshot.table, &table);
        if changes.is_empty() {
            return Err("nothing has changed".into());
        }
        runtime.block_on(commit(&mut store, &changes))?;
        before.push(begun.elapsed().as_secs_f64());
        snapshot = Snapshot { table, generation, committed: Timestamp::now(), ..snapshot };
        publisher.offer(Arc::new(snapshot.clone()));
        runtime.block_on(published(&mut reports))?;
        all.push(begun.elapsed().as_secs_f64());
        work.push(cpu() - used);
        others.push(cpu_of_commands() - commands);
    }
    println!("  {all:.3?}");
    println!(
        "  median of ten {:.3} s, of it build and commit {:.3} s",
        median(&mut all),
        median(&mut before)
    );
    println!("  processor time {:.3} s, of the commands {:.3} s", median(&mut work), median(&mut others));
    let mut alone: Vec<f64> = Vec::new();
    for _ in 0..10 {
        let begun = Instant::now();
        reload()?;
        alone.push(begun.elapsed().as_secs_f64());
    }
    println!("  knotc reload alone {:.3} s", median(&mut alone));
    runtime.block_on(publisher.stop());
    drop(entered);
    Ok(())
}

fn configure(folder: &Path, port: u16) -> Result<(), Error> {
    std::fs::write(
        folder.join("example.com.zone"),
        "@ 60 SOA ns1 h 1 3600 600 86400 60\n@ 60 NS ns1\nns1 60 A 192.0.2.53\n",
    )?;
    std::fs::write(
        folder.join("knot.conf"),
        format!(
            "server:\n    listen: 127.0.0.1@{port}\n    rundir: {0}\n    edns-client-subnet: on\n\
             database:\n    storage: {0}\n\
             mod-geoip:\n  - id: gslb\n    config-file: {0}/geo.conf\n    ttl: 30\n    mode: geodb\n    geodb-file: {0}/gslb.mmdb\n    geodb-key: [ edge ]\n\
             zone:\n  - domain: example.com\n    storage: {0}\n    file: example.com.zone\n    module: mod-geoip/gslb\n",
            folder.display()
        ),
    )?;
    Ok(())
}

fn export(folder: &Path) -> Result<Export, Error> {
    let mut export = Export::new("dns", by_name("mmdb")?, folder.join("gslb.mmdb"));
    export.groups = Some(GroupsFile { format: groups_by_name("knot")?, path: folder.join("geo.conf") });
    export.context.name = Some("cdn.example.com".parse()?);
    Ok(export)
}

async fn commit(store: &mut Store, changes: &[Change]) -> Result<(), Error> {
    let guard = GuardMemory::default();
    let commit = Commit {
        at: Timestamp::now(),
        changes,
        groups: None,
        memories: &[],
        guard: &guard,
        filled: true,
        steering: None,
        acts: Acts::default(),
    };
    store.commit(commit).await?;
    Ok(())
}

/// Waits until something was published.
async fn published(reports: &mut mpsc::Receiver<Report>) -> Result<(), Error> {
    loop {
        let report = reports.recv().await.ok_or("the publisher has ended")?;
        match report.published.map(|published| published.state) {
            Some(State::Published(_)) => return Ok(()),
            Some(other) => return Err(format!("not published: {other:?}").into()),
            None => {}
        }
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
