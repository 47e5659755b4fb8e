//! A Cisco router whose pools a test sets: poolsync's own replay agent on loopback, serving
//! the rows of a file. Ranges of both families, which may overlap each other.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use poolsync::snmp::{Recording, ReplayAgent};
use tokio::runtime::Runtime;

use super::scratch::Scratch;
use super::snmprec::Range;

/// The community that it answers to.
pub const COMMUNITY: &str = "public";

const POOLS: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1";

/// A running router.
pub struct Router {
    agent: ReplayAgent,
    rows: PathBuf,
    _runtime: Runtime,
}

impl Router {
    /// Starts a router with these pools.
    pub fn start(scratch: &Scratch, name: &str, pools: &[Range]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let rows = scratch.write(&format!("{name}.snmprec"), table(name, pools));
        let recording = Recording::parse(&std::fs::read_to_string(&rows).unwrap()).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let start = ReplayAgent::start(address, vec![(COMMUNITY.to_owned(), recording)]);
        let agent = runtime.block_on(start).unwrap();
        Self { agent, rows, _runtime: runtime }
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.agent.address()
    }

    /// The file of its rows.
    pub fn rows(&self) -> &PathBuf {
        &self.rows
    }

    /// Replaces its pools in one step.
    pub fn set(&self, name: &str, pools: &[Range]) {
        let text = table(name, pools);
        std::fs::write(&self.rows, &text).unwrap();
        self.agent.replace(COMMUNITY, Recording::parse(&text).unwrap());
    }
}

/// The rows of its pool table: name and start in the index, end, free, used, group, status.
fn table(name: &str, pools: &[Range]) -> String {
    let mut columns = [const { String::new() }; 5];
    for pool in pools {
        let mut index = pool.pool.len().to_string();
        for octet in pool.pool.bytes() {
            write!(index, ".{octet}").unwrap();
        }
        let (kind, first) = octets(pool.first);
        write!(index, ".{kind}.{}", first.len()).unwrap();
        for octet in first {
            write!(index, ".{octet}").unwrap();
        }
        let end: String = octets(pool.last).1.iter().map(|octet| format!("{octet:02x}")).collect();
        let cells = [format!("4|4x|{end}"), "5|66|0".into(), "6|66|0".into(), "7|4|".into(), "8|2|1".into()];
        for (column, cell) in columns.iter_mut().zip(cells) {
            let (arc, value) = cell.split_once('|').unwrap();
            writeln!(column, "{POOLS}.{arc}.{index}|{value}").unwrap();
        }
    }
    format!(
        "1.3.6.1.2.1.1.1.0|4|Cisco IOS Software, ASR1000 Software\n\
         1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.9.1.2093\n1.3.6.1.2.1.1.3.0|67|123456789\n\
         1.3.6.1.2.1.1.5.0|4|{name}\n1.3.6.1.4.1.9.9.326.1.1.1.0|2|2\n{}",
        columns.concat()
    )
}

/// An address's type by InetAddressType (RFC 4001), and its octets.
fn octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(v4) => (1, v4.octets().to_vec()),
        IpAddr::V6(v6) => (2, v6.octets().to_vec()),
    }
}
