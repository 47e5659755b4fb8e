//! The sources of edges, and how one cycle reads them all.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::counter::{Counted, Octets, rate};
use super::error::{CountError, LoadError};
use super::expression::Expression;
use super::get::get;
use super::interfaces::{self, Direction, Interfaces};
use super::json::{Pointer, number_at};
use super::url::Url;
use crate::snmp::{Reason, Session, Target, Transport};
use crate::steer::{Amount, Sample};
use crate::table::Name;

/// Where a field is, and what its unit is in that of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<P> {
    /// Where it is.
    pub place: P,
    /// What its number is multiplied by: 8 for octets to bits, 1000 for seconds to ms.
    pub factor: f64,
}

/// The fields of a sample, as far as they are configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields<P> {
    /// The load.
    pub load: Option<Field<P>>,
    /// The capacity.
    pub capacity: Option<Field<P>>,
    /// The 95 % delay, in ms.
    pub p95_ms: Option<Field<P>>,
    /// The open sessions.
    pub sessions: Option<Field<P>>,
}

impl<P> Default for Fields<P> {
    fn default() -> Self {
        Self { load: None, capacity: None, p95_ms: None, sessions: None }
    }
}

/// Where an edge's load is read.
#[derive(Clone, Debug)]
pub enum Source {
    /// Octet counters of interfaces. The capacity is the speed of these, unless it is given.
    Snmp {
        /// The device: the edge, or the switch before it.
        target: Box<Target>,
        /// Its host and port, where that is a name: resolved at each reading.
        host: Option<(String, u16)>,
        /// Its interfaces.
        interfaces: Interfaces,
        /// Which way is counted.
        direction: Direction,
    },
    /// A Prometheus text.
    Prometheus {
        /// Where.
        url: Url,
        /// The `Authorization` header, if one is needed.
        authorization: Option<Arc<str>>,
        /// What is taken from it.
        fields: Box<Fields<Expression>>,
    },
    /// A JSON text.
    Json {
        /// Where.
        url: Url,
        /// The `Authorization` header, if one is needed.
        authorization: Option<Arc<str>>,
        /// What is taken from it.
        fields: Box<Fields<Pointer>>,
    },
    /// Nothing is asked: the capacity is all that is known.
    Static,
}

/// The reader of one edge, with what it has to remember.
#[derive(Clone, Debug)]
pub struct Reader {
    source: Source,
    capacity: Option<Amount>,
    timeout: Duration,
    octets: Option<Octets>,
    counts: BTreeMap<&'static str, Counted>,
}

/// What a cycle read, by edge.
#[derive(Debug, Default)]
pub struct Collected {
    /// The samples, or why there are none.
    pub edges: BTreeMap<Name, Result<Sample, LoadError>>,
}

impl Collected {
    /// As what [`crate::steer::Loads::next`] takes.
    pub fn samples(&self) -> BTreeMap<Name, Option<Sample>> {
        self.edges.iter().map(|(name, read)| (name.clone(), read.as_ref().ok().copied())).collect()
    }

    /// Whether a counter was read for the first time. Such a cycle, the first since start,
    /// tells no rates: it is repeated rather than counted as missed.
    pub fn first(&self) -> bool {
        self.edges.values().any(|read| matches!(read, Err(LoadError::Count(CountError::First))))
    }
}

/// Reads all edges at once; each may take as long as its reader allows.
pub async fn collect(
    transport: Option<&Transport>,
    readers: &mut BTreeMap<Name, Reader>,
    now: Timestamp,
) -> Collected {
    let mut tasks = JoinSet::new();
    for (name, reader) in readers.iter() {
        let (name, mut reader, transport) = (name.clone(), reader.clone(), transport.cloned());
        tasks.spawn(async move {
            let read = reader.read(transport.as_ref(), now).await;
            (name, reader, read)
        });
    }
    let mut collected = Collected::default();
    while let Some(done) = tasks.join_next().await {
        // A task that broke has read nothing: its edge is among those that are missing.
        let Ok((name, reader, read)) = done else { continue };
        readers.insert(name.clone(), reader);
        collected.edges.insert(name, read);
    }
    for name in readers.keys() {
        collected.edges.entry(name.clone()).or_insert(Err(LoadError::Timeout));
    }
    collected
}

impl Reader {
    /// A reader. A configured capacity goes before one that is read.
    pub const fn new(source: Source, capacity: Option<Amount>, timeout: Duration) -> Self {
        Self { source, capacity, timeout, octets: None, counts: BTreeMap::new() }
    }

    /// Reads the edge once.
    ///
    /// # Errors
    /// Where any configured field could not be read.
    pub async fn read(&mut self, transport: Option<&Transport>, now: Timestamp) -> Result<Sample, LoadError> {
        let limit = self.timeout;
        let read = match self.source.clone() {
            Source::Static => return Ok(Sample { capacity: self.capacity, ..Sample::default() }),
            Source::Snmp { mut target, host, interfaces, direction } => {
                let Some(transport) = transport else {
                    let detail = "there is no socket".to_owned();
                    return Err(LoadError::Snmp { reason: Reason::SendFailed, detail });
                };
                let read = async {
                    if let Some(host) = host {
                        target.address = resolved(&host).await?;
                    }
                    let mut session = Session::new(transport, *target);
                    interfaces::read(&mut session, &interfaces, direction, now).await
                };
                let counted = tokio::time::timeout(limit, read).await.map_err(|_| LoadError::Timeout)??;
                self.of_counters(counted)
            }
            Source::Prometheus { url, authorization, fields } => {
                let body = tokio::time::timeout(limit, get(&url, authorization.as_deref()));
                let body = body.await.map_err(|_| LoadError::Timeout)??;
                self.of_prometheus(&body, &fields, now)
            }
            Source::Json { url, authorization, fields } => {
                let body = tokio::time::timeout(limit, get(&url, authorization.as_deref()));
                let body = body.await.map_err(|_| LoadError::Timeout)??;
                of_fields(&fields, |pointer, _| Ok(number_at(&body, pointer)?))
            }
        }?;
        Ok(Sample { capacity: self.capacity.or(read.capacity), ..read })
    }

    /// With what an earlier reader of the same source remembers.
    #[must_use]
    pub fn remembering(self, earlier: Self) -> Self {
        Self { octets: earlier.octets, counts: earlier.counts, ..self }
    }

    fn of_counters(&mut self, counted: interfaces::Counted) -> Result<Sample, LoadError> {
        let rate = counted.octets.bits_per_second(self.octets.as_ref());
        self.octets = Some(counted.octets);
        Ok(Sample {
            load: Some(amount("load", rate?)?),
            capacity: counted.speed.and_then(Amount::new),
            ..Sample::default()
        })
    }

    /// The sample of a Prometheus text.
    fn of_prometheus(
        &mut self,
        body: &[u8],
        fields: &Fields<Expression>,
        now: Timestamp,
    ) -> Result<Sample, LoadError> {
        // Every count is remembered, also where another field gives no value.
        let mut counts = BTreeMap::new();
        let before = std::mem::take(&mut self.counts);
        let sample = of_fields(fields, |expression, field| {
            let value = expression.value(body)?;
            if !expression.rate {
                return Ok(value);
            }
            let counted = Counted { value: amount(field, value)?.get(), at: now };
            counts.insert(field, counted);
            Ok(rate(before.get(field).copied(), counted)?)
        });
        self.counts = counts;
        sample
    }
}

async fn resolved(host: &(String, u16)) -> Result<SocketAddr, LoadError> {
    let failed = |detail: String| LoadError::Resolve { host: host.0.clone(), detail };
    let mut found =
        tokio::net::lookup_host((host.0.as_str(), host.1)).await.map_err(|e| failed(e.to_string()))?;
    found.next().ok_or_else(|| failed("it has no address".to_owned()))
}

/// Reads every configured field, and gives the first failure once all were read.
fn of_fields<P>(
    fields: &Fields<P>,
    mut read: impl FnMut(&P, &'static str) -> Result<f64, LoadError>,
) -> Result<Sample, LoadError> {
    let mut one = |field: &Option<Field<P>>, name: &'static str| match field {
        Some(field) => read(&field.place, name).and_then(|v| amount(name, v * field.factor)).map(Some),
        None => Ok(None),
    };
    let load = one(&fields.load, "load");
    let capacity = one(&fields.capacity, "capacity");
    let p95_ms = one(&fields.p95_ms, "p95_ms");
    let sessions = one(&fields.sessions, "sessions");
    Ok(Sample { load: load?, capacity: capacity?, p95_ms: p95_ms?, sessions: sessions? })
}

fn amount(field: &'static str, value: f64) -> Result<Amount, LoadError> {
    Amount::new(value).ok_or(LoadError::Number { field, value })
}
