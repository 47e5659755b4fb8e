//! How routers are polled: `[poll]`, and the keys by which a profile or a BAS differs.

use std::net::IpAddr;
use std::time::Duration;

use super::context::Context;
use super::print::Writer;
use super::quantity::{Share, Size};
use super::section::Section;
use super::value::{duration, integer, list, parsed};
use crate::snmp::Limits;

/// `[poll]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// From one poll of a BAS to the next.
    pub interval: Duration,
    /// How many BASes are polled at a time.
    pub concurrency: u32,
    /// How long changes are gathered for one commit; zero commits each at once.
    pub batch: Duration,
    /// The share of BASes that must have been read completely before anything is published.
    pub first_publish: Share,
    /// How far a poll may go, unless a profile or a BAS says otherwise.
    pub limits: Limits,
    /// The most requests a second to one BAS; no limit where it is none.
    pub pps: Option<u32>,
    /// The local address that requests are sent from; the system's choice where it is none.
    pub source: Option<IpAddr>,
}

impl Default for Poll {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(300),
            concurrency: 256,
            batch: Duration::from_secs(2),
            first_publish: Share::percent(95),
            limits: Limits::default(),
            pps: None,
            source: None,
        }
    }
}

impl Poll {
    /// The keys of `[poll]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "interval",
        "concurrency",
        "timeout",
        "retries",
        "deadline",
        "batch",
        "first-publish",
        "max-rows",
        "max-bytes",
        "max-requests",
        "max-repetitions",
        "msg-max-size",
        "pps",
        "source",
    ];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        let default = Self::default();
        let overrides = Overrides::read(cx, section);
        Self {
            interval: section.read_or(cx, "interval", default.interval, interval),
            concurrency: section
                .read_or(cx, "concurrency", default.concurrency, |cx, n| integer(cx, n, 1..=65_535)),
            batch: section.read_or(cx, "batch", default.batch, |cx, n| duration(cx, n, Duration::ZERO)),
            first_publish: section.read_or(cx, "first-publish", default.first_publish, share),
            limits: overrides.over(default.limits),
            pps: overrides.pps,
            source: overrides.source,
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["poll"]);
        out.duration("interval", self.interval);
        out.raw("concurrency", self.concurrency);
        out.duration("batch", self.batch);
        out.string("first-publish", self.first_publish);
        let limits = self.limits;
        let overrides = Overrides {
            timeout: Some(limits.timeout),
            retries: Some(limits.retries),
            deadline: Some(limits.deadline),
            max_rows: Some(limits.max_rows),
            max_bytes: Some(limits.max_bytes),
            max_requests: Some(limits.max_requests),
            max_repetitions: Some(limits.max_repetitions),
            msg_max_size: Some(limits.msg_max_size),
            pps: self.pps,
            source: self.source,
            reply_from: None,
        };
        overrides.write(out);
    }
}

/// The shortest interval is a second.
pub(super) fn interval(cx: &mut Context, node: &super::node::Node) -> Option<Duration> {
    duration(cx, node, Duration::from_secs(1))
}

/// A share of a whole.
pub(super) fn share(cx: &mut Context, node: &super::node::Node) -> Option<Share> {
    let share: Share = parsed(cx, node)?;
    if share > Share::percent(100) {
        let problem = super::error::Problem::new(node.place, "this is more than the whole");
        cx.wrong(problem.help("expected a share from \"0%\" to \"100%\""));
        return None;
    }
    Some(share)
}

/// What a profile or a BAS sets differently; what is none is as the next one out says: the
/// BAS, then its profile, then `[poll]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// One request until its first retransmission.
    pub timeout: Option<Duration>,
    /// Retransmissions of one request.
    pub retries: Option<u32>,
    /// One poll, everything included.
    pub deadline: Option<Duration>,
    /// Rows of all tables.
    pub max_rows: Option<u32>,
    /// Octets received.
    pub max_bytes: Option<u64>,
    /// Requests sent.
    pub max_requests: Option<u32>,
    /// Repetitions of a GETBULK at first contact.
    pub max_repetitions: Option<u32>,
    /// msgMaxSize of SNMPv3, in octets.
    pub msg_max_size: Option<u32>,
    /// The most requests a second.
    pub pps: Option<u32>,
    /// The local address that requests are sent from.
    pub source: Option<IpAddr>,
    /// Addresses besides the one asked that answers are taken from, whatever their port.
    pub reply_from: Option<Vec<IpAddr>>,
}

impl Overrides {
    /// Reads those of the keys that the section knows.
    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        const ADDRESSES: &str = "a list of addresses, as [\"192.0.2.10\"]";
        let millisecond = Duration::from_millis(1);
        let count = 1..=i64::from(u32::MAX);
        let mut overrides = Self {
            timeout: section.read(cx, "timeout", |cx, n| duration(cx, n, millisecond)),
            retries: section.read(cx, "retries", |cx, n| integer(cx, n, 0..=20)),
            deadline: section.read(cx, "deadline", |cx, n| duration(cx, n, millisecond)),
            max_rows: section.read(cx, "max-rows", |cx, n| integer(cx, n, count.clone())),
            max_bytes: section.read(cx, "max-bytes", |cx, n| parsed(cx, n).map(|size: Size| size.0)),
            max_requests: section.read(cx, "max-requests", |cx, n| integer(cx, n, count)),
            max_repetitions: section.read(cx, "max-repetitions", |cx, n| integer(cx, n, 1..=10_000)),
            // The least that an engine has to take in, and the most that UDP carries.
            msg_max_size: section.read(cx, "msg-max-size", |cx, n| integer(cx, n, 484..=65_507)),
            pps: section.read(cx, "pps", |cx, n| integer(cx, n, 1..=1_000_000)),
            source: section.read(cx, "source", parsed),
            reply_from: None,
        };
        if section.knows("reply-from") {
            overrides.reply_from = section.read(cx, "reply-from", |cx, n| list(cx, n, ADDRESSES, parsed));
        }
        overrides
    }

    /// Limits with what is set here in place of theirs.
    pub(super) fn over(&self, limits: Limits) -> Limits {
        Limits {
            timeout: self.timeout.unwrap_or(limits.timeout),
            retries: self.retries.unwrap_or(limits.retries),
            deadline: self.deadline.unwrap_or(limits.deadline),
            max_requests: self.max_requests.unwrap_or(limits.max_requests),
            max_rows: self.max_rows.unwrap_or(limits.max_rows),
            max_bytes: self.max_bytes.unwrap_or(limits.max_bytes),
            max_repetitions: self.max_repetitions.unwrap_or(limits.max_repetitions),
            msg_max_size: self.msg_max_size.unwrap_or(limits.msg_max_size),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        let number = |out: &mut Writer, key: &str, value: Option<u32>| {
            if let Some(value) = value {
                out.raw(key, value);
            }
        };
        out.optional("timeout", self.timeout.map(super::duration::show));
        number(out, "retries", self.retries);
        out.optional("deadline", self.deadline.map(super::duration::show));
        number(out, "max-rows", self.max_rows);
        out.optional("max-bytes", self.max_bytes.map(Size));
        number(out, "max-requests", self.max_requests);
        number(out, "max-repetitions", self.max_repetitions);
        number(out, "msg-max-size", self.msg_max_size);
        number(out, "pps", self.pps);
        out.optional("source", self.source);
        if let Some(addresses) = &self.reply_from {
            out.strings("reply-from", addresses);
        }
    }
}
