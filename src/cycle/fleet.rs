//! Collect: one poll of one BAS as the configuration wants it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::arriving::Arriving;
use super::clones::Engines;
use crate::config::{Bas, Config, Descriptor, Endpoint, INTERNET, Polling, Space};
use crate::mib::{Encoding, Fault, Library};
use crate::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, Talked, talk};
use crate::snmp::{Credentials, Reach, Reason, Secret, Target, Transport};
use crate::table::{Memory, Name};

/// The resolver may take this part of a poll's deadline.
const RESOLVER_SHARE: u32 = 4;
/// Until it is known where a router is.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// What polls of a fleet have in common. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Fleet {
    transport: Transport,
    library: Arc<Library>,
    spaces: Arc<Spaces>,
    /// The address of each name that answered last.
    last: Arc<Mutex<HashMap<Endpoint, SocketAddr>>>,
    engines: Arc<Engines>,
}

/// A poll that is ready to begin, but for the router's address.
#[derive(Clone, Debug)]
pub struct Job {
    /// The BAS's name.
    pub name: Name,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Whether the poll counts as one of the schedule's.
    pub scheduled: bool,
    /// Whether the last poll failed for want of an answer: then all others go first.
    pub silent: bool,
    /// In memory of its own: a job is moved some times before it begins.
    pub(super) request: Box<Request>,
}

impl Job {
    /// Reads the router by another descriptor.
    pub fn choose(&mut self, choice: Choice) {
        self.request.choice = choice;
        self.request.remembered.detection = None;
    }
}

impl Fleet {
    /// The fleet of a configuration, of which `concurrency` routers are talked with at a time.
    pub fn new(config: &Config, library: Arc<Library>, transport: Transport) -> Self {
        let spaces = config.spaces.iter().map(|(name, space)| (name.clone(), space.vrfs.clone())).collect();
        let concurrency = usize::try_from(config.poll.concurrency).unwrap_or(usize::MAX);
        Self {
            transport: transport.limited(concurrency),
            library,
            spaces: Arc::new(Spaces::new(spaces)),
            last: Arc::default(),
            engines: Arc::default(),
        }
    }

    /// A fleet of no configuration: every VRF is in a space of the usual names, or in none.
    pub fn of_strangers(library: Arc<Library>, transport: Transport) -> Self {
        let vrfs = Space::default().vrfs;
        let spaces = Arc::new(Spaces::new(vec![(INTERNET.into(), vrfs)]));
        Self { transport, library, spaces, last: Arc::default(), engines: Arc::default() }
    }

    /// Where its polls run best.
    pub fn runtime(&self) -> &Handle {
        self.transport.runtime()
    }

    /// The descriptors.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    pub(super) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// A poll of a configured BAS; none where the configuration was loaded without secrets,
    /// or names a descriptor that is not there.
    pub fn job(
        &self,
        config: &Config,
        bas: &Bas,
        memory: &Memory,
        scheduled: bool,
        now: Timestamp,
    ) -> Option<Job> {
        self.job_by(config.polling(bas)?, bas, memory, scheduled, now)
    }

    /// The same, but for how the router is spoken to.
    pub fn job_by(
        &self,
        polling: Polling,
        bas: &Bas,
        memory: &Memory,
        scheduled: bool,
        now: Timestamp,
    ) -> Option<Job> {
        let choice = match &bas.mib {
            Descriptor::Auto => Choice::Auto(Arc::clone(&self.library)),
            Descriptor::Named(name) => Choice::Named(Arc::clone(self.library.get(name)?)),
        };
        let filter = Filter {
            include: bas.pools.include.clone(),
            exclude: bas.pools.exclude.clone(),
            vrfs: bas.vrfs.clone().unwrap_or_default(),
        };
        let remembered = Remembered::from(memory);
        let mut request = self.request(bas.name.clone(), polling, choice, filter, remembered, now)?;
        request.target.engine.clone_from(&memory.engine);
        request.group_as_vrf = bas.group_as_vrf;
        let silent = was_silent(memory);
        Some(Job { name: bas.name.clone(), endpoint: bas.address.clone(), scheduled, silent, request })
    }

    /// A poll of any router, of which nothing is remembered.
    pub fn stranger(
        &self,
        name: &str,
        endpoint: Endpoint,
        polling: Polling,
        choice: Choice,
        now: Timestamp,
    ) -> Option<Job> {
        let name = Name::from(name);
        let request =
            self.request(name.clone(), polling, choice, Filter::default(), Remembered::default(), now)?;
        Some(Job { name, endpoint, scheduled: false, silent: false, request })
    }

    fn request(
        &self,
        name: Name,
        polling: Polling,
        choice: Choice,
        filter: Filter,
        remembered: Remembered,
        now: Timestamp,
    ) -> Option<Box<Request>> {
        Some(Box::new(Request {
            name,
            target: Target {
                address: NOWHERE,
                credentials: polling.credentials?,
                limits: polling.limits,
                engine: None,
                reach: Reach { source: polling.source, reply_from: polling.reply_from, pps: polling.pps },
            },
            context: polling.context,
            community_contexts: polling.context_community.is_some(),
            choice,
            remembered,
            encoding: polling.encoding.and_then(|e| e.0.name().parse::<Encoding>().ok()),
            group_as_vrf: None,
            filter,
            spaces: Arc::clone(&self.spaces),
            now,
        }))
    }

    /// Takes over which address of each name answered last, and which engines were heard.
    pub fn remembering(mut self, earlier: &Self) -> Self {
        self.last = Arc::clone(&earlier.last);
        self.engines = Arc::clone(&earlier.engines);
        self
    }

    /// Polls; what it found is told by [`Arriving::arrived`].
    pub(crate) async fn arrive(&self, job: Job) -> Arriving {
        let address = job.endpoint.socket().unwrap_or(NOWHERE);
        Arriving::after(job.name.clone(), address, job.scheduled, self.talk(job)).await
    }

    /// Polls.
    pub async fn poll(&self, job: Job) -> Polled {
        self.talk(job).await.judged()
    }

    /// Polls as far as that waits. A name is resolved now; while it cannot be, the address that
    /// answered last stands in. Of several addresses that one is asked first, and the next only
    /// if nothing answers at all. All of it is one poll with one deadline.
    async fn talk(&self, job: Job) -> Talked {
        let begun = Instant::now();
        let within = job.request.target.limits.deadline / RESOLVER_SHARE;
        let found = match timeout(within, resolve(&job.endpoint)).await {
            Ok(found) => found,
            Err(_) => Err(format!("{} was not resolved within {within:?}", job.endpoint)),
        };
        self.talk_at(job, found, begun).await
    }

    async fn talk_at(&self, job: Job, found: Result<Vec<SocketAddr>, String>, begun: Instant) -> Talked {
        let last = self.last_of(&job.endpoint);
        let note = match (&found, last) {
            (Err(detail), Some(last)) => Some(format!("{detail}; asked {last}, which answered before")),
            _ => None,
        };
        let addresses = match candidates(found, last, job.request.target.reach.source) {
            Ok(addresses) => addresses,
            Err(detail) => return Polled::unresolved(&job.request, detail).into(),
        };
        let mut talked = None;
        for address in addresses {
            let mut request = job.request.clone();
            let deadline = request.target.limits.deadline;
            let left = deadline.saturating_sub(whole_milliseconds(begun.elapsed()));
            if talked.is_some() && left.is_zero() {
                break;
            }
            request.target.limits.deadline = left;
            request.target.address = address;
            let this = talk(&self.transport, request).await.after(talked.as_ref());
            let answered = !this.so_far.is_unreached();
            talked = Some(this);
            if answered {
                self.remember(&job.endpoint, address);
                break;
            }
        }
        let mut talked = talked.unwrap_or_else(|| {
            let detail = format!("{} has no address to be asked at", job.endpoint);
            Polled::unresolved(&job.request, detail).into()
        });
        let polled = &mut talked.so_far;
        polled.duration = begun.elapsed();
        polled.notes.extend(note);
        let engine = polled.engine.as_ref();
        let cloned = engine.and_then(|engine| self.engines.note(&polled.name, polled.address, &engine.id));
        polled.notes.extend(cloned);
        talked
    }

    /// The address of an endpoint, as far as it is known without asking for it: a name's is the
    /// one that answered last.
    pub fn known_address(&self, endpoint: &Endpoint) -> Option<IpAddr> {
        endpoint.socket().or_else(|| self.last_of(endpoint)).map(|address| address.ip())
    }

    /// All addresses of an endpoint, asked for now; none where its name cannot be resolved.
    pub async fn addresses(&self, endpoint: &Endpoint) -> Vec<IpAddr> {
        let found = resolve(endpoint).await.unwrap_or_default();
        found.into_iter().map(|address| address.ip()).collect()
    }

    fn last_of(&self, endpoint: &Endpoint) -> Option<SocketAddr> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).get(endpoint).copied()
    }

    /// Only names are remembered: nothing else can fail to be resolved.
    fn remember(&self, endpoint: &Endpoint, address: SocketAddr) {
        if endpoint.socket().is_none() {
            self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(endpoint.clone(), address);
        }
    }
}

/// Where to ask, in order: the address that answered last goes first, as long as the name
/// still has it, or nobody can say what the name has. An address of another family than the
/// source cannot be asked.
pub(super) fn candidates(
    found: Result<Vec<SocketAddr>, String>,
    last: Option<SocketAddr>,
    source: Option<IpAddr>,
) -> Result<Vec<SocketAddr>, String> {
    let mut addresses = match (found, last) {
        (Ok(addresses), _) => addresses,
        (Err(_), Some(last)) => vec![last],
        (Err(detail), None) => return Err(detail),
    };
    let source = source.map(|source| source.to_canonical());
    addresses.retain(|address| {
        source.is_none_or(|source| source.is_ipv4() == address.ip().to_canonical().is_ipv4())
    });
    addresses.sort_by_key(|address| Some(*address) != last);
    Ok(addresses)
}

/// Durations stand in messages to people.
fn whole_milliseconds(duration: Duration) -> Duration {
    Duration::from_millis(duration.as_millis().try_into().unwrap_or(u64::MAX))
}

/// Whether the last poll failed for want of an answer. Which of them heard something before
/// that is not remembered, and no matter: one that does not answer waits a second at most.
fn was_silent(memory: &Memory) -> bool {
    let silences = [Reason::Timeout, Reason::Unreachable].map(|reason| Fault::Snmp(reason).as_str());
    silences.contains(&&*memory.reason)
}

/// The addresses of an endpoint.
pub(super) async fn resolve(endpoint: &Endpoint) -> Result<Vec<SocketAddr>, String> {
    if let Some(address) = endpoint.socket() {
        return Ok(vec![address]);
    }
    match tokio::net::lookup_host(endpoint.lookup()).await {
        Ok(addresses) => {
            let mut known = Vec::new();
            addresses.for_each(|address| {
                if !known.contains(&address) {
                    known.push(address)
                }
            });
            Ok(known)
        }
        Err(e) => Err(format!("{endpoint} cannot be resolved: {e}")),
    }
}

/// How a router is polled by SNMPv2c with a community, where no profile says more.
pub fn community_polling(community: Secret) -> Polling {
    Polling {
        interval: std::time::Duration::from_secs(300),
        limits: crate::snmp::Limits::default(),
        pps: None,
        source: None,
        reply_from: Vec::new(),
        encoding: None,
        credentials: Some(Credentials::V2c(community)),
        context: crate::snmp::Context::default(),
        context_community: None,
    }
}

#[cfg(test)]
mod tests;
