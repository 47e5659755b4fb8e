//! What a format's consumer bears, as data that a person is warned by.

use std::fmt;
use std::time::Duration;

/// A number and what happens above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The largest number that is well.
    pub most: u64,
    /// What happens above it, in a few words.
    pub above: &'static str,
}

/// What a consumer bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Different groups.
    pub groups: Option<Limit>,
    /// Rows of the file.
    pub rows: Option<Limit>,
    /// The shortest time between two changes of the file, and for how long a change is not
    /// answered with yet.
    pub settles: Option<Duration>,
}

/// Something that a consumer will not bear well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The format.
    pub format: &'static str,
    /// What there is too much of: `groups` or `rows`.
    pub of: &'static str,
    /// How many there are.
    pub found: u64,
    /// What is too much.
    pub limit: Limit,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, of, found, limit } = self;
        write!(f, "{format} with {found} {of}: above {}, {}", limit.most, limit.above)
    }
}

impl Limits {
    /// None that is known.
    pub const NONE: Self = Self { groups: None, rows: None, settles: None };

    /// What a table of so many groups and rows is too much for. Before anything was
    /// rendered, rows are none.
    pub fn warnings(&self, format: &'static str, groups: u64, rows: u64) -> Vec<Warning> {
        let counted = [("groups", groups, self.groups), ("rows", rows, self.rows)];
        let over = counted.into_iter().filter_map(|(of, found, limit)| {
            let limit = limit.filter(|limit| found > limit.most)?;
            Some(Warning { format, of, found, limit })
        });
        over.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_over_a_limit_is_warned_of() {
        let limit = |most| Some(Limit { most, above: "it is slow" });
        let limits = Limits { groups: limit(2), rows: limit(10), settles: None };
        assert_eq!(limits.warnings("x", 2, 10), []);
        let warnings = limits.warnings("x", 3, 11);
        let text: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["x with 3 groups: above 2, it is slow", "x with 11 rows: above 10, it is slow"]);
        assert_eq!(Limits::NONE.warnings("x", u64::MAX, u64::MAX), []);
    }
}
