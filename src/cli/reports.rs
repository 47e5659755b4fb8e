//! The shapes as reports: their text for people, their exit codes, their remarks.

use std::fmt::Write as _;

use super::act_reports::{drain_lines, pin_line, twins_lines};
use super::exit::Exit;
use super::output::Report;
use super::text::{Grid, age, bold, counted, dash, grouped, local, state};
use crate::cycle::shapes::{
    HeldShape, LookupShape, PollShape, PolledShape, PublishedShape, RangeShape, StatusShape, TableShape,
    WalkShape,
};

impl Report for WalkShape {
    fn text(&self) -> String {
        let mut text = walk_head(self);
        text.push_str(&ranges_grid(&self.ranges));
        text.push_str(&tables_lines(&self.tables));
        if !self.rejected.is_empty() {
            let _ = writeln!(text, "\n{}", bold("Rows that claim nothing"));
            let mut grid = Grid::new(&["TABLE", "INDEX", "REASON", "DETAIL"]);
            for row in &self.rejected {
                grid.row([&row.table, &row.index, &row.reason, &row.detail]);
            }
            text.push_str(&grid.finish());
        }
        text.push_str(&walk_foot(self));
        text
    }

    fn exit(&self) -> Exit {
        walk_exit(self)
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.state == "complete" && self.ranges.is_empty() {
            remarks.push(format!("warning: {} answers, but lists no range at all", self.bas));
        }
        remarks.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if let Some(detail) = &self.detail {
            remarks.push(format!("{}: {}: {detail}", self.bas, dash(self.reason.as_deref())));
        }
        remarks
    }
}

/// 0 complete, 3 some table failed, 1 nothing could be read or no table is supported.
pub(super) fn walk_exit(walk: &WalkShape) -> Exit {
    match walk.state.as_str() {
        "complete" => Exit::Ok,
        "failed" if walk.tables.iter().any(|t| t.state == "complete") => Exit::Incomplete,
        _ => Exit::Failed,
    }
}

fn walk_head(walk: &WalkShape) -> String {
    let mut text = format!(
        "{} at {}, read as {}: {}{}\n",
        bold(&walk.bas),
        walk.address,
        dash(walk.descriptor.as_deref()),
        state(&walk.state),
        walk.reason.as_ref().map(|r| format!(" ({r})")).unwrap_or_default(),
    );
    if let Some(system) = &walk.system {
        let _ = writeln!(text, "{}", system.lines().next().unwrap_or_default());
    }
    text.push('\n');
    text
}

fn walk_foot(walk: &WalkShape) -> String {
    let mut pools: Vec<(&str, &str)> =
        walk.ranges.iter().map(|r| (r.vrf.as_str(), r.pool.as_str())).collect();
    pools.sort_unstable();
    pools.dedup();
    format!(
        "\n{} in {}; {} and {} in {} ms\n",
        counted(walk.ranges.len(), "range", "ranges"),
        counted(pools.len(), "pool", "pools"),
        counted(walk.requests as usize, "request", "requests"),
        counted(walk.retries as usize, "retry", "retries"),
        walk.duration_ms,
    )
}

fn ranges_grid(ranges: &[RangeShape]) -> String {
    let mut grid = Grid::new(&["POOL", "VRF", "SPACE", "FIRST", "LAST", ">ADDRESSES", ">USED", "PREFIXES"]);
    for range in ranges {
        let used = range.used.map(|n| grouped(&n.to_string()));
        grid.row([
            range.pool.as_str(),
            dash(Some(&range.vrf)),
            range.space.as_deref().unwrap_or("(none)"),
            &range.first,
            &range.last,
            &grouped(&range.addresses),
            dash(used.as_deref()),
            &shortened(&range.prefixes),
        ]);
    }
    grid.finish()
}

/// The first few prefixes, and how many more there are.
fn shortened(prefixes: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = prefixes.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
    if prefixes.len() > SHOWN {
        let _ = write!(text, " +{}", prefixes.len() - SHOWN);
    }
    text
}

/// The tables that are worth a line: those that failed.
fn tables_lines(tables: &[TableShape]) -> String {
    let mut text = String::new();
    for table in tables.iter().filter(|t| t.state == "failed") {
        let _ = writeln!(
            text,
            "\ntable {}: {} ({}) after {}{}",
            table.name,
            state("failed"),
            dash(table.reason.as_deref()),
            counted(table.rows as usize, "row", "rows"),
            table.detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default(),
        );
    }
    text
}

impl Report for PollShape {
    fn text(&self) -> String {
        let mut text = polled_grid(&self.bas);
        let _ = writeln!(
            text,
            "\ngeneration {}: {} added, {} removed, {} altered",
            self.generation, self.changed.added, self.changed.removed, self.changed.altered
        );
        if !self.published.is_empty() {
            text.push('\n');
            text.push_str(&published_grid(&self.published));
        }
        if !self.held.is_empty() {
            let _ = writeln!(text, "\n{}", bold("Held: published as before until somebody approves"));
            text.push_str(&held_grid(&self.held));
        }
        text
    }

    fn exit(&self) -> Exit {
        let incomplete = self.bas.iter().any(|b| b.state != "complete")
            || self.published.iter().any(|p| p.state == "failed")
            || !self.filled;
        match (self.held.is_empty(), incomplete) {
            (false, _) => Exit::Held,
            (true, true) => Exit::Incomplete,
            (true, false) => Exit::Ok,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> =
            self.bas.iter().filter_map(|b| b.detail.as_ref().map(|d| format!("{}: {d}", b.name))).collect();
        remarks.extend(
            self.published
                .iter()
                .filter_map(|p| p.detail.as_ref().map(|d| format!("export {}: {d}", p.export))),
        );
        if let Some(pinned) = self.pinned {
            remarks.push(format!(
                "note: the ranges of generation {pinned} are published whatever polls find; see `poolsync status`"
            ));
        }
        if !self.filled {
            remarks.push(format!(
                "nothing is published yet: {} of {} BASes have been read completely; `poolsync poll --publish` \
                 publishes what there is",
                self.progress.complete, self.progress.bas
            ));
        }
        if let Some(held) = self.held.first() {
            remarks.push(format!(
                "{} held; see `poolsync held show {}`, then `poolsync held approve {}`",
                counted(self.held.len(), "change is", "changes are"),
                held.id,
                held.id
            ));
        }
        remarks
    }
}

fn polled_grid(polled: &[PolledShape]) -> String {
    let mut grid = Grid::new(&["BAS", "STATE", "REASON", ">ROWS", ">REQUESTS", ">MS"]);
    for bas in polled {
        let rows: u64 = bas.tables.iter().map(|t| t.rows).sum();
        grid.row([
            bas.name.clone(),
            state(&bas.state),
            dash(bas.reason.as_deref()).to_owned(),
            grouped(&rows.to_string()),
            bas.requests.to_string(),
            bas.duration_ms.to_string(),
        ]);
    }
    grid.finish()
}

fn published_grid(published: &[PublishedShape]) -> String {
    let mut grid = Grid::new(&["EXPORT", "STATE", "REASON"]);
    for export in published {
        grid.row([export.export.clone(), state(&export.state), dash(export.reason.as_deref()).to_owned()]);
    }
    grid.finish()
}

pub(super) fn held_grid(held: &[HeldShape]) -> String {
    let mut grid =
        Grid::new(&["ID", "OWNER", "SPACE", "FAMILY", "KIND", "REASON", ">UNITS", "SINCE", "DIGEST"]);
    for hold in held {
        grid.row([
            hold.id.to_string(),
            hold.bas.clone(),
            hold.space.clone(),
            format!("IPv{}", hold.family),
            hold.kind.clone(),
            held_reason(hold),
            grouped(&hold.units.to_string()),
            local(hold.since),
            hold.digest.clone(),
        ]);
    }
    grid.finish()
}

fn held_reason(hold: &HeldShape) -> String {
    let mut reason = hold.reason.clone();
    if let Some(incident) = hold.incident {
        let _ = write!(reason, " {incident}");
    }
    if hold.rejected {
        reason.push_str(" (rejected)");
    }
    reason
}

impl Report for Vec<HeldShape> {
    fn text(&self) -> String {
        if self.is_empty() { "nothing is held\n".to_owned() } else { held_grid(self) }
    }
}

impl Report for HeldShape {
    fn text(&self) -> String {
        let mut text = held_grid(std::slice::from_ref(self));
        text.push('\n');
        let mut grid = Grid::new(&["FIRST", "LAST", "PUBLISHED AS", "WOULD BECOME"]);
        for range in &self.ranges {
            let nobody = |owner: &Option<String>| owner.clone().unwrap_or_else(|| "(nobody's)".to_owned());
            grid.row([range.first.clone(), range.last.clone(), nobody(&range.from), nobody(&range.to)]);
        }
        text.push_str(&grid.finish());
        text
    }
}

impl Report for Vec<LookupShape> {
    fn text(&self) -> String {
        let mut grid = Grid::new(&["ADDRESS", "BAS", "POOL", "VRF", "GROUP", "EDGES", "ENTRY"]);
        for found in self {
            let entry = found.entry.as_ref();
            grid.row([
                found.ip.clone(),
                dash(entry.and_then(|e| e.bas.as_deref())).to_owned(),
                dash(entry.map(|e| e.pool.as_str())).to_owned(),
                dash(entry.map(|e| e.vrf.as_str())).to_owned(),
                found.group.clone(),
                found.edges.join(" "),
                entry.map_or_else(
                    || "(in no entry: default edge)".to_owned(),
                    |e| format!("{}-{}", e.first, e.last),
                ),
            ]);
        }
        grid.finish()
    }
}

impl Report for StatusShape {
    fn text(&self) -> String {
        let mut text = status_head(self);
        let mut grid =
            Grid::new(&["BAS", "STATE", "REASON", ">AGE", ">RANGES", ">ADDRESSES", ">HELD", "DESCRIPTOR"]);
        for bas in &self.bas {
            let word = if bas.stale { format!("{} (stale)", bas.state) } else { bas.state.clone() };
            grid.row([
                bas.name.clone(),
                if bas.stale { word } else { state(&word) },
                dash(bas.reason.as_deref()).to_owned(),
                bas.age_s.map_or_else(|| "never".to_owned(), age),
                grouped(&bas.ranges.to_string()),
                grouped(&bas.addresses),
                if bas.held == 0 { "-".to_owned() } else { grouped(&bas.held.to_string()) },
                dash(bas.descriptor.as_deref()).to_owned(),
            ]);
        }
        text.push_str(&grid.finish());
        if !self.exports.is_empty() {
            text.push('\n');
            let mut grid = Grid::new(&["EXPORT", "STATE", "REASON", ">GENERATION", "WRITTEN"]);
            for export in &self.exports {
                grid.row([
                    export.name.clone(),
                    state(&export.state),
                    dash(export.reason.as_deref()).to_owned(),
                    export.generation.map_or_else(|| "-".to_owned(), |g| g.to_string()),
                    export.published.map_or_else(|| "-".to_owned(), local),
                ]);
            }
            text.push_str(&grid.finish());
        }
        text
    }
}

fn status_head(status: &StatusShape) -> String {
    let mut text = String::new();
    if let Some(pin) = &status.pin {
        text.push_str(&pin_line(pin));
    }
    text.push_str(&drain_lines(&status.drained));
    if status.held > 0 {
        let _ = writeln!(
            text,
            "{} {}; see `poolsync held list`",
            bold("HELD:"),
            counted(status.held, "change waits", "changes wait")
        );
    }
    if !status.filled {
        let _ = writeln!(
            text,
            "{} {} of {} BASes tried, {} read completely: nothing is published yet",
            bold("NOT FILLED:"),
            status.progress.tried,
            status.progress.bas,
            status.progress.complete
        );
    }
    text.push_str(&twins_lines(&status.twins));
    let _ = writeln!(
        text,
        "generation {} of session {}{}; {}; {}\n",
        status.generation,
        status.session,
        status.committed.map(|at| format!(", committed {}", local(at))).unwrap_or_default(),
        counted(status.conflicts, "conflict", "conflicts"),
        if status.running { "the daemon runs" } else { "no daemon runs" },
    );
    text
}
