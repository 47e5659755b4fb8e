//! Edges that tell their load over HTTP as JSON: a base of others, and their share of a
//! traffic by the weights that are published. An edge may fall silent.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

/// One edge.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its address, as the groups file has it.
    pub address: &'static str,
    /// What it carries for others.
    pub base: f64,
    /// What it can carry.
    pub capacity: f64,
    /// Its delay.
    pub p95_ms: f64,
    /// Whether it does not answer.
    pub silent: bool,
}

struct State {
    edges: BTreeMap<&'static str, Edge>,
    demand: f64,
    zone: PathBuf,
}

/// The server of all of them; it ends with the test's process.
pub struct Loads {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Loads {
    /// Serves edges, whose shares of `demand` follow from the weights in a PowerDNS zone file.
    pub fn start(edges: &[(&'static str, Edge)], demand: f64, zone: PathBuf) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { edges: edges.iter().copied().collect(), demand, zone };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever asked may have left.
                let _ = answer(&stream, &shared);
            }
        });
        Self { address, state }
    }

    /// Where an edge is asked.
    pub fn url(&self, edge: &str) -> String {
        format!("http://{}/{edge}", self.address)
    }

    /// Changes an edge.
    pub fn change(&self, edge: &str, change: impl FnOnce(&mut Edge)) {
        change(self.state.lock().unwrap().edges.get_mut(edge).unwrap());
    }
}

fn answer(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let state = state.lock().unwrap();
    let path = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let Some(edge) = state.edges.get(path.as_str()).filter(|edge| !edge.silent) else { return Ok(()) };
    let load = edge.base + state.demand * share(&state.zone, edge.address);
    let body = format!(
        "{{\"traffic\": {{\"now\": {load}, \"most\": {}}}, \"p95\": {}}}",
        edge.capacity,
        edge.p95_ms / 1000.0
    );
    let mut stream = stream;
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// An address's part of the weights of all groups in which it stands with others.
fn share(zone: &PathBuf, address: &str) -> f64 {
    let text = std::fs::read_to_string(zone).unwrap_or_default();
    let (mut own, mut all) = (0.0, 0.0);
    for line in text.lines() {
        let weighted =
            line.trim_start().strip_prefix("- a: {content: \"").and_then(|rest| rest.strip_suffix('}'));
        let Some((content, weight)) = weighted.and_then(|rest| rest.split_once("\", weight: ")) else {
            continue;
        };
        let weight: f64 = weight.parse().unwrap();
        all += weight;
        if content == address {
            own += weight;
        }
    }
    if all > 0.0 { own / all } else { 0.0 }
}
