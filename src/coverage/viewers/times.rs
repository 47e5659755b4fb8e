//! Requests over time, in steps that widen with the span of the log.

use std::collections::BTreeMap;

use super::count::{Counter, Sums};

/// Steps in seconds, from a minute to four weeks.
const STEPS: [i64; 8] = [60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400, 28 * 86_400];

/// The most steps that are kept; with more the steps widen.
const MOST: usize = 1500;

/// Counts by time. What a counter counts between two calls of [`Times::at`] happened at the
/// time of the first.
#[derive(Debug)]
pub(super) struct Times {
    step: usize,
    buckets: BTreeMap<i64, Sums>,
    /// Requests whose time could not be read, or for which there is no room.
    untimed: Sums,
    /// The step that is being counted.
    now: Option<i64>,
    /// The time that was told last.
    second: Option<Option<i64>>,
    /// What the counter had when it began.
    base: Sums,
}

impl Times {
    pub(super) fn new() -> Self {
        Self {
            step: 0,
            buckets: BTreeMap::new(),
            untimed: Sums::default(),
            now: None,
            second: None,
            base: Sums::default(),
        }
    }

    /// From here on requests are of this time.
    #[inline]
    pub(super) fn at(&mut self, second: Option<i64>, counter: &mut Counter<'_>) {
        if self.second == Some(second) {
            return;
        }
        self.second = Some(second);
        let bucket = second.map(|second| second.div_euclid(self.width()));
        if bucket != self.now {
            self.book(counter);
            self.now = second.map(|second| second.div_euclid(self.width()));
        }
    }

    /// Books what was counted since the last call.
    pub(super) fn book(&mut self, counter: &mut Counter<'_>) {
        counter.flush();
        let counted = counter.sums.since(&self.base);
        self.base = counter.sums;
        if counted == Sums::default() {
            return;
        }
        let is_there = self.now.is_some_and(|now| self.buckets.contains_key(&now));
        let room = is_there || self.buckets.len() < MOST || self.widen();
        // Where the steps were widened, the number is another one.
        let bucket = match self.now.filter(|_| room) {
            Some(now) => self.buckets.entry(now).or_default(),
            None => &mut self.untimed,
        };
        bucket.add(&counted);
    }

    /// The steps' width in seconds.
    pub(super) fn width(&self) -> i64 {
        STEPS.get(self.step).copied().unwrap_or(60)
    }

    /// The counts by the first second of their step, in order.
    pub(super) fn steps(&self) -> impl Iterator<Item = (i64, &Sums)> {
        let width = self.width();
        self.buckets.iter().map(move |(bucket, sums)| (bucket * width, sums))
    }

    /// Requests without a time.
    pub(super) const fn untimed(&self) -> &Sums {
        &self.untimed
    }

    /// Widens the steps until there is room. False where there are no wider ones.
    fn widen(&mut self) -> bool {
        while self.buckets.len() >= MOST {
            let Some(wider) = STEPS.get(self.step + 1) else { return false };
            let factor = wider / self.width();
            let mut buckets: BTreeMap<i64, Sums> = BTreeMap::new();
            for (bucket, sums) in &self.buckets {
                buckets.entry(bucket.div_euclid(factor)).or_default().add(sums);
            }
            self.buckets = buckets;
            self.now = self.now.map(|now| now.div_euclid(factor));
            self.step += 1;
        }
        true
    }
}
