//! A replay in words.

use std::fmt::Write as _;

use super::{Replay, ReplayedRow, ReplayedTable, RowOutcome};

impl Replay {
    /// The replay in words: what each row says, and what came of it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let known = if self.known { "knows" } else { "does not know" };
        let _ = writeln!(out, "{} {known} this router by its sysObjectID and sysDescr.", self.descriptor);
        self.tables.iter().for_each(|table| table.write(&mut out));
        for vrf in &self.contexts {
            let _ =
                writeln!(out, "\nThe router lists a context for VRF {vrf}: it needs a recording of its own.");
        }
        if self.unused_objects > 0 {
            let _ = writeln!(out, "\n{} objects of the recording are not used.", self.unused_objects);
        }
        out
    }
}

impl ReplayedTable {
    fn write(&self, out: &mut String) {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let _ = write!(out, "\nTable {} ({}): {}{reason}", self.name, self.entry, self.state);
        let _ = match self.detail.as_str() {
            "" => writeln!(out, ", {}", self.count()),
            detail => writeln!(out, ", {}: {detail}", self.count()),
        };
        self.rows.iter().for_each(|row| row.write(out));
    }

    fn count(&self) -> String {
        let of = |outcome| self.rows.iter().filter(|row| row.outcome == outcome).count();
        let (listed, rejected, passed) =
            (of(RowOutcome::Listed), of(RowOutcome::Rejected), of(RowOutcome::Passed));
        match self.gives_ranges {
            true => format!(
                "{} rows: {listed} listed, {rejected} rejected, {passed} passed over",
                self.rows.len()
            ),
            false => format!("{} rows, {rejected} rejected", self.rows.len()),
        }
    }
}

impl ReplayedRow {
    fn write(&self, out: &mut String) {
        let fields: Vec<String> =
            self.fields.iter().map(|field| format!("{}={}", field.name, field.says)).collect();
        let _ = writeln!(out, "  {}: {}", self.index, fields.join(", "));
        for range in &self.ranges {
            let vrf = if range.vrf.is_empty() { String::new() } else { format!(" in VRF {}", range.vrf) };
            let delegated =
                range.delegated_len.map(|length| format!(", delegated by /{length}")).unwrap_or_default();
            let _ =
                writeln!(out, "    -> pool {}{vrf}: {} - {}{delegated}", range.pool, range.first, range.last);
        }
        let _ = match (self.outcome, self.reason) {
            (RowOutcome::Rejected, Some(reason)) => {
                writeln!(out, "    -> rejected: {}: {}", reason.words(), self.detail)
            }
            (RowOutcome::Passed, _) => writeln!(out, "    -> {}", self.detail),
            _ => Ok(()),
        };
    }
}
