//! Collect: one poll of one BAS as the configuration wants it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::time::timeout;

use crate::config::{Bas, Config, Descriptor, Endpoint, INTERNET, Polling, Space};
use crate::mib::{Encoding, Fault, Library};
use crate::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, poll};
use crate::snmp::{Credentials, Reach, Reason, Secret, Target, Transport};
use crate::table::{Memory, Name};

/// The resolver may take this part of a poll's deadline.
const RESOLVER_SHARE: u32 = 4;

/// What polls of a fleet have in common. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Fleet {
    transport: Transport,
    library: Arc<Library>,
    spaces: Arc<Spaces>,
    /// The address of each name that answered last.
    last: Arc<Mutex<HashMap<Endpoint, SocketAddr>>>,
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
    pub(super) request: Request,
}

impl Job {
    /// Reads the router by another descriptor.
    pub fn choose(&mut self, choice: Choice) {
        self.request.choice = choice;
        self.request.remembered.detection = None;
    }
}

impl Fleet {
    /// The fleet of a configuration.
    pub fn new(config: &Config, library: Arc<Library>, transport: Transport) -> Self {
        let spaces = config.spaces.iter().map(|(name, space)| (name.clone(), space.vrfs.clone())).collect();
        Self { transport, library, spaces: Arc::new(Spaces::new(spaces)), last: Arc::default() }
    }

    /// A fleet of no configuration: every VRF is in a space of the usual names, or in none.
    pub fn of_strangers(library: Arc<Library>, transport: Transport) -> Self {
        let vrfs = Space::default().vrfs;
        let spaces = Arc::new(Spaces::new(vec![(INTERNET.into(), vrfs)]));
        Self { transport, library, spaces, last: Arc::default() }
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
        let polling = config.polling(bas)?;
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
        Some(Job { name: bas.name.clone(), endpoint: bas.address.clone(), scheduled, request })
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
        Some(Job { name, endpoint, scheduled: false, request })
    }

    fn request(
        &self,
        name: Name,
        polling: Polling,
        choice: Choice,
        filter: Filter,
        remembered: Remembered,
        now: Timestamp,
    ) -> Option<Request> {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        Some(Request {
            name,
            target: Target {
                address: nowhere,
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
        })
    }

    /// Takes over which address of each name answered last.
    pub fn remembering(mut self, earlier: &Self) -> Self {
        self.last = Arc::clone(&earlier.last);
        self
    }

    /// Polls. A name is resolved now; while it cannot be, the address that answered last
    /// stands in. Of several addresses that one is asked first, and the next only if nothing
    /// answers at all. All of it is one poll with one deadline.
    pub async fn poll(&self, job: Job) -> Polled {
        let begun = Instant::now();
        let within = job.request.target.limits.deadline / RESOLVER_SHARE;
        let found = match timeout(within, resolve(&job.endpoint)).await {
            Ok(found) => found,
            Err(_) => Err(format!("{} was not resolved within {within:?}", job.endpoint)),
        };
        self.poll_at(job, found, begun).await
    }

    async fn poll_at(&self, job: Job, found: Result<Vec<SocketAddr>, String>, begun: Instant) -> Polled {
        let last = self.last_of(&job.endpoint);
        let note = match (&found, last) {
            (Err(detail), Some(last)) => Some(format!("{detail}; asked {last}, which answered before")),
            _ => None,
        };
        let addresses = match candidates(found, last, job.request.target.reach.source) {
            Ok(addresses) => addresses,
            Err(detail) => return Polled::unresolved(&job.request, detail),
        };
        let mut polled = None;
        for address in addresses {
            let mut request = job.request.clone();
            let deadline = request.target.limits.deadline;
            let left = deadline.saturating_sub(whole_milliseconds(begun.elapsed()));
            if polled.is_some() && left.is_zero() {
                break;
            }
            request.target.limits.deadline = left;
            request.target.address = address;
            let this = poll(&self.transport, request).await.after(polled.as_ref());
            let answered = !is_unreached(&this);
            polled = Some(this);
            if answered {
                self.remember(&job.endpoint, address);
                break;
            }
        }
        let mut polled = polled.unwrap_or_else(|| {
            Polled::unresolved(&job.request, format!("{} has no address to be asked at", job.endpoint))
        });
        polled.duration = begun.elapsed();
        polled.notes.extend(note);
        polled
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
fn candidates(
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

/// Whether nothing came from where the poll was sent.
fn is_unreached(polled: &Polled) -> bool {
    polled.cost.bytes == 0
        && matches!(
            polled.reason,
            Some(Fault::Snmp(Reason::Timeout | Reason::Unreachable | Reason::SendFailed | Reason::Deadline))
        )
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
mod tests {
    use tokio::net::UdpSocket;

    use super::*;
    use crate::poll::State;
    use crate::snmp::{Limits, Recording, ReplayAgent};

    const WALK: &str = include_str!("../../tests/data/walks/huawei-control-plane.snmprec");

    fn fleet() -> Fleet {
        Fleet::of_strangers(Arc::new(Library::built_in()), Transport::new().unwrap())
    }

    /// A poll of a name, which soon takes a router for silent.
    fn job(fleet: &Fleet, source: Option<IpAddr>) -> Job {
        let polling = Polling {
            limits: Limits { timeout: Duration::from_secs(1), retries: 0, ..Limits::default() },
            source,
            ..community_polling(Secret::new(*b"public"))
        };
        let choice = Choice::Auto(Arc::clone(fleet.library()));
        let endpoint = "bas1.example.test".parse().unwrap();
        fleet.stranger("bas1", endpoint, polling, choice, Timestamp::UNIX_EPOCH).unwrap()
    }

    async fn agent() -> ReplayAgent {
        let walk = vec![("public".to_owned(), Recording::parse(WALK).unwrap())];
        ReplayAgent::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), walk).await.unwrap()
    }

    async fn poll_found(fleet: &Fleet, found: Result<Vec<SocketAddr>, &str>) -> Polled {
        fleet.poll_at(job(fleet, None), found.map_err(str::to_owned), Instant::now()).await
    }

    #[track_caller]
    fn assert_read(polled: &Polled, at: SocketAddr) {
        assert_eq!((polled.state, polled.address), (State::Complete, at), "{}", polled.detail);
    }

    #[tokio::test]
    async fn a_name_with_a_dead_address_then_another_then_none_is_polled_each_time() {
        let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (first, second, fleet) = (agent().await, agent().await, fleet());
        let both = || Ok(vec![dead.local_addr().unwrap(), first.address()]);
        let polled = poll_found(&fleet, both()).await;
        assert_read(&polled, first.address());
        let requests = polled.cost.requests;
        // The one that answered goes first from now on.
        let polled = poll_found(&fleet, both()).await;
        assert_read(&polled, first.address());
        assert_eq!(polled.cost.requests, requests - 1);
        // The name moves, and then cannot be resolved.
        assert_read(&poll_found(&fleet, Ok(vec![second.address()])).await, second.address());
        let polled = poll_found(&fleet, Err("SERVFAIL")).await;
        assert_read(&polled, second.address());
        let note = format!("SERVFAIL; asked {}, which answered before", second.address());
        assert_eq!(polled.notes.last(), Some(&note));
        // Nor is that forgotten when the configuration is read anew.
        let anew = self::fleet().remembering(&fleet);
        assert_read(&poll_found(&anew, Err("SERVFAIL")).await, second.address());
    }

    #[tokio::test]
    async fn a_name_that_never_was_resolved_is_unresolved() {
        let polled = poll_found(&fleet(), Err("SERVFAIL")).await;
        assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Unresolved)));
        assert_eq!((polled.detail.as_str(), polled.cost.requests), ("SERVFAIL", 0));
    }

    #[tokio::test]
    async fn an_address_that_the_name_no_longer_has_is_not_asked() {
        let (old, fleet) = (agent().await, fleet());
        assert_read(&poll_found(&fleet, Ok(vec![old.address()])).await, old.address());
        let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let polled = poll_found(&fleet, Ok(vec![dead.local_addr().unwrap()])).await;
        assert_eq!(polled.reason, Some(Fault::Snmp(Reason::Timeout)));
        assert_eq!(polled.cost.requests, 1);
    }

    #[tokio::test]
    async fn all_dead_addresses_of_a_name_share_one_deadline() {
        let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let fleet = fleet();
        let mut job = job(&fleet, None);
        let limits = &mut job.request.target.limits;
        (limits.timeout, limits.deadline) = (Duration::from_millis(300), Duration::from_millis(700));
        let begun = Instant::now();
        let polled = fleet.poll_at(job, Ok(vec![dead.local_addr().unwrap(); 9]), begun).await;
        assert_eq!(polled.state, State::Failed);
        // Two pauses of 300 ms, and what is left of the third.
        assert_eq!(polled.cost.requests, 3);
        assert!(polled.duration >= Duration::from_millis(690), "{:?}", polled.duration);
    }

    #[test]
    fn only_addresses_of_the_family_of_the_source_are_asked() {
        let v4: SocketAddr = "192.0.2.1:161".parse().unwrap();
        let v6: SocketAddr = "[2001:db8::1]:161".parse().unwrap();
        let both = || Ok(vec![v6, v4]);
        let from = |source: &str| Some(source.parse().unwrap());
        assert_eq!(candidates(both(), None, None), Ok(vec![v6, v4]));
        assert_eq!(candidates(both(), Some(v4), None), Ok(vec![v4, v6]));
        assert_eq!(candidates(both(), None, from("192.0.2.200")), Ok(vec![v4]));
        assert_eq!(candidates(both(), Some(v4), from("2001:db8::200")), Ok(vec![v6]));
    }
}
