//! How much of the pools is in use, as routers count it themselves: per BAS the most in each
//! hour, per pool the last value and the day's peak. Never part of a generation.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Listing, Name, PoolName};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The most addresses of a BAS in use within one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourUse {
    /// Hours since 1970 UTC.
    pub hour: i64,
    /// How many addresses there were, in the ranges whose use is counted.
    pub size: u64,
    /// How many of them were in use.
    pub used: u64,
}

/// How much of one pool is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolUse {
    /// The VRF as the router names it.
    pub vrf: Name,
    /// The pool.
    pub pool: PoolName,
    /// When it was read.
    pub at: Timestamp,
    /// How many addresses it had, in the ranges whose use is counted.
    pub size: u64,
    /// How many of them were in use.
    pub used: u64,
    /// Days since 1970 UTC.
    pub day: i64,
    /// The most in use that day.
    pub peak: u64,
}

/// What polls of one BAS counted since it was last written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    hours: BTreeMap<i64, HourUse>,
    pools: BTreeMap<(Name, PoolName), PoolUse>,
}

impl Usage {
    /// Takes in what a poll read. Ranges without a count of use say nothing; a range without
    /// a size of the router's own has as many addresses as it spans.
    pub fn note(&mut self, at: Timestamp, listed: &Listing) {
        let mut pools: BTreeMap<(&Name, &PoolName), (u64, u64)> = BTreeMap::new();
        for row in listed.iter() {
            let Some(used) = row.used else { continue };
            let span = u64::try_from(row.range.span()).unwrap_or(u64::MAX).saturating_add(1);
            let sum = pools.entry((row.vrf, row.pool)).or_default();
            sum.0 = sum.0.saturating_add(row.size.unwrap_or(span));
            sum.1 = sum.1.saturating_add(used);
        }
        if pools.is_empty() {
            return;
        }
        let add =
            |sum: (u64, u64), one: &(u64, u64)| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1));
        let (size, used) = pools.values().fold((0, 0), add);
        let hour = at.as_second().div_euclid(HOUR);
        let most = self.hours.entry(hour).or_insert(HourUse { hour, size, used });
        if used >= most.used {
            (most.size, most.used) = (size, used);
        }
        for ((vrf, pool), (size, used)) in pools {
            self.note_pool(at, vrf, pool, size, used);
        }
    }

    fn note_pool(&mut self, at: Timestamp, vrf: &Name, pool: &PoolName, size: u64, used: u64) {
        let day = at.as_second().div_euclid(DAY);
        let key = (vrf.clone(), pool.clone());
        let before = self.pools.get(&key).filter(|known| known.day == day).map_or(0, |known| known.peak);
        let (vrf, pool) = key.clone();
        self.pools.insert(key, PoolUse { vrf, pool, at, size, used, day, peak: used.max(before) });
    }

    /// The hours.
    pub fn hours(&self) -> impl Iterator<Item = &HourUse> {
        self.hours.values()
    }

    /// The pools.
    pub fn pools(&self) -> impl Iterator<Item = &PoolUse> {
        self.pools.values()
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::table::{Listed, Row, Standing};

    fn row(pool: &str, range: &str, size: Option<u64>, used: Option<u64>) -> Listed {
        Listed {
            table: "pools".into(),
            row: Row { context: "".into(), index: [1].into() },
            space: None,
            vrf: "".into(),
            pool: PoolName::new(pool.as_bytes()),
            range: range.parse().unwrap(),
            size,
            used,
            standing: Standing::Listed,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_add_up_and_the_peak_is_the_days() {
        let mut usage = Usage::default();
        // 256 addresses and 100 by the router's own count; the third range is not counted.
        let rows = |a, b| {
            Listing::from(vec![
                row("a", "10.0.0.0/24", None, Some(a)),
                row("a", "10.0.1.0/24", Some(100), Some(b)),
                row("b", "10.0.2.0/24", None, None),
            ])
        };
        usage.note(at("2026-11-29T22:10:00Z"), &rows(200, 50));
        usage.note(at("2026-11-29T22:50:00Z"), &rows(10, 20));
        let hours: Vec<_> = usage.hours().copied().collect();
        // 2026-11-29 is day 20786: 20786 * 24 + 22.
        assert_eq!(hours, [HourUse { hour: 498_886, size: 356, used: 250 }]);
        let pools: Vec<_> = usage.pools().cloned().collect();
        assert_eq!(pools.len(), 1);
        assert_eq!((pools[0].size, pools[0].used, pools[0].peak, pools[0].day), (356, 30, 250, 20_786));

        usage.note(at("2026-11-30T00:00:00Z"), &rows(1, 2));
        let pools: Vec<_> = usage.pools().cloned().collect();
        assert_eq!((pools[0].used, pools[0].peak, pools[0].day), (3, 3, 20_787));
        assert_eq!(usage.hours().count(), 2);
    }

    #[test]
    fn what_no_router_counts_is_not_noted() {
        let mut usage = Usage::default();
        usage.note(at("2026-11-29T22:10:00Z"), &vec![row("a", "2001:db8::/32", None, None)].into());
        assert_eq!(usage, Usage::default());
        usage.note(at("2026-11-29T22:10:00Z"), &vec![row("a", "2001:db8::/32", None, Some(3))].into());
        assert_eq!(usage.pools().next().unwrap().size, u64::MAX, "more than can be said");
    }
}
