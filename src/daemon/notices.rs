//! Listening for notifications: a thin loop around the reader. Which BASes are to be polled
//! goes to the owner of the store as a set, so that a storm is one word.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::UdpSocket;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::identity;
use super::listen::ListenError;
use crate::config::{Config, Endpoint};
use crate::cycle::Fleet;
use crate::snmp::{NoticeRead, NoticeReader, Refusal, Transport};
use crate::table::Name;
use crate::trap::{Filter, Senders, Tally};

/// How long the loop rests after an error of its socket, so as not to spin.
const REST: Duration = Duration::from_millis(10);

/// BASes that have sent notifications, until somebody takes them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    waiting: Mutex<BTreeSet<Name>>,
    bell: Notify,
}

impl Inbox {
    fn put(&self, names: impl IntoIterator<Item = Name>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
        self.bell.notify_one();
    }

    /// Waits until there are some.
    pub(super) async fn ring(&self) {
        self.bell.notified().await;
    }

    /// Takes them.
    pub(super) fn take(&self) -> BTreeSet<Name> {
        std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The owner's end.
#[derive(Debug)]
pub(super) struct Notices {
    pub(super) inbox: Arc<Inbox>,
    pub(super) tally: Arc<Tally>,
    senders: Arc<watch::Sender<Senders>>,
    filter: watch::Sender<Filter>,
    /// Asks for the addresses of those that are configured by a name.
    asking: AbortOnDrop,
}

/// A task that ends with whoever wanted it.
#[derive(Debug, Default)]
struct AbortOnDrop(Option<JoinHandle<()>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// The sockets' end.
#[derive(Debug)]
pub(super) struct Listener {
    sockets: Vec<UdpSocket>,
    reader: NoticeReader,
    inbox: Arc<Inbox>,
    tally: Arc<Tally>,
    senders: watch::Receiver<Senders>,
    filter: watch::Receiver<Filter>,
}

/// Binds what the configuration names; none where it names nothing.
///
/// # Errors
/// Where an address cannot be listened on, or our engine cannot be started.
pub(super) async fn open(
    config: &Config,
    transport: &Transport,
) -> Result<Option<(Notices, Listener)>, ListenError> {
    let wanted = &config.notifications;
    if wanted.listen.is_empty() {
        return Ok(None);
    }
    let mut sockets = Vec::new();
    for address in &wanted.listen {
        let failed = |source| ListenError { at: address.to_string(), source };
        sockets.push(UdpSocket::bind(address).await.map_err(failed)?);
    }
    let path = identity::path_of(&config.store.path);
    let engine = identity::start(&path, wanted.engine_id.as_deref()).map_err(|source| ListenError {
        at: format!("our SNMP engine, kept in {}", path.display()),
        source,
    })?;
    let listen: Vec<SocketAddr> = sockets.iter().filter_map(|socket| socket.local_addr().ok()).collect();
    let tally = Arc::new(Tally::new(listen, identity::hex(engine.id()), engine.boots()));
    for address in &tally.listen {
        tracing::info!(%address, engine_id = tally.engine_id, "listening for notifications");
    }
    let inbox = Arc::new(Inbox::default());
    let (senders, known) = watch::channel(Senders::default());
    let (filter, wanted) = watch::channel(Filter::default());
    let notices = Notices {
        inbox: Arc::clone(&inbox),
        tally: Arc::clone(&tally),
        senders: Arc::new(senders),
        filter,
        asking: AbortOnDrop::default(),
    };
    let reader = NoticeReader::new(transport, engine);
    Ok(Some((notices, Listener { sockets, reader, inbox, tally, senders: known, filter: wanted })))
}

impl Notices {
    /// Takes a configuration up: who may send, and what counts.
    pub(super) fn configure(&mut self, config: &Arc<Config>, fleet: &Fleet) {
        let mut senders = Senders::default();
        for bas in config.bas.values() {
            add(&mut senders, config, &bas.name, fleet.known_address(&bas.address));
        }
        self.senders.send_replace(senders);
        self.filter.send_replace(Filter::new(config.notifications.oids.clone()));
        let (config, fleet, senders) = (Arc::clone(config), fleet.clone(), Arc::clone(&self.senders));
        self.asking = AbortOnDrop(Some(tokio::spawn(ask(config, fleet, senders))));
    }

    /// Takes up where a BAS that is configured by its name was found.
    pub(super) fn found(&self, config: &Config, bas: &Name, at: IpAddr) {
        if config.bas.get(bas).is_some_and(|bas| is_named(&bas.address)) {
            self.senders.send_if_modified(|senders| add(senders, config, bas, Some(at)));
        }
    }
}

fn is_named(endpoint: &Endpoint) -> bool {
    endpoint.socket().is_none()
}

/// Asks for the addresses of those that are configured by a name, one after the other: after a
/// restart none of them may be polled for long.
async fn ask(config: Arc<Config>, fleet: Fleet, senders: Arc<watch::Sender<Senders>>) {
    for bas in config.bas.values().filter(|bas| is_named(&bas.address)) {
        for address in fleet.addresses(&bas.address).await {
            senders.send_if_modified(|senders| add(senders, &config, &bas.name, Some(address)));
        }
    }
}

/// Adds a BAS at where it is and where it answers from; false where all of that was known.
fn add(senders: &mut Senders, config: &Config, name: &Name, at: Option<IpAddr>) -> bool {
    let Some(polling) = config.bas.get(name).and_then(|bas| config.polling(bas)) else { return false };
    let Some(credentials) = &polling.credentials else { return false };
    let addresses = at.into_iter().chain(polling.reply_from.iter().copied());
    addresses.filter(|address| senders.add(*address, name, credentials)).count() > 0
}

impl Listener {
    /// Listens until stopped.
    pub(super) async fn run(self, stop: CancellationToken) {
        let Self { sockets, reader, inbox, tally, senders, filter } = self;
        let reader = Arc::new(tokio::sync::Mutex::new(reader));
        let mut tasks = tokio::task::JoinSet::new();
        for socket in sockets {
            let (inbox, tally) = (Arc::clone(&inbox), Arc::clone(&tally));
            let (senders, filter) = (senders.clone(), filter.clone());
            tasks.spawn(Loop { socket, reader: Arc::clone(&reader), inbox, tally, senders, filter }.run());
        }
        stop.cancelled().await;
        tasks.shutdown().await;
    }
}

/// One socket's loop.
struct Loop {
    socket: UdpSocket,
    reader: Arc<tokio::sync::Mutex<NoticeReader>>,
    inbox: Arc<Inbox>,
    tally: Arc<Tally>,
    senders: watch::Receiver<Senders>,
    filter: watch::Receiver<Filter>,
}

impl Loop {
    async fn run(self) {
        let mut buffer = vec![0; 0xffff];
        loop {
            match self.socket.recv_from(&mut buffer).await {
                Ok((length, from)) => self.take(buffer.get(..length).unwrap_or_default(), from).await,
                // An error is that of an earlier answer whose receiver is gone.
                Err(e) => self.rest(&e).await,
            }
        }
    }

    async fn rest(&self, error: &io::Error) {
        tracing::debug!(%error, "a notification was not received");
        tokio::time::sleep(REST).await;
    }

    async fn take(&self, datagram: &[u8], from: SocketAddr) {
        self.tally.receive();
        let known = self.senders.borrow().at(from.ip()).unwrap_or_default();
        let (read, answer) = self.reader.lock().await.read(datagram, &known.credentials).await;
        match read {
            NoticeRead::Notice { oid, inform, by } => {
                self.tally.accept(inform);
                if self.filter.borrow().wants(&oid) {
                    let names: Vec<Name> = by.iter().filter_map(|at| known.names.get(*at).cloned()).collect();
                    tracing::debug!(%from, notification = %oid, bas = ?names, "notified");
                    self.inbox.put(names);
                } else {
                    self.tally.filter();
                }
            }
            NoticeRead::Discovery => self.tally.discover(),
            NoticeRead::Refused(cause) => self.refuse(from, cause),
        }
        if let Some(answer) = answer
            && let Err(error) = self.socket.send_to(&answer, from).await
        {
            tracing::debug!(%from, %error, "a notification was not acknowledged");
        }
    }

    /// The first of each cause is worth a line; the others are counted.
    fn refuse(&self, from: SocketAddr, cause: Refusal) {
        if self.tally.refuse(from.ip(), cause, Timestamp::now()) {
            let reason = cause.as_str();
            tracing::warn!(%from, reason, "a notification was refused; more of its kind are only counted");
        }
    }
}
