//! The shapes as reports: their text for people, their exit codes, their remarks.

use std::fmt::Write as _;

use super::act_reports::{drain_lines, pin_line};
use super::exit::Exit;
use super::export_reports::exports_text;
use super::output::Report;
use super::steer_reports::steering_lines;
use super::text::{Grid, age, bold, counted, dash, grouped, local, state};
use crate::cycle::shapes::{
    HeldShape, LookupShape, NotificationsShape, PollShape, PolledShape, PublishedShape, StatusShape,
};
use crate::mib::Fault;

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
        let vanished = self.bas.iter().filter(|b| b.reason.as_deref() == Some(Fault::Vanished.as_str()));
        remarks.extend(vanished.map(|PolledShape { name, .. }| {
            format!("{name}: nothing is lost by it; if it is for good, `poolsync poll {name} --forget`")
        }));
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
        if let Some(notifications) = &self.notifications {
            text.push_str(&notifications_lines(notifications));
        }
        if !self.exports.is_empty() {
            text.push('\n');
            text.push_str(&exports_text(&self.exports));
        }
        if !self.steering.is_empty() {
            text.push('\n');
            text.push_str(&steering_lines(&self.steering));
        }
        text
    }
}

fn notifications_lines(notifications: &NotificationsShape) -> String {
    let number = |count: u64| grouped(&count.to_string());
    let some = |count: u64, one, more| counted(usize::try_from(count).unwrap_or(usize::MAX), one, more);
    let mut text = format!(
        "\nnotifications on {}: {} received; {} and {} believed, {} of them left out by oids; {}\n",
        notifications.listen.join(", "),
        number(notifications.received),
        some(notifications.traps, "trap", "traps"),
        some(notifications.informs, "inform", "informs"),
        number(notifications.filtered),
        some(notifications.polls, "poll came of them", "polls came of them"),
    );
    if let Some(last) = &notifications.last_refused {
        let causes: Vec<String> = notifications
            .refused
            .iter()
            .map(|(cause, count)| format!("{cause} {}", number(*count)))
            .collect();
        let _ = writeln!(
            text,
            "refused: {}; the last from {} at {} ({})",
            causes.join(", "),
            last.from,
            local(last.at),
            last.cause
        );
    }
    text
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
