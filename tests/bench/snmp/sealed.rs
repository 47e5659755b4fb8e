//! Agents of SNMPv3: the library's own replay agents, a socket each, with one user whose keys
//! were made before they serve.

use std::io::Read as _;
use std::sync::Arc;

use poolsync::snmp::{Context, Oid, Recording, ReplayAgent, ReplayEngine, Value};

use crate::options::Options;
use crate::user::user;
use crate::wire::{ENTRY, OBJECT_ID, SYSTEM, place};

fn recording(rows: u32) -> Recording {
    let system = |arc: u32, value| (Oid::new(SYSTEM).child(&[arc, 0]), value);
    let mut objects = vec![
        system(1, Value::Octets(b"simulated router".to_vec())),
        system(2, Value::ObjectId(Oid::new(OBJECT_ID))),
        system(3, Value::TimeTicks(123_456)),
        system(5, Value::Octets(b"sim".to_vec())),
        (Oid::new([1, 3, 6, 1, 4, 1, 4874, 2, 2, 40, 1, 0]), Value::Integer(1)),
    ];
    for row in 1..=rows {
        let first = 0x1000_0000 + (row << 8);
        let cells = [
            Value::Integer(1),
            Value::Octets(format!("pool-{row:06}").into_bytes()),
            Value::IpAddress(first.to_be_bytes().to_vec()),
            Value::IpAddress((first | 0xff).to_be_bytes().to_vec()),
            Value::Integer(256),
        ];
        objects
            .extend((2..).zip(cells).map(|(column, value)| (Oid::new(ENTRY).child(&[column, row]), value)));
    }
    Recording::from_objects(objects)
}

pub(crate) fn serve(options: &Options) {
    let count: usize = options.get("n", 1_000);
    let mut port = options.get("port", 0);
    let recording = Arc::new(recording(options.get("rows", 50)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let first = ReplayEngine::new(*b"\x80\x00\x1f\x88\x04first", vec![user()]).await.unwrap();
        let mut agents = Vec::new();
        for agent in 0..count {
            let id = [&b"\x80\x00\x1f\x88\x04"[..], format!("sim{agent:05}").as_bytes()].concat();
            let engine = first.another(id).await.unwrap();
            let engine = engine.serving(Context::default(), Arc::clone(&recording)).at(7, 86_400);
            let agent = ReplayAgent::start_v3(place(agent, port).into(), engine).await.unwrap();
            port = agent.address().port();
            agent.set_max_octets(65_507);
            agents.push(agent);
        }
        println!("ready {port}");
        let ended = || std::io::stdin().read_to_end(&mut Vec::new());
        let _ = tokio::task::spawn_blocking(ended).await;
    });
}
