//! How an export stands between publications: failures in a row, and when to try again.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Failure, Published, State};

/// The pause after the first failure; it doubles with each that follows.
const FIRST: Duration = Duration::from_secs(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(300);

/// What is remembered of an export. Plain data: the clock is passed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Failures since the last success.
    pub failures: u32,
    /// The first of these failures.
    pub failing_since: Option<Timestamp>,
    /// When it is tried again: after a failure, or where a change was deferred.
    pub retry_at: Option<Timestamp>,
    /// The last success.
    pub succeeded: Option<Timestamp>,
    /// How long the last publication took that changed the files.
    pub took: Option<Duration>,
    /// When the consumer was last seen to answer as the files say.
    pub confirmed: Option<Timestamp>,
    /// Where it was asked since, and did not answer so.
    pub doubt: Option<Doubt>,
}

/// A consumer that does not answer as its files say, although nothing was published since it
/// did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// When this was first found.
    pub since: Timestamp,
    /// What it answered last, for people.
    pub detail: String,
}

impl Standing {
    /// Takes up what became of a publication.
    pub fn note(&mut self, published: &Published, now: Timestamp) {
        match &published.state {
            State::Failed(_) => {
                self.failures = self.failures.saturating_add(1);
                self.failing_since.get_or_insert(now);
                self.retry_at = Some(later(now, pause(self.failures)));
            }
            State::Deferred { until } => self.retry_at = Some(*until),
            State::Published(manifest) => {
                *self = Self {
                    succeeded: Some(now),
                    took: Some(published.took),
                    confirmed: manifest.confirmed,
                    ..Self::default()
                };
            }
            State::Unchanged(manifest) => {
                *self = Self {
                    succeeded: Some(now),
                    took: self.took.or_else(|| manifest.took_ms.map(Duration::from_millis)),
                    confirmed: self.confirmed.max(manifest.confirmed),
                    doubt: self.doubt.take(),
                    ..Self::default()
                };
            }
        }
    }

    /// Takes up what the consumer answered, where it was asked between publications.
    pub fn asked(&mut self, answered: Result<(), Failure>, now: Timestamp) {
        match answered {
            Ok(()) => (self.confirmed, self.doubt) = (Some(now), None),
            Err(failure) => {
                let since = self.doubt.as_ref().map_or(now, |doubt| doubt.since);
                self.doubt = Some(Doubt { since, detail: failure.detail });
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
    use crate::publish::FailureReason;

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
        assert_eq!((standing.failures, standing.failing_since), (9, Some(at(0))));
        assert!(!standing.is_due(at(299)) && standing.is_due(at(300)));
        standing.note(&published(State::Deferred { until: at(30) }), at(0));
        assert_eq!((standing.failures, standing.retry_at), (9, Some(at(30))), "a deferral is no success");
        for _ in 0..u32::from(u16::MAX) {
            standing.note(&failed, at(0));
        }
        assert_eq!(standing.wait(at(0)).as_secs(), 300);
    }

    #[test]
    fn a_consumer_that_does_not_answer_as_before_is_doubted_since_the_first_time() {
        let wrong = |detail: &str| Err(Failure { reason: FailureReason::Canary, detail: detail.to_owned() });
        let mut standing = Standing::default();
        standing.asked(Ok(()), at(10));
        assert_eq!((standing.confirmed, &standing.doubt), (Some(at(10)), &None));
        standing.asked(wrong("one"), at(20));
        standing.asked(wrong("two"), at(30));
        let doubt = Doubt { since: at(20), detail: "two".to_owned() };
        assert_eq!((standing.confirmed, &standing.doubt), (Some(at(10)), &Some(doubt)));
        standing.asked(Ok(()), at(40));
        assert_eq!((standing.confirmed, standing.doubt), (Some(at(40)), None));
    }
}
