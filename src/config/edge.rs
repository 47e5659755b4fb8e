//! Who answers: `[edge.NAME]`.

use std::net::IpAddr;

use super::context::Context;
use super::distance::{place, write_place};
use super::endpoint::HostName;
use super::error::Problem;
use super::feed::Feed;
use super::node::Entry;
use super::print::{self, Writer};
use super::section::Section;
use super::value::{FromText, amount, integer, name, parsed, some};
use crate::steer::{Amount, Place};
use crate::table::{Edge, Name, Token};

/// What steering has to know of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeTraits {
    /// Its static weight.
    pub weight: u32,
    /// What one unit of load on it costs, for the third term of a plan.
    pub cost: Amount,
    /// Where it stands.
    pub place: Option<Place>,
    /// Where its load is read.
    pub feed: Option<Feed>,
}

impl Default for EdgeTraits {
    fn default() -> Self {
        Self { weight: 1, cost: Amount::ZERO, place: None, feed: None }
    }
}

/// The keys of `[edge.NAME]`.
pub(super) const KEYS: &[&str] = &["addresses", "host", "region", "weight", "cost", "place", "load"];

/// Reads `[edge.NAME]`.
pub(super) fn read(cx: &mut Context, entry: &Entry) -> Option<(Edge, EdgeTraits)> {
    const ADDRESSES: &str = "a list of at least one address, as [\"198.51.100.10\", \"2001:db8:1::10\"]";
    let title = format!("[edge.{}]", print::key(&entry.key));
    legal_token(cx, entry);
    let section = Section::open(cx, &entry.node, &title, KEYS)?;
    let addresses = section.read(cx, "addresses", |cx, node| some(cx, node, ADDRESSES, parsed::<IpAddr>));
    let host = section.read(cx, "host", parsed).map(|host: HostName| host.0.into());
    let region = section.read(cx, "region", name);
    if section.get("addresses").is_none() && section.get("host").is_none() {
        let problem = Problem::new(section.place(), format!("{title} has neither `addresses` nor `host`"));
        cx.wrong(problem.help("expected at least one: where viewers are sent to"));
    }
    let edge =
        Edge { name: entry.key.as_str().into(), addresses: addresses.unwrap_or_default(), host, region };
    let default = EdgeTraits::default();
    let traits = EdgeTraits {
        weight: section.read_or(cx, "weight", default.weight, |cx, n| integer(cx, n, 0..=1_000_000)),
        cost: section.read_or(cx, "cost", default.cost, amount),
        place: section.read(cx, "place", place),
        feed: section.read(cx, "load", |cx, n| Feed::read(cx, n, &entry.key)),
    };
    Some((edge, traits))
}

/// An edge's name stands in exports as it is, so it must be able to.
fn legal_token(cx: &mut Context, entry: &Entry) {
    const EXPECTED: &str =
        "expected 1 to 63 of A-Z, a-z, 0-9, _ and -: the name stands in the exported files";
    if Name::from_text(&entry.key).is_ok() && Token::new(&entry.key).is_none() {
        let problem = Problem::new(entry.place, "this is not a name that an edge may have");
        cx.wrong(problem.help(EXPECTED));
        return;
    }
    let digits = entry.key.strip_prefix("g-").unwrap_or_default();
    if digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        let problem = Problem::new(entry.place, "names like this are those of groups of several edges");
        cx.wrong(problem.help("expected another name than `g-` and ten hex digits"));
    }
}

pub(super) fn write(edge: &Edge, traits: Option<&EdgeTraits>, out: &mut Writer) {
    out.table(&["edge", &edge.name]);
    if !edge.addresses.is_empty() {
        out.strings("addresses", &edge.addresses);
    }
    out.optional("host", edge.host.as_ref());
    out.optional("region", edge.region.as_ref());
    let Some(traits) = traits else { return };
    out.raw("weight", traits.weight);
    out.raw("cost", traits.cost.get());
    write_place(traits.place, out);
    if let Some(feed) = &traits.feed {
        feed.write(&edge.name, out);
    }
}
