//! Where addresses are looked up: `[space.NAME]`.

use std::collections::BTreeMap;

use super::context::Context;
use super::error::Problem;
use super::node::{Entry, Node};
use super::print::{self, Writer};
use super::section::Section;
use super::source::Place;
use super::value::{choice, integer, list, name, text};
use crate::table::Name;

/// The space that addresses are looked up in unless another is named.
pub const INTERNET: &str = "internet";

/// The VRFs of `internet`, unless it says otherwise: what routers call the global table.
const GLOBAL: [&str; 4] = ["", "default", "global", "Base"];

/// `[space.NAME]`: an address space that GSLBs look up in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The VRFs, as routers name them, whose pools belong to it.
    pub vrfs: Vec<Name>,
    /// What becomes of private and shared addresses.
    pub private: Private,
    /// How many addresses an IPv4 pool may gain by being rounded up to the prefix around it.
    pub cover: u32,
}

/// What becomes of private and shared addresses (10/8, 172.16/12, 192.168/16, 100.64/10,
/// fc00::/7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Private {
    /// They are published like any other.
    #[default]
    Publish,
    /// They enter no table.
    Skip,
}

const PRIVATE: [(&str, Private); 2] = [("publish", Private::Publish), ("skip", Private::Skip)];

/// More is no edge of a pool.
const MOST_COVER: i64 = 1024;

impl Default for Space {
    fn default() -> Self {
        Self { vrfs: GLOBAL.map(Name::from).into(), private: Private::default(), cover: 0 }
    }
}

impl Space {
    /// The keys of `[space.NAME]`.
    pub(super) const KEYS: &'static [&'static str] = &["vrfs", "private", "cover"];

    /// Reads all spaces. No VRF may belong to two.
    pub(super) fn read_all(cx: &mut Context, entries: &[Entry]) -> BTreeMap<Name, Self> {
        let mut taken: BTreeMap<Name, (String, Place)> = BTreeMap::new();
        let mut spaces = BTreeMap::new();
        for entry in entries {
            let title = format!("[space.{}]", print::key(&entry.key));
            let Some(section) = Section::open(cx, &entry.node, &title, Self::KEYS) else { continue };
            let vrfs = Self::vrfs(cx, &section, &entry.key, &mut taken);
            let private = section.read_or(cx, "private", Private::default(), |cx, n| choice(cx, n, &PRIVATE));
            let cover = section.read_or(cx, "cover", 0, |cx, n| integer(cx, n, 0..=MOST_COVER));
            if let Some(vrfs) = vrfs {
                spaces.insert(entry.key.as_str().into(), Self { vrfs, private, cover });
            }
        }
        Self::implied(cx, &spaces, &taken);
        spaces.entry(INTERNET.into()).or_default();
        spaces
    }

    fn vrfs(
        cx: &mut Context,
        section: &Section<'_>,
        space: &str,
        taken: &mut BTreeMap<Name, (String, Place)>,
    ) -> Option<Vec<Name>> {
        if space == INTERNET && section.get("vrfs").is_none() {
            return Some(Self::default().vrfs);
        }
        section.required(cx, "vrfs", |cx, node| {
            list(cx, node, VRFS, |cx, node| {
                let vrf = vrf(cx, node)?;
                if let Some((other, place)) = taken.get(&vrf) {
                    let problem =
                        Problem::new(node.place, format!("the VRF `{vrf}` belongs to `{other}` already"));
                    cx.wrong(problem.help("expected each VRF in one space").also("it stands at", *place));
                    return None;
                }
                taken.insert(vrf.clone(), (space.to_owned(), node.place));
                Some(vrf)
            })
        })
    }

    /// The VRFs that `internet` has without being told: another space that wants one must
    /// say what is left for `internet`.
    fn implied(cx: &mut Context, spaces: &BTreeMap<Name, Self>, taken: &BTreeMap<Name, (String, Place)>) {
        let told = taken.values().any(|(space, _)| space == INTERNET);
        if told || spaces.get(INTERNET).is_some_and(|space| space.vrfs != Self::default().vrfs) {
            return;
        }
        for vrf in GLOBAL {
            if let Some((_, place)) = taken.get(vrf) {
                let problem =
                    Problem::new(*place, format!("the VRF `{vrf}` belongs to `{INTERNET}` by default"));
                cx.wrong(problem.help(format!("expected a [space.{INTERNET}] whose `vrfs` leaves it out")));
            }
        }
    }

    pub(super) fn write(&self, name: &str, out: &mut Writer) {
        out.table(&["space", name]);
        out.strings("vrfs", &self.vrfs);
        out.string("private", super::service::word(&PRIVATE, self.private));
        out.raw("cover", self.cover);
    }
}

pub(super) const VRFS: &str = "a list of VRFs, as [\"\", \"iptv\"]";

/// A VRF as a router names it: the empty name is the router's global table.
pub(super) fn vrf(cx: &mut Context, node: &Node) -> Option<Name> {
    match text(cx, node, "a VRF's name as a string")? {
        "" => Some(Name::default()),
        _ => name(cx, node),
    }
}
