//! Times as the database has them: nanoseconds since 1970, exactly as the clock gave them, so
//! that a time compares the same before and after a restart.

use jiff::Timestamp;

use super::error::Fault;

/// The number of a time. Beyond the years 1677 to 2262, where only a broken clock is, the
/// nearest there is.
pub(super) fn stored(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The time of a number.
pub(super) fn loaded(nanoseconds: i64) -> Result<Timestamp, Fault> {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).map_err(|error| Fault::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_to_the_nanosecond() {
        let time: Timestamp = "2026-11-29T01:02:03.123456789Z".parse().unwrap();
        assert_eq!(loaded(stored(time)).unwrap(), time);
        let before: Timestamp = "1931-01-01T00:00:00.000000001Z".parse().unwrap();
        assert_eq!(loaded(stored(before)).unwrap(), before);
    }

    #[test]
    fn a_clock_that_is_off_by_centuries_is_kept_as_that() {
        for (time, year) in [(Timestamp::MAX, 2262), (Timestamp::MIN, 1677)] {
            let kept = loaded(stored(time)).unwrap();
            assert_eq!(kept.to_string().split('-').next(), Some(year.to_string().as_str()));
        }
    }
}
