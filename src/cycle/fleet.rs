//! Collect: one poll of one BAS as the configuration wants it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;

use crate::config::{Bas, Config, Descriptor, Endpoint, INTERNET, Polling, Space};
use crate::mib::{Encoding, Fault, Glob, Library};
use crate::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, poll};
use crate::snmp::{Credentials, Reach, Reason, Secret, Target, Transport};
use crate::table::{Memory, Name};

/// What polls of a fleet have in common. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Fleet {
    transport: Transport,
    library: Arc<Library>,
    spaces: Arc<Spaces>,
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
        Self { transport, library, spaces: Arc::new(Spaces::new(spaces)) }
    }

    /// A fleet of no configuration: every VRF is in a space of the usual names, or in none.
    pub fn of_strangers(library: Arc<Library>, transport: Transport) -> Self {
        let vrfs = Space::default().vrfs;
        Self { transport, library, spaces: Arc::new(Spaces::new(vec![(INTERNET.into(), vrfs)])) }
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
        let globs =
            |patterns: &[crate::config::Glob]| patterns.iter().map(|g| Glob::new(g.as_str())).collect();
        let filter = Filter {
            include: globs(&bas.pools.include),
            exclude: globs(&bas.pools.exclude),
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

    /// Polls. A name is resolved now; where it has several addresses, the next is tried
    /// only if nothing answers at all.
    pub async fn poll(&self, job: Job) -> Polled {
        let addresses = match resolve(&job.endpoint).await {
            Ok(addresses) => addresses,
            Err(detail) => return Polled::unresolved(&job.request, detail),
        };
        let mut polled = None;
        for address in addresses {
            let mut request = job.request.clone();
            request.target.address = address;
            let this = poll(&self.transport, request).await;
            let silent = matches!(this.reason, Some(Fault::Snmp(Reason::Timeout | Reason::Unreachable)));
            polled = Some(this);
            if !silent {
                break;
            }
        }
        polled.unwrap_or_else(|| Polled::unresolved(&job.request, format!("{} has no address", job.endpoint)))
    }
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
