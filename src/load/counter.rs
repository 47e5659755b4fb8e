//! Counters to rates.

use jiff::Timestamp;

use super::error::CountError;

/// Octet counters of a device at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octets {
    /// The 64-bit counters, by interface.
    pub values: Vec<(u32, u64)>,
    /// When each was last set back, as the device tells it (ifCounterDiscontinuityTime).
    pub discontinuities: Vec<Option<u32>>,
    /// sysUpTime in hundredths of a second.
    pub up_time: Option<u32>,
    /// When they were read.
    pub at: Timestamp,
}

/// How much more than measured here a device may say that it ran: its count of 32 bits runs
/// over every 497 days.
const SLACK_S: f64 = 60.0;
/// What no edge carries: 2^50 octets per second. A counter that went so far was set back.
const MOST_OCTETS_PER_S: f64 = 1_125_899_906_842_624.0;

impl Octets {
    /// The bits per second of all interfaces since the reading before.
    ///
    /// # Errors
    /// Where the two give no rate: restarted, set back, other interfaces, no time between.
    pub fn bits_per_second(&self, before: Option<&Self>) -> Result<f64, CountError> {
        let before = before.ok_or(CountError::First)?;
        let elapsed = seconds(before.at, self.at).ok_or(CountError::Clock)?;
        let names = |octets: &Self| octets.values.iter().map(|(index, _)| *index).collect::<Vec<u32>>();
        if names(before) != names(self) {
            return Err(CountError::Others);
        }
        if self.restarted(before, elapsed) || self.discontinuities != before.discontinuities {
            return Err(CountError::Reset);
        }
        let mut octets = 0.0;
        for ((_, from), (_, to)) in before.values.iter().zip(&self.values) {
            // A counter may run over its end between two readings; set back it seems to have
            // run nearly all the way round.
            let ran = to.wrapping_sub(*from) as f64;
            if ran / elapsed > MOST_OCTETS_PER_S {
                return Err(CountError::Reset);
            }
            octets += ran;
        }
        Ok(octets * 8.0 / elapsed)
    }

    fn restarted(&self, before: &Self, elapsed: f64) -> bool {
        match (before.up_time, self.up_time) {
            (Some(from), Some(to)) => {
                to < from && f64::from(to.wrapping_sub(from)) / 100.0 > elapsed + SLACK_S
            }
            _ => false,
        }
    }
}

/// A count that only grows, as a float: Prometheus counters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// The count.
    pub value: f64,
    /// When it was read.
    pub at: Timestamp,
}

/// What a counter grows by in a second.
pub type Rate = f64;

/// The rate of a counter that begins anew when its process does.
///
/// # Errors
/// Where the two give none.
pub fn rate(before: Option<Counted>, now: Counted) -> Result<Rate, CountError> {
    let before = before.ok_or(CountError::First)?;
    let elapsed = seconds(before.at, now.at).ok_or(CountError::Clock)?;
    if now.value < before.value {
        return Err(CountError::Reset);
    }
    Ok((now.value - before.value) / elapsed)
}

fn seconds(from: Timestamp, to: Timestamp) -> Option<f64> {
    let elapsed = to.duration_since(from).as_secs_f64();
    (elapsed > 0.0).then_some(elapsed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn octets(at: i64, up_time: Option<u32>, values: &[(u32, u64)]) -> Octets {
        Octets {
            values: values.to_vec(),
            discontinuities: vec![Some(0); values.len()],
            up_time,
            at: Timestamp::from_second(at).unwrap(),
        }
    }

    #[test]
    fn octets_of_all_interfaces_become_bits_per_second() {
        let before = octets(100, Some(1000), &[(1, 1_000), (2, 5_000)]);
        let now = octets(110, Some(2000), &[(1, 2_250), (2, 5_000)]);
        // 1,250 octets in ten seconds.
        assert_eq!(now.bits_per_second(Some(&before)), Ok(1_000.0));
        assert_eq!(now.bits_per_second(None), Err(CountError::First));
        assert_eq!(before.bits_per_second(Some(&now)), Err(CountError::Clock));
    }

    #[test]
    fn a_counter_runs_over_its_end_and_one_set_back_gives_no_rate() {
        let before = octets(0, None, &[(1, u64::MAX - 99)]);
        assert_eq!(octets(10, None, &[(1, 1_150)]).bits_per_second(Some(&before)), Ok(1_000.0));
        let before = octets(0, None, &[(1, 5_000)]);
        assert_eq!(octets(10, None, &[(1, 10)]).bits_per_second(Some(&before)), Err(CountError::Reset));
    }

    #[test]
    fn a_restart_is_a_reset_even_where_the_counter_is_already_larger() {
        let before = octets(0, Some(500_000), &[(1, 10)]);
        let after = octets(300, Some(20_000), &[(1, 90_000)]);
        assert_eq!(after.bits_per_second(Some(&before)), Err(CountError::Reset));
        // The 32-bit count of hundredths ran over its end: 300 s, and a little more by its clock.
        let before = octets(0, Some(u32::MAX - 9_999), &[(1, 0)]);
        let after = octets(300, Some(20_100), &[(1, 37_500)]);
        assert_eq!(after.bits_per_second(Some(&before)), Ok(1_000.0));
        let mut other = octets(300, Some(20_100), &[(1, 37_500)]);
        other.discontinuities = vec![Some(7)];
        assert_eq!(other.bits_per_second(Some(&before)), Err(CountError::Reset));
    }

    #[test]
    fn other_interfaces_give_no_rate() {
        let before = octets(0, None, &[(1, 0)]);
        assert_eq!(octets(9, None, &[(2, 5)]).bits_per_second(Some(&before)), Err(CountError::Others));
    }

    #[test]
    fn a_count_that_fell_began_anew() {
        let at = |second, value| Counted { value, at: Timestamp::from_second(second).unwrap() };
        assert_eq!(rate(Some(at(0, 10.0)), at(5, 20.0)), Ok(2.0));
        assert_eq!(rate(Some(at(0, 10.0)), at(5, 9.0)), Err(CountError::Reset));
        assert_eq!(rate(None, at(5, 9.0)), Err(CountError::First));
        assert_eq!(rate(Some(at(5, 1.0)), at(5, 9.0)), Err(CountError::Clock));
    }

    proptest! {
        #[test]
        fn a_rate_is_never_negative_or_absurd(from: u64, to: u64, up in any::<[Option<u32>; 2]>(), second in 1..100_000_i64) {
            let before = octets(0, up[0], &[(1, from)]);
            if let Ok(rate) = octets(second, up[1], &[(1, to)]).bits_per_second(Some(&before)) {
                prop_assert!((0.0..=MOST_OCTETS_PER_S * 8.0).contains(&rate));
            }
        }
    }
}
