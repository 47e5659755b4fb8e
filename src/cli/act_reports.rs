//! Reports of what operators do.

use std::fmt::Write as _;

use super::exit::Exit;
use super::output::Report;
use super::text::{Grid, age, bold, counted, dash, grouped, local, state};
use crate::cycle::shapes::{
    ChangedShape, DrainShape, EdgeShape, EdgeWeightShape, PinShape, PinnedShape, PublishedShape, ReloadShape,
    TwinsShape,
};

impl Report for PinnedShape {
    fn text(&self) -> String {
        let what = match &self.pin {
            Some(pin) => pin_line(pin),
            None => "nothing is pinned: what polls and approvals have come to is published\n".to_owned(),
        };
        let changed = match self.changed.is_empty() {
            true => "what is published did not change by it".to_owned(),
            false => format!("what is published changed by it: {}", changed(&self.changed)),
        };
        format!("{what}{changed}\n")
    }

    fn exit(&self) -> Exit {
        published_exit(&self.published)
    }

    fn remarks(&self) -> Vec<String> {
        published_remarks(&self.published)
    }
}

/// How many entries differ, in words.
pub(super) fn changed(changed: &ChangedShape) -> String {
    format!("{} added, {} removed, {} altered", changed.added, changed.removed, changed.altered)
}

/// Incomplete where an export could not be published.
pub(super) fn published_exit(published: &[PublishedShape]) -> Exit {
    match published.iter().any(|export| export.state == "failed") {
        true => Exit::Incomplete,
        false => Exit::Ok,
    }
}

pub(super) fn published_remarks(published: &[PublishedShape]) -> Vec<String> {
    let failed = published.iter().filter(|export| export.state == "failed");
    failed
        .map(|e| format!("export {}: {}: {}", e.export, dash(e.reason.as_deref()), dash(e.detail.as_deref())))
        .collect()
}

/// What is pinned, in a line.
pub(super) fn pin_line(pin: &PinShape) -> String {
    let mut line = match pin.kind.as_str() {
        "freeze" => format!("{} generation {} stays published", bold("FROZEN:"), pin.generation),
        _ => format!("{} the ranges of generation {} are published", bold("PINNED:"), pin.generation),
    };
    let _ = write!(line, ", whatever polls find, until {}; by {}", local(pin.expires), pin.by);
    if let Some(reason) = &pin.reason {
        let _ = write!(line, ": {reason}");
    }
    match pin.waiting.is_empty() {
        true => line.push('\n'),
        false => {
            let _ = writeln!(line, "\n        beneath it wait {}", changed(&pin.waiting));
        }
    }
    line
}

/// One line for each two names that look like one router, with the remedy.
pub(super) fn twins_lines(twins: &[TwinsShape]) -> String {
    twins.iter().fold(String::new(), |mut text, twins| {
        let [a, b] = &twins.bas;
        let same = if twins.same == "engine-id" { "SNMP engine id" } else { "sysName" };
        let _ = writeln!(
            text,
            "{} {a} and {b} have one {same} and the same ranges: if they are one router, give both the same `pair`",
            bold("TWO NAMES:"),
        );
        text
    })
}

/// What is drained, a line each.
pub(super) fn drain_lines(drained: &[DrainShape]) -> String {
    drained.iter().fold(String::new(), |mut text, drain| {
        let _ = writeln!(
            text,
            "{} edge {} since {} by {}: {}",
            bold("DRAINED:"),
            drain.edge,
            local(drain.since),
            drain.by,
            drain.reason
        );
        if drain.default {
            let _ = writeln!(text, "         it is the default edge: addresses in no entry still go to it");
        }
        text
    })
}

impl Report for Vec<EdgeShape> {
    fn text(&self) -> String {
        let mut grid = Grid::new(&[
            "EDGE", "STATE", ">GROUPS", "WEIGHT", "REGION", ">LOAD", ">OF", ">READ", "SINCE", "BY", "REASON",
        ]);
        for edge in self {
            let (load, capacity) = load_cells(edge);
            grid.row([
                if edge.default { format!("{} (default)", edge.name) } else { edge.name.clone() },
                state(&edge.state),
                edge.groups.to_string(),
                weight_cell(&edge.weights),
                dash(edge.region.as_deref()).to_owned(),
                load,
                capacity,
                edge.load_age_s
                    .filter(|_| edge.load.is_some())
                    .map_or_else(|| "-".to_owned(), |s| format!("{} ago", age(s))),
                edge.since.map_or_else(|| "-".to_owned(), local),
                dash(edge.by.as_deref()).to_owned(),
                dash(edge.reason.as_deref()).to_owned(),
            ]);
        }
        grid.finish()
    }
}

/// What an edge carries and can carry; why it is unknown.
fn load_cells(edge: &EdgeShape) -> (String, String) {
    let Some(load) = &edge.load else { return ("-".to_owned(), "-".to_owned()) };
    if let Some(reason) = &load.reason {
        return (format!("unknown ({reason}, {} times)", load.missed), "-".to_owned());
    }
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| grouped(&format!("{v:.0}")));
    (number(load.load), number(load.capacity))
}

/// The share that an edge has in groups of several edges: from the least to the most.
fn weight_cell(weights: &[EdgeWeightShape]) -> String {
    let share = |weight: &EdgeWeightShape| 100.0 * f64::from(weight.weight) / f64::from(weight.of.max(1));
    let shares = || weights.iter().map(share);
    match (shares().reduce(f64::min), shares().reduce(f64::max)) {
        (Some(least), Some(most)) if (most - least).abs() < 0.5 => format!("{least:.0} %"),
        (Some(least), Some(most)) => format!("{least:.0}-{most:.0} %"),
        _ => "-".to_owned(),
    }
}

impl Report for EdgeShape {
    fn text(&self) -> String {
        match self.state.as_str() {
            "drained" => format!(
                "{} is drained: taken out of {}\n",
                self.name,
                counted(self.drained_from, "group", "groups")
            ),
            _ => format!("{} is up: in {}\n", self.name, counted(self.groups, "group", "groups")),
        }
    }

    fn exit(&self) -> Exit {
        published_exit(&self.published)
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = published_remarks(&self.published);
        if self.state == "drained" && self.default {
            let name = &self.name;
            remarks
                .push(format!("warning: {name} is the default edge: addresses in no entry still go to it"));
        }
        remarks
    }
}

impl Report for ReloadShape {
    fn text(&self) -> String {
        format!(
            "{} in the configuration; generation {}: {}\n",
            counted(self.bas, "BAS", "BASes"),
            self.generation,
            changed(&self.changed)
        )
    }

    fn exit(&self) -> Exit {
        match self.held {
            0 => published_exit(&self.published),
            _ => Exit::Held,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = published_remarks(&self.published);
        if self.held > 0 {
            let held = counted(self.held, "change is", "changes are");
            remarks.push(format!("{held} held; see `poolsync held list`"));
        }
        remarks
    }
}
