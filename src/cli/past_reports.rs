//! Reports of what was, and of why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::act_reports::changed;
use super::exit::Exit;
use super::output::Report;
use super::text::{Grid, bold, counted, dash, grouped, local};
use crate::cycle::shapes::{
    ActShape, ChangeShape, ChangedShape, ConflictShape, DiffShape, ExplainShape, GenerationShape,
    HistoryShape, OwnedShape,
};

impl Report for Vec<GenerationShape> {
    fn text(&self) -> String {
        let mut grid =
            Grid::new(&[">GENERATION", "COMMITTED", ">ADDED", ">REMOVED", ">ALTERED", ">ENTRIES", "ACTS"]);
        for one in self {
            let mut notes: Vec<String> = one.acts.iter().map(act).collect();
            if one.groups {
                notes.insert(0, "groups changed".to_owned());
            }
            grid.row([
                one.generation.to_string(),
                local(one.committed),
                one.added.to_string(),
                one.removed.to_string(),
                one.altered.to_string(),
                grouped(&one.entries.to_string()),
                notes.join("; "),
            ]);
        }
        let text = grid.finish();
        if text.is_empty() { "there is no generation yet\n".to_owned() } else { text }
    }
}

fn act(act: &ActShape) -> String {
    let mut text = format!("{} {} by {}", act.kind, act.detail, act.by);
    if let Some(reason) = &act.reason {
        let _ = write!(text, ": {reason}");
    }
    text
}

impl Report for HistoryShape {
    fn text(&self) -> String {
        let mut grid = Grid::new(&["SPACE", "FIRST", "LAST", "OWNER", "BAS", "POOL", "VRF", "FROM", "TO"]);
        for one in &self.entries {
            let until = one.to.zip(one.to_generation);
            grid.row([
                one.space.clone(),
                one.first.clone(),
                one.last.clone(),
                one.owned.owner.clone(),
                dash(one.owned.bas.as_deref()).to_owned(),
                dash(Some(&one.owned.pool)).to_owned(),
                dash(Some(&one.owned.vrf)).to_owned(),
                format!("{} ({})", local(one.from), one.from_generation),
                until.map_or_else(
                    || "now".to_owned(),
                    |(at, generation)| format!("{} ({generation})", local(at)),
                ),
            ]);
        }
        let mut text = grid.finish();
        if text.is_empty() {
            text = format!("nothing of {} was in the table as far as history is kept\n", self.of);
        }
        if !self.pools.is_empty() {
            let mut grid = Grid::new(&["POOL", "VRF", ">USED", ">OF", ">DAY'S PEAK", "READ"]);
            for pool in &self.pools {
                grid.row([
                    pool.pool.clone(),
                    dash(Some(&pool.vrf)).to_owned(),
                    grouped(&pool.used),
                    grouped(&pool.size),
                    grouped(&pool.peak),
                    local(pool.at),
                ]);
            }
            let _ = write!(text, "\n{}", grid.finish());
        }
        text
    }
}

impl Report for DiffShape {
    fn text(&self) -> String {
        let total = ChangedShape { added: self.added, removed: self.removed, altered: self.altered };
        let mut text = format!("from generation {} to {}: {}\n", self.from, self.to, changed(&total));
        text.push_str(&changes_grid(&self.changes));
        if !self.groups.is_empty() {
            let mut grid = Grid::new(&["GROUP", "EDGES BEFORE", "EDGES AFTER"]);
            for g in &self.groups {
                let before = weighed(g.before.as_ref(), &g.weights_before);
                grid.row([g.token.clone(), before, weighed(g.after.as_ref(), &g.weights_after)]);
            }
            let _ = write!(text, "\n{}", grid.finish());
        }
        if !self.owners.is_empty() {
            let mut grid = Grid::new(&["OWNER", "SERVICE", "GROUP BEFORE", "GROUP AFTER"]);
            for one in &self.owners {
                let (before, after) = (dash(one.before.as_deref()), dash(one.after.as_deref()));
                grid.row([one.owner.as_str(), &one.service, before, after]);
            }
            let _ = write!(text, "\n{}", grid.finish());
        }
        if !self.shed.is_empty() {
            let mut grid = Grid::new(&["OWNER", "SERVICE", "SHED BEFORE", "SHED AFTER"]);
            for one in &self.shed {
                let (before, after) = (shares(&one.before), shares(&one.after));
                grid.row([one.owner.clone(), one.service.clone(), before, after]);
            }
            let _ = write!(text, "\n{}", grid.finish());
        }
        text
    }

    fn exit(&self) -> Exit {
        let same = self.changes.is_empty() && self.groups.is_empty() && self.owners.is_empty();
        if same && self.shed.is_empty() { Exit::Ok } else { Exit::Held }
    }
}

/// Edges, with their weights where these differ.
fn weighed(edges: Option<&Vec<String>>, weights: &[u32]) -> String {
    let Some(edges) = edges else { return "(no such group)".to_owned() };
    if weights.windows(2).all(|pair| pair[0] == pair[1]) {
        return edges.join(" ");
    }
    let each = edges.iter().zip(weights).map(|(edge, weight)| format!("{edge} {weight}"));
    each.collect::<Vec<_>>().join(", ")
}

/// Shares of entries by edge.
fn shares(shares: &BTreeMap<String, f64>) -> String {
    let each = shares.iter().map(|(edge, share)| format!("{:.1} % to {edge}", share * 100.0));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "nothing".to_owned() } else { text }
}

/// Entry by entry, what differs.
pub(super) fn changes_grid(changes: &[ChangeShape]) -> String {
    let mut grid = Grid::new(&["", "SPACE", "FIRST", "LAST", "BEFORE", "AFTER"]);
    for one in changes {
        let sign = match one.kind.as_str() {
            "added" => "+",
            "removed" => "-",
            _ => "~",
        };
        let (before, after) = (owned(one.before.as_ref()), owned(one.after.as_ref()));
        grid.row([sign, &one.space, &one.first, &one.last, &before, &after]);
    }
    grid.finish()
}

fn owned(owned: Option<&OwnedShape>) -> String {
    let Some(owned) = owned else { return "(nobody's)".to_owned() };
    let mut text = owned.bas.clone().unwrap_or_else(|| owned.owner.clone());
    if !owned.pool.is_empty() {
        let _ = write!(text, ", pool {}", owned.pool);
    }
    if owned.origin == "static" {
        text.push_str(", static");
    }
    text
}

impl Report for Vec<ConflictShape> {
    fn text(&self) -> String {
        if self.is_empty() {
            return "no addresses are claimed more than once\n".to_owned();
        }
        let mut grid = Grid::new(&["SPACE", "FIRST", "LAST", "OWNER", "RULE", "CLAIMS"]);
        for conflict in self {
            let claims = conflict.claims.iter().map(|claim| {
                let whose = claim.bas.as_ref().unwrap_or(&claim.owner);
                format!("{whose}/{} ({})", dash(Some(&claim.pool)), claim.class)
            });
            let mut claims: Vec<String> = claims.collect();
            if conflict.more > 0 {
                claims.push(format!("and {}", counted(conflict.more, "other", "others")));
            }
            grid.row([
                conflict.space.clone(),
                conflict.first.clone(),
                conflict.last.clone(),
                conflict.owner.clone().unwrap_or_else(|| "(nobody's)".to_owned()),
                conflict.rule.clone(),
                claims.join(", "),
            ]);
        }
        format!("{}\n{}\n{}", grid.finish(), bold("Why, and what to do"), advice(self))
    }
}

/// Each rule and advice once, with how many ranges it is for.
fn advice(conflicts: &[ConflictShape]) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for one in conflicts {
        *counts.entry((&one.rule, &one.because, &one.to_do)).or_default() += 1;
    }
    counts.iter().fold(String::new(), |mut text, ((rule, because, to_do), count)| {
        let _ = writeln!(
            text,
            "* {rule} ({}): {because}.\n  To do: {to_do}.",
            counted(*count, "range", "ranges")
        );
        text
    })
}

impl Report for ExplainShape {
    fn text(&self) -> String {
        let mut text = String::new();
        self.because.iter().for_each(|sentence| {
            let _ = writeln!(text, "{sentence}");
        });
        let _ = writeln!(text, "\n{}", bold("What would change that"));
        self.would_change.iter().for_each(|sentence| {
            let _ = writeln!(text, "* {sentence}");
        });
        text
    }
}
