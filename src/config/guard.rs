//! When a change waits, and when a BAS is stale: `[guard]`, `[stale]`.

use std::time::Duration;

use super::context::Context;
use super::node::Node;
use super::poll::share;
use super::print::Writer;
use super::quantity::{Bits, Share};
use super::section::Section;
use super::value::{duration, integer, parsed};
use crate::table::MaxRange;

/// `[guard]`: which changes are held back until a person, or repeated evidence, approves
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The share of the table that may go in the window.
    pub remove: Share,
    /// The share of one owner's addresses that may go in the window.
    pub remove_bas: Share,
    /// The share of the table that may change its owner in the window.
    pub r#move: Share,
    /// By how much the table may grow in the window.
    pub add: Share,
    /// By how much one owner may grow in the window.
    pub add_bas: Share,
    /// A loss of fewer addresses (IPv6: /64s) is never over a share.
    pub ignore_below: u64,
    /// How far back the reference goes.
    pub window: Duration,
    /// Polls without an address that approve a partial loss; 0: always a person.
    pub confirm: u32,
    /// How long after a boot a poll only adds.
    pub settle: Duration,
    /// How old a stale BAS's last complete poll must be for others to take over.
    pub takeover: Duration,
    /// The largest range that a row may claim, as prefix lengths.
    pub max_range: MaxRange,
}

impl Default for Guard {
    fn default() -> Self {
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        Self {
            remove: Share::percent(10),
            remove_bas: Share::percent(50),
            r#move: Share::percent(30),
            add: Share::percent(20),
            add_bas: Share::percent(200),
            ignore_below: 1024,
            window: hours(24),
            confirm: 12,
            settle: Duration::from_secs(600),
            takeover: hours(6),
            max_range: MaxRange::default(),
        }
    }
}

impl Guard {
    /// The keys of `[guard]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "remove",
        "remove-bas",
        "move",
        "add",
        "add-bas",
        "ignore-below",
        "window",
        "confirm",
        "settle",
        "takeover",
        "max-range",
    ];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        let default = Self::default();
        let second = Duration::from_secs(1);
        Self {
            remove: section.read_or(cx, "remove", default.remove, share),
            remove_bas: section.read_or(cx, "remove-bas", default.remove_bas, share),
            r#move: section.read_or(cx, "move", default.r#move, share),
            add: section.read_or(cx, "add", default.add, parsed),
            add_bas: section.read_or(cx, "add-bas", default.add_bas, parsed),
            ignore_below: section
                .read_or(cx, "ignore-below", default.ignore_below, |cx, n| integer(cx, n, 0..=i64::MAX)),
            window: section.read_or(cx, "window", default.window, |cx, n| duration(cx, n, second)),
            confirm: section.read_or(cx, "confirm", default.confirm, |cx, n| integer(cx, n, 0..=100_000)),
            settle: section.read_or(cx, "settle", default.settle, |cx, n| duration(cx, n, Duration::ZERO)),
            takeover: section.read_or(cx, "takeover", default.takeover, |cx, n| duration(cx, n, second)),
            max_range: section.read_or(cx, "max-range", default.max_range, max_range),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["guard"]);
        out.string("remove", self.remove);
        out.string("remove-bas", self.remove_bas);
        out.string("move", self.r#move);
        out.string("add", self.add);
        out.string("add-bas", self.add_bas);
        out.raw("ignore-below", self.ignore_below);
        out.duration("window", self.window);
        out.raw("confirm", self.confirm);
        out.duration("settle", self.settle);
        out.duration("takeover", self.takeover);
        let MaxRange { v4, v6 } = self.max_range;
        out.raw("max-range", format_args!("{{ v4 = \"/{v4}\", v6 = \"/{v6}\" }}"));
    }
}

/// The keys of `max-range`.
pub(super) const MAX_RANGE: &[&str] = &["v4", "v6"];

fn max_range(cx: &mut Context, node: &Node) -> Option<MaxRange> {
    let section = Section::open(cx, node, "`max-range`", MAX_RANGE)?;
    let default = MaxRange::default();
    Some(MaxRange {
        v4: section.read_or(cx, "v4", default.v4, |cx, n| parsed(cx, n).map(|bits: Bits<32>| bits.0)),
        v6: section.read_or(cx, "v6", default.v6, |cx, n| parsed(cx, n).map(|bits: Bits<128>| bits.0)),
    })
}

/// `[stale]`: when a BAS counts as stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The age of its last complete poll.
    pub after: Duration,
}

impl Default for Stale {
    fn default() -> Self {
        Self { after: Duration::from_secs(1800) }
    }
}

impl Stale {
    /// The keys of `[stale]`.
    pub(super) const KEYS: &'static [&'static str] = &["after"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        let second = Duration::from_secs(1);
        Self { after: section.read_or(cx, "after", Self::default().after, |cx, n| duration(cx, n, second)) }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["stale"]);
        out.duration("after", self.after);
    }
}
