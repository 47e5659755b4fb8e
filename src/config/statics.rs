//! What no router reports: `[[static]]`, and the lines of `static-file`.

use std::collections::BTreeMap;

use super::bas::edges;
use super::context::Context;
use super::error::Problem;
use super::node::Node;
use super::place::INTERNET;
use super::print::{self, Writer};
use super::section::Section;
use super::service::word;
use super::source::Place;
use super::value::{FromText, choice, parsed, reference};
use crate::address::{Range, never_published};
use crate::table::Name;

/// What the owner of a static line's addresses begins with, where it names edges.
pub(super) const OWNER_PREFIX: &str = "edges:";

/// A static line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticLine {
    /// The addresses.
    pub range: Range,
    /// The space.
    pub space: Name,
    /// Whose they are.
    pub target: Target,
    /// Whether routers go before it.
    pub mode: Mode,
}

/// Whose the addresses of a static line are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A BAS's.
    Bas(Name),
    /// Nobody's; they are answered with these edges, nearest first.
    Edges(Vec<Name>),
}

impl Target {
    /// The owner that stands for these edges: `edges:` and their names, `,` between them.
    pub fn owner_of_edges(edges: &[Name]) -> Name {
        let names: Vec<&str> = edges.iter().map(Name::as_str).collect();
        format!("{OWNER_PREFIX}{}", names.join(",")).into()
    }
}

/// Whether a static line goes before routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// It gives way to every router.
    #[default]
    Fill,
    /// It goes before every router.
    Override,
}

const MODES: [(&str, Mode); 2] = [("fill", Mode::Fill), ("override", Mode::Override)];

/// The keys of a static file: its lines fill, and cannot override.
pub(super) const FILE_KEYS: &[&str] = &["range", "bas", "edges", "space"];

impl StaticLine {
    /// The keys of `[[static]]`.
    pub(super) const KEYS: &'static [&'static str] = &["range", "bas", "edges", "space", "mode"];

    /// Reads a line whose table may have `keys`.
    pub(super) fn read(cx: &mut Context, node: &Node, keys: &'static [&'static str]) -> Option<Self> {
        let section = Section::open(cx, node, "a static line", keys)?;
        let range = section.required(cx, "range", range);
        let space =
            section.read_or(cx, "space", INTERNET.into(), |cx, n| reference(cx, n, "space", |cx| &cx.spaces));
        let target = Self::target(cx, &section);
        let mode = match section.knows("mode") {
            true => section.read_or(cx, "mode", Mode::Fill, |cx, n| choice(cx, n, &MODES)),
            false => Mode::Fill,
        };
        Some(Self { range: range?, space, target: target?, mode })
    }

    fn target(cx: &mut Context, section: &Section<'_>) -> Option<Target> {
        match (section.get("bas"), section.get("edges")) {
            (Some(node), None) => reference(cx, node, "bas", |cx| &cx.bas).map(Target::Bas),
            (None, Some(node)) => edges(cx, node).map(Target::Edges),
            (Some(_), Some(node)) => {
                let problem = Problem::new(node.place, "a static line has `bas` or `edges`, not both");
                cx.wrong(problem.help("expected exactly one of `bas`, `edges`"));
                None
            }
            (None, None) => {
                let problem = Problem::new(section.place(), "this static line has neither `bas` nor `edges`");
                cx.wrong(problem.help("expected exactly one of `bas`, `edges`"));
                None
            }
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.element("static");
        out.string("range", self.range);
        match &self.target {
            Target::Bas(bas) => out.string("bas", bas),
            Target::Edges(edges) => out.raw("edges", print::list(edges)),
        }
        out.string("space", &self.space);
        out.string("mode", word(&MODES, self.mode));
    }
}

/// Notes lines that give the very same addresses to two.
pub(super) fn contradictions(cx: &mut Context, lines: &[(StaticLine, Place)]) {
    let mut seen: BTreeMap<_, (&Target, Place)> = BTreeMap::new();
    for (line, place) in lines {
        match seen.insert((&line.space, line.range, line.mode), (&line.target, *place)) {
            Some((target, first)) if *target != line.target => {
                let message = format!("{} belongs to another by an earlier line", line.range);
                cx.wrong(
                    Problem::new(*place, message)
                        .help("expected one of them")
                        .also("the first stands at", first),
                );
            }
            _ => (),
        }
    }
}

impl FromText for Range {
    const EXPECTED: &'static str =
        "a prefix (\"203.0.113.0/24\"), an address, or first-last (\"203.0.113.3-203.0.113.250\")";

    fn from_text(text: &str) -> Result<Self, String> {
        if let Ok(net) = text.parse::<ipnet::IpNet>()
            && net.addr() != net.network()
        {
            return Err(format!("has bits set behind the prefix, which is {}", net.trunc()));
        }
        text.parse().map_err(|_| "is not a range".to_owned())
    }
}

/// A range that can be published at all.
fn range(cx: &mut Context, node: &Node) -> Option<Range> {
    let range: Range = parsed(cx, node)?;
    if let Some(never) = never_published(range) {
        let problem = Problem::new(node.place, format!("addresses of {never} are never published"));
        cx.wrong(problem.help("expected addresses that a host of a network may have"));
        return None;
    }
    Some(range)
}
