//! How old what is published is when it is used.

use std::fmt;

use serde::Serialize;

/// The ages that add up, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Staleness {
    /// Between two readings of the loads.
    pub interval_s: f64,
    /// From a reading to the consumer's answer.
    pub publish_s: f64,
    /// How long an answer may be kept, its time to live.
    pub ttl_s: f64,
    /// How long a session lasts, in the mean.
    pub session_s: f64,
}

/// What loads of such an age are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// Far younger than a session: every policy works as it should.
    Fresh,
    /// Between a tenth of a session and a whole one: loads help, absolute bounds do not hold.
    Ageing,
    /// Older than a session: equal weights do as well.
    Stale,
}

impl Staleness {
    /// The age of a load at the end of its use.
    pub fn age_s(&self) -> f64 {
        self.interval_s + self.publish_s + self.ttl_s
    }

    /// What loads of this age are good for.
    pub fn good_for(&self) -> Use {
        match self.age_s() {
            age if age > self.session_s => Use::Stale,
            age if age > self.session_s / 10.0 => Use::Ageing,
            _ => Use::Fresh,
        }
    }
}

impl fmt::Display for Staleness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.good_for() {
            Use::Fresh => "fresh enough for every policy",
            Use::Ageing => "loads help, but a bound on an edge's load is not kept",
            Use::Stale => "longer than a session: equal weights do as well as any policy by load",
        };
        write!(
            f,
            "loads are up to {:.0} s old when they decide (interval {:.0} s, publishing {:.0} s, time to live {:.0} s), a session lasts {:.0} s: {verdict}",
            self.age_s(),
            self.interval_s,
            self.publish_s,
            self.ttl_s,
            self.session_s
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_add_up_and_are_held_against_a_session() {
        let at = |interval_s, ttl_s| Staleness { interval_s, publish_s: 2.0, ttl_s, session_s: 120.0 };
        assert_eq!(at(5.0, 5.0).good_for(), Use::Fresh);
        assert_eq!(at(10.0, 30.0).good_for(), Use::Ageing);
        assert_eq!(at(60.0, 60.0).good_for(), Use::Stale);
        assert!(at(60.0, 60.0).to_string().contains("122 s old"), "{}", at(60.0, 60.0));
    }
}
