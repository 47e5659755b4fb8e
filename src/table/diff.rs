//! What differs between two tables: a linear merge of two sorted lists.

use super::Entry;

/// One difference between two tables. `Altered` keeps its space and range and changes in
/// anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entry is new.
    Added(Entry),
    /// The entry's owner, pool, VRF, BAS or origin changed; its range did not.
    Altered {
        /// As it was.
        before: Entry,
        /// As it is.
        after: Entry,
    },
    /// The entry is gone.
    Removed(Entry),
}
