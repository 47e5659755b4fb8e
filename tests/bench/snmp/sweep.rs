//! poolsync's own sweep: every agent polled through `poolsync::poll`, detection, sysUpTime
//! first and last and decoding to ranges included.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use poolsync::mib::Library;
use poolsync::poll::{
    Choice, Filter, Polled, Remembered, RememberedTable, Request, Running, Spaces, State, talk,
};
use poolsync::snmp::{Context, Credentials, Limits, Reach, Secret, Target, Transport};
use poolsync::table::Engine;

use crate::options::Options;
use crate::usage::Meter;
use crate::wire::place;

/// The one table that the agents have.
const DESCRIPTOR: &str = r#"
name = "juniper-junose"
vendor = "Simulated router"
[detect]
sys-object-id = ["1.3.6.1.4.1.4874.1.1.1"]
[[table]]
name = "pools"
mib = "juniAddressPoolTable"
entry = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1"
index = [{ name = "pool", type = "integer" }]
[table.columns]
status = { number = 2, type = "row-status" }
name = { number = 3, type = "text" }
start = { number = 4, type = "ip-address" }
end = { number = 5, type = "ip-address" }
size = { number = 6, type = "count" }
[table.ranges]
start = "start"
end = "end"
pool = "name"
size = "size"
"#;

pub(crate) fn run(options: &Options) {
    let threads = options.get("threads", 2);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    // On a worker, as the service has it, which takes in what the transport's own thread polls.
    let sweeps = sweeps(options.clone());
    runtime.unwrap().block_on(async { tokio::spawn(sweeps).await.unwrap() });
}

/// As many sweeps as asked for, each told on a line of its own; what one learnt, the next
/// goes on from: also who is dead, of whom the one before heard nothing until its end.
async fn sweeps(options: Options) {
    let count: usize = options.get("n", 1_000);
    let dead: usize = options.get("dead", 0);
    let port: u16 = options.get("port", 22_000);
    let concurrency: usize = options.get("concurrency", 256);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("junose.toml"), DESCRIPTOR).unwrap();
    let library = match options.get("descriptor", "simulated".to_owned()).as_str() {
        "simulated" => Library::built_in().with_folder(folder.path()).unwrap(),
        _ => Library::built_in(),
    };
    let library = Arc::new(library);
    let transport = Transport::apart().unwrap().limited(concurrency);
    let mut remembered = vec![(Remembered::default(), None); count + dead];
    let mut silent = vec![false; count + dead];
    let turns = options.get("sweeps", 1);
    for turn in 0..turns {
        let meter = Meter::start();
        let mut running = Running::on(transport.runtime());
        // Dead ones stand between the live ones, as in any fleet.
        for place in 0..count + dead {
            let agent = if dead == count { place / 2 + place % 2 * count } else { place };
            let (memory, engine) = remembered[agent].clone();
            let request = Box::new(request(&options, agent, port, &library, memory, engine));
            let transport = transport.clone();
            let poll = async move { (agent, talk(&transport, request).await) };
            if silent[agent] { running.spawn_behind(poll) } else { running.spawn(poll) }
        }
        let (mut ranges, mut requests, mut alive, mut most) = (0, 0, 0, 0);
        while let Some(talked) = running.next().await {
            let (agent, talked) = talked.unwrap();
            let polled = talked.judged();
            requests += u64::from(polled.cost.requests);
            most = most.max(polled.cost.requests);
            if agent < count {
                assert_eq!(polled.state, State::Complete, "{polled:?}");
                ranges += polled.ranges().count() as u64;
                alive += 1;
                remembered[agent] = (learnt(&polled), polled.engine.clone());
            }
            if alive == count {
                break;
            }
        }
        let name = if turn == 0 { "first" } else { "learnt" };
        meter.tell(name, ranges, requests);
        println!("most {name} {most}");
        // Outside of what is measured: that a router is silent is known when its pause ends.
        while turn + 1 < turns
            && let Some(polled) = running.next().await
        {
            silent[polled.unwrap().0] = true;
        }
    }
}

fn request(
    options: &Options,
    agent: usize,
    port: u16,
    library: &Arc<Library>,
    remembered: Remembered,
    engine: Option<Engine>,
) -> Request {
    let credentials = match options.get("version", 2) {
        3 => Credentials::V3(crate::user::user()),
        _ => Credentials::V2c(Secret::new("public")),
    };
    let limits = Limits {
        timeout: Duration::from_millis(options.get("timeout-ms", 2_000)),
        retries: options.get("retries", Limits::default().retries),
        max_rows: 1_000_000,
        ..Limits::default()
    };
    Request {
        name: format!("bas-{agent}").into(),
        target: Target {
            address: place(agent, port).into(),
            credentials,
            limits,
            engine,
            reach: Reach::default(),
        },
        context: Context::default(),
        community_contexts: false,
        choice: Choice::Auto(Arc::clone(library)),
        remembered,
        encoding: None,
        group_as_vrf: None,
        filter: Filter::default(),
        spaces: Arc::new(Spaces::new(vec![("internet".into(), vec!["".into()])])),
        now: Timestamp::now(),
    }
}

/// What the store would remember of a poll.
fn learnt(polled: &Polled) -> Remembered {
    let tables = polled.tables.iter().map(|result| {
        let table =
            RememberedTable { had_rows: result.rows > 0, rows: result.rows, repetitions: result.repetitions };
        (result.table.name.clone(), table)
    });
    Remembered { detection: polled.detection.clone(), tables: tables.collect(), booted: polled.booted }
}
