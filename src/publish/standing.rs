//! How an export stands between publications: failures in a row, and when to try again.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Published, State};

/// The pause after the first failure; it doubles with each that follows.
const FIRST: Duration = Duration::from_secs(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(300);

/// What is remembered of an export. Plain data: the clock is passed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Failures since the last success.
    pub failures: u32,
    /// When it is tried again: after a failure, or where a change was deferred.
    pub retry_at: Option<Timestamp>,
    /// The last success.
    pub succeeded: Option<Timestamp>,
    /// How long the last publication took that changed the files.
    pub took: Option<Duration>,
}

impl Standing {
    /// Takes up what became of a publication.
    pub fn note(&mut self, published: &Published, now: Timestamp) {
        match &published.state {
            State::Failed(_) => {
                self.failures = self.failures.saturating_add(1);
                self.retry_at = Some(later(now, pause(self.failures)));
            }
            State::Deferred { until } => self.retry_at = Some(*until),
            State::Published(_) => {
                *self = Self { succeeded: Some(now), took: Some(published.took), ..Self::default() };
            }
            State::Unchanged(_) => {
                *self = Self { succeeded: Some(now), took: self.took, ..Self::default() };
            }
        }
    }

    /// Whether it may be tried: a consumer that failed is left alone for a while, whatever
    /// changes meanwhile.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.retry_at.is_none_or(|at| at <= now)
    }

    /// How long until it may be tried.
    pub fn wait(&self, now: Timestamp) -> Duration {
        let left = self.retry_at.map(|at| at.duration_since(now)).unwrap_or_default();
        Duration::try_from(left).unwrap_or_default()
    }
}

/// The pause after so many failures in a row.
fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    FIRST.saturating_mul(1 << doublings).min(LONGEST)
}

fn later(now: Timestamp, pause: Duration) -> Timestamp {
    let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::ZERO);
    now.checked_add(pause).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::{Failure, FailureReason};

    fn published(state: State) -> Published {
        Published {
            export: "dns".into(),
            generation: 1,
            state,
            warnings: vec![],
            took: Duration::from_millis(7),
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_796_000_000 + second).unwrap()
    }

    #[test]
    fn pauses_double_up_to_five_minutes_and_end_with_a_success() {
        let failed =
            published(State::Failed(Failure { reason: FailureReason::Reload, detail: String::new() }));
        let mut standing = Standing::default();
        assert!(standing.is_due(at(0)));
        let mut pauses = vec![];
        for _ in 0..9 {
            standing.note(&failed, at(0));
            pauses.push(standing.wait(at(0)).as_secs());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(standing.failures, 9);
        assert!(!standing.is_due(at(299)) && standing.is_due(at(300)));
        standing.note(&published(State::Deferred { until: at(30) }), at(0));
        assert_eq!((standing.failures, standing.retry_at), (9, Some(at(30))), "a deferral is no success");
        for _ in 0..u32::from(u16::MAX) {
            standing.note(&failed, at(0));
        }
        assert_eq!(standing.wait(at(0)).as_secs(), 300);
    }
}
