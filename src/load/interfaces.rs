//! Octet counters of interfaces by SNMP: IF-MIB's ifXTable (RFC 2863).

use jiff::Timestamp;

use super::counter::Octets;
use super::error::LoadError;
use crate::snmp::{Context, Failure, Oid, Outcome, Session, Value};

const SYS_UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
const IF_X_ENTRY: [u32; 10] = [1, 3, 6, 1, 2, 1, 31, 1, 1, 1];
const IF_NAME: u32 = 1;
const IF_HC_IN_OCTETS: u32 = 6;
const IF_HC_OUT_OCTETS: u32 = 10;
const IF_HIGH_SPEED: u32 = 15;
const IF_COUNTER_DISCONTINUITY_TIME: u32 = 19;

/// Which interfaces are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interfaces {
    /// By ifIndex.
    Indexes(Vec<u32>),
    /// By ifName; asked for each time, since a restart may give other indexes.
    Names(Vec<String>),
}

/// Which way is counted, as the device sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Sent: what an edge delivers, on its own interfaces.
    #[default]
    Out,
    /// Received: what an edge delivers, on the port of the switch before it.
    In,
}

/// What was read of a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    pub(super) octets: Octets,
    /// The speed of all interfaces, in bits per second; none where one does not tell it.
    pub(super) speed: Option<f64>,
}

/// Reads the counters.
pub(super) async fn read(
    session: &mut Session,
    interfaces: &Interfaces,
    direction: Direction,
    now: Timestamp,
) -> Result<Counted, LoadError> {
    let indexes = match interfaces {
        Interfaces::Indexes(indexes) => indexes.clone(),
        Interfaces::Names(names) => indexes_of(session, names).await?,
    };
    let column = match direction {
        Direction::Out => IF_HC_OUT_OCTETS,
        Direction::In => IF_HC_IN_OCTETS,
    };
    let entry = Oid::new(IF_X_ENTRY);
    let mut oids = vec![Oid::new(SYS_UP_TIME)];
    for column in [column, IF_HIGH_SPEED, IF_COUNTER_DISCONTINUITY_TIME] {
        oids.extend(indexes.iter().map(|index| entry.child(&[column, *index])));
    }
    let values = session.get(&Context::default(), &oids).await.map_err(|failure| snmp(&failure))?;
    decode(&indexes, &values, now)
}

/// The answers: sysUpTime, then counters, speeds and times of discontinuity.
fn decode(indexes: &[u32], values: &[Value], now: Timestamp) -> Result<Counted, LoadError> {
    let count = indexes.len();
    let (up_time, rest) = values.split_first().unzip();
    let mut columns = rest.unwrap_or_default().chunks(count.max(1));
    let counters = columns.next().unwrap_or_default();
    let mut octets = Vec::new();
    for (place, index) in indexes.iter().enumerate() {
        match counters.get(place) {
            Some(Value::Counter64(value)) => octets.push((*index, *value)),
            other => {
                let detail = format!("no 64-bit octet counter, but {other:?}");
                return Err(LoadError::Interface { name: index.to_string(), detail });
            }
        }
    }
    let speeds = columns.next().unwrap_or_default().iter().map(gauge).collect::<Option<Vec<u32>>>();
    let speed = speeds.filter(|speeds| speeds.len() == count && !speeds.contains(&0));
    let discontinuities = columns.next().unwrap_or_default();
    Ok(Counted {
        speed: speed.map(|speeds| speeds.iter().map(|speed| f64::from(*speed) * 1e6).sum()),
        octets: Octets {
            values: octets,
            discontinuities: (0..count).map(|place| discontinuities.get(place).and_then(ticks)).collect(),
            up_time: up_time.and_then(ticks),
            at: now,
        },
    })
}

async fn indexes_of(session: &mut Session, names: &[String]) -> Result<Vec<u32>, LoadError> {
    let root = Oid::new(IF_X_ENTRY).child(&[IF_NAME]);
    let (outcome, detail, rows) = session.subtree(&Context::default(), &root).await;
    match outcome {
        Outcome::Complete => {}
        Outcome::Failed(reason) => {
            return Err(LoadError::Snmp { reason, detail });
        }
        Outcome::Unsupported => {
            let name = names.join(", ");
            return Err(LoadError::Interface {
                name,
                detail: "the device tells no names (ifName)".to_owned(),
            });
        }
    }
    names.iter().map(|name| index_of(name, &root, &rows)).collect()
}

fn index_of(name: &str, root: &Oid, rows: &[(Oid, Value)]) -> Result<u32, LoadError> {
    let named = |(oid, value): &(Oid, Value)| match (oid.suffix(root), value) {
        (Some([index]), Value::Octets(octets)) if octets == name.as_bytes() => Some(*index),
        _ => None,
    };
    let wrong = |detail: &str| LoadError::Interface { name: name.to_owned(), detail: detail.to_owned() };
    match rows.iter().filter_map(named).collect::<Vec<u32>>().as_slice() {
        [only] => Ok(*only),
        [] => Err(wrong("there is none of that name")),
        _ => Err(wrong("there are several of that name")),
    }
}

fn snmp(failure: &Failure) -> LoadError {
    LoadError::Snmp { reason: failure.reason, detail: failure.detail.clone() }
}

fn gauge(value: &Value) -> Option<u32> {
    match value {
        Value::Gauge32(value) => Some(*value),
        _ => None,
    }
}

fn ticks(value: &Value) -> Option<u32> {
    match value {
        Value::TimeTicks(value) => Some(*value),
        _ => None,
    }
}
