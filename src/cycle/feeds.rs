//! The sources of edges' loads, as the configuration has them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::config::{Config, Endpoint, Feed, FeedSource, Secret};
use crate::load::{Collected, Reader, Source, collect};
use crate::snmp::{Reach, Target, Transport};
use crate::table::Name;

/// How long after a first reading of counters the second comes: with one there is no rate.
pub const AGAIN: Duration = Duration::from_secs(1);

/// The sources of all edges that have one, with what each has to remember.
#[derive(Clone, Debug, Default)]
pub struct Feeds {
    feeds: BTreeMap<Name, Feed>,
    readers: BTreeMap<Name, Reader>,
    /// Whether a first reading has been repeated.
    repeated: bool,
}

impl Feeds {
    /// Those of a configuration. An edge whose secrets were not looked up has none.
    pub fn of(config: &Config) -> Self {
        let mut feeds = Self::default();
        for (name, traits) in &config.traits {
            let Some(feed) = &traits.feed else { continue };
            let Some(source) = source(config, feed) else { continue };
            let reader = Reader::new(source, feed.capacity, config.load.timeout);
            feeds.feeds.insert(name.clone(), feed.clone());
            feeds.readers.insert(name.clone(), reader);
        }
        feeds
    }

    /// With what earlier ones remember of the sources that are the same.
    #[must_use]
    pub fn remembering(mut self, mut earlier: Self) -> Self {
        for (name, reader) in &mut self.readers {
            if self.feeds.get(name) == earlier.feeds.get(name)
                && let Some(before) = earlier.readers.remove(name)
            {
                *reader = reader.clone().remembering(before);
            }
        }
        self
    }

    /// Whether no edge has a source.
    pub fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    /// Reads all edges at once.
    pub async fn read(&mut self, transport: &Transport, now: Timestamp) -> Collected {
        collect(Some(transport), &mut self.readers, now).await
    }

    /// Whether a reading is to be repeated rather than taken up: the first of a counter tells
    /// no rate, and is no miss. Once: an edge that is silent then has missed it.
    pub fn again(&mut self, read: &Collected) -> bool {
        let again = read.first() && !self.repeated;
        self.repeated = true;
        again
    }

    /// A reading for a command: twice, where the first is to be repeated.
    pub async fn read_once(&mut self, transport: &Transport) -> Collected {
        let read = self.read(transport, Timestamp::now()).await;
        if !self.again(&read) {
            return read;
        }
        tokio::time::sleep(AGAIN).await;
        self.read(transport, Timestamp::now()).await
    }
}

fn source(config: &Config, feed: &Feed) -> Option<Source> {
    Some(match &feed.source {
        FeedSource::Snmp { address, snmp, interfaces, direction } => {
            let polling = config.polling_by(config.snmp.get(snmp)?);
            let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
            Source::Snmp {
                target: Box::new(Target {
                    address: address.socket().unwrap_or(nowhere),
                    credentials: polling.credentials?,
                    limits: polling.limits,
                    engine: None,
                    reach: Reach { source: polling.source, reply_from: polling.reply_from, pps: polling.pps },
                }),
                host: address.socket().is_none().then(|| Endpoint::lookup(address)),
                interfaces: interfaces.clone(),
                direction: *direction,
            }
        }
        FeedSource::Prometheus { url, authorization, fields } => Source::Prometheus {
            url: url.clone(),
            authorization: header(authorization.as_ref())?,
            fields: fields.clone(),
        },
        FeedSource::Json { url, authorization, fields } => Source::Json {
            url: url.clone(),
            authorization: header(authorization.as_ref())?,
            fields: fields.clone(),
        },
        FeedSource::Static => Source::Static,
    })
}

/// The header, if there is to be one; nothing at all where its secret was not looked up.
fn header(secret: Option<&Secret>) -> Option<Option<Arc<str>>> {
    let Some(secret) = secret else { return Some(None) };
    let octets = secret.value.as_ref()?.expose();
    Some(Some(String::from_utf8_lossy(octets).as_ref().into()))
}
