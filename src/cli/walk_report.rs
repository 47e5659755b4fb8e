//! The report of `walk`: for a person at a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::exit::Exit;
use super::output::Report;
use super::text::{Grid, bold, counted, dash, grouped, state};
use crate::cycle::shapes::{RangeShape, RejectedShape, TableShape, VrfShape, WalkShape};

/// How many rows of a table are told that claim nothing for the same reason.
const TOLD: usize = 8;

impl Report for WalkShape {
    fn text(&self) -> String {
        let mut text = head(self);
        text.push_str(&ranges_grid(&self.ranges));
        text.push_str(&vrfs_grid(&self.vrfs));
        text.push_str(&tables_grid(&self.tables));
        text.push_str(&rejected_lines(&self.rejected));
        text.push_str(&foot(self));
        text
    }

    /// 0 complete, 3 some table failed, 1 nothing could be read or no table is supported.
    fn exit(&self) -> Exit {
        match self.state.as_str() {
            "complete" => Exit::Ok,
            "failed" if self.tables.iter().any(|t| t.state == "complete") => Exit::Incomplete,
            _ => Exit::Failed,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.state == "complete" && self.ranges.is_empty() {
            remarks.push(format!("warning: {} answers, but lists no range at all", self.bas));
        }
        for seen in self.vrfs.iter().filter(|seen| seen.space.is_none()) {
            let pools = counted(seen.pools, "pool enters", "pools enter");
            let vrf = &seen.vrf;
            remarks.push(format!(
                "note: the VRF `{vrf}` belongs to no space, its {pools} no table; a [space.NAME] takes it in by vrfs = [\"{vrf}\"]"
            ));
        }
        remarks.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if let Some(detail) = &self.detail {
            remarks.push(format!("{}: {}: {detail}", self.bas, dash(self.reason.as_deref())));
        }
        remarks
    }
}

impl WalkShape {
    /// Whether it is the descriptor that lacks, and not the router or the way to it.
    pub(super) fn is_uncovered(&self) -> bool {
        matches!(self.reason.as_deref(), Some("no-descriptor" | "no-tables"))
    }
}

fn head(walk: &WalkShape) -> String {
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

fn ranges_grid(ranges: &[RangeShape]) -> String {
    let delegated = ranges.iter().any(|range| range.delegated_len.is_some());
    let mut headings = vec!["POOL", "VRF", "SPACE", "FIRST", "LAST", ">ADDRESSES", ">USED"];
    headings.extend(delegated.then_some(">DELEGATED"));
    headings.push("PREFIXES");
    let mut grid = Grid::new(&headings);
    for range in ranges {
        let used = range.used.map(|n| grouped(&n.to_string()));
        let mut cells = vec![
            range.pool.clone(),
            dash(Some(&range.vrf)).to_owned(),
            space(range.space.as_deref()).to_owned(),
            range.first.clone(),
            range.last.clone(),
            grouped(&range.addresses),
            dash(used.as_deref()).to_owned(),
        ];
        if delegated {
            cells.push(range.delegated_len.map_or_else(|| "-".to_owned(), |length| format!("/{length}")));
        }
        cells.push(shortened(&range.prefixes));
        grid.row(cells);
    }
    grid.finish()
}

fn space(space: Option<&str>) -> &str {
    space.unwrap_or("(none)")
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

fn vrfs_grid(vrfs: &[VrfShape]) -> String {
    let mut grid = Grid::new(&["VRF", "SPACE", ">POOLS", ">RANGES", ">IPV4 ADDRESSES, IPV6 /64S"]);
    for seen in vrfs {
        grid.row([
            if seen.vrf.is_empty() { "(default)" } else { &seen.vrf },
            space(seen.space.as_deref()),
            &seen.pools.to_string(),
            &seen.ranges.to_string(),
            &grouped(&seen.units),
        ]);
    }
    before(grid.finish())
}

/// What each table cost, and what was wrong with it.
fn tables_grid(tables: &[TableShape]) -> String {
    let mut grid = Grid::new(&["TABLE", "STATE", ">ROWS", ">REQUESTS", ">MS", "REASON"]);
    let or_none = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    for table in tables {
        grid.row([
            table.name.clone(),
            state(&table.state),
            grouped(&table.rows.to_string()),
            or_none(table.requests.map(|n| n.to_string())),
            or_none(table.duration_ms.map(|n| n.to_string())),
            match (&table.reason, &table.detail) {
                (Some(reason), Some(detail)) => format!("{reason}: {detail}"),
                (reason, _) => reason.clone().unwrap_or_default(),
            },
        ]);
    }
    before(grid.finish())
}

/// An empty line before what is not empty.
fn before(text: String) -> String {
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Which rows claim nothing and why: of each table and reason the first few.
fn rejected_lines(rejected: &[RejectedShape]) -> String {
    if rejected.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", bold("Rows that claim nothing"));
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rejected {
        let told = kinds.entry((&row.table, &row.reason)).or_default();
        *told += 1;
        if *told <= TOLD {
            let _ = writeln!(text, "{}", row.sentence);
        }
    }
    for ((table, reason), count) in kinds.into_iter().filter(|(_, count)| *count > TOLD) {
        let more = counted(count - TOLD, "row", "rows");
        let _ = writeln!(text, "and {more} more of {table}: {reason} (--json lists them all)");
    }
    text
}

fn foot(walk: &WalkShape) -> String {
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
