//! What operators do, as it is remembered and logged.

use jiff::Timestamp;

use super::shapes::ChangedShape;
use crate::table::{Act, ActKind, Name, Table, diff};

/// An act of now.
pub(super) fn act(kind: ActKind, by: Name, reason: Option<&str>, detail: String, now: Timestamp) -> Act {
    Act { at: now, kind, by, reason: reason.unwrap_or_default().into(), detail }
}

/// How much differs between two tables.
pub(super) fn changed(before: &Table, after: &Table) -> ChangedShape {
    ChangedShape::of(&diff(before, after))
}
