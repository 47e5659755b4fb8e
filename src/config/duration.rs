//! Durations as people write them: `"5m"`, `"1h 30m"`, `"90d"`.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

use super::value::FromText;

/// The longest duration: ten years. A longer one is a slip, and arithmetic with times stays
/// in range.
const MAX: Duration = Duration::from_secs(3650 * 86_400);

/// A duration in the friendly form of jiff, or ISO 8601; a day has 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text(pub(super) Duration);

impl FromText for Text {
    const EXPECTED: &'static str = "a number with a unit, as \"500ms\", \"5m\", \"1h 30m\" or \"90d\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let span: Span = text.parse().map_err(|_| "is not a duration".to_owned())?;
        if span.is_negative() {
            return Err("lies in the past".to_owned());
        }
        let signed = span
            .to_duration(SpanRelativeTo::days_are_24_hours())
            .map_err(|_| "counts months or years, whose length differs".to_owned())?;
        let duration = Duration::try_from(signed).map_err(|_| "is not a duration".to_owned())?;
        if duration > MAX {
            return Err("is longer than ten years".to_owned());
        }
        Ok(Self(duration))
    }
}

/// The text of a duration; reading it gives the duration again.
pub(super) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [
        (seconds / 86_400, "d"),
        (seconds % 86_400 / 3600, "h"),
        (seconds % 3600 / 60, "m"),
        (seconds % 60, "s"),
        (u64::from(duration.subsec_millis()), "ms"),
        (u64::from(duration.subsec_micros() % 1000), "us"),
        (u64::from(duration.subsec_nanos() % 1000), "ns"),
    ];
    let words: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if words.is_empty() { "0s".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Duration, String> {
        Text::from_text(text).map(|text| text.0)
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, milliseconds) in [
            ("5m", 300_000),
            ("500ms", 500),
            ("1h 30m", 5_400_000),
            ("90d", 7_776_000_000),
            ("1w", 604_800_000),
            ("1.5s", 1500),
            ("PT5M", 300_000),
            ("0s", 0),
        ] {
            assert_eq!(read(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "5", "5x", "m", "-5m", "5m ago", "1mo", "1y", "3651d", "99999999999999999999d", " "]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn shown_durations_read_back(seconds in 0..MAX.as_secs(), nanos in 0..1_000_000_000u32) {
            let duration = Duration::new(seconds, nanos);
            proptest::prop_assert_eq!(read(&show(duration)), Ok(duration));
        }
    }
}
