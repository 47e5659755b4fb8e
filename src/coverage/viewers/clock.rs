//! Times as logs write them, in seconds since 1970 (UTC).

/// A time in one of the ways that logs write them: `10/Oct/2025:13:55:36 +0200` (common log
/// format), `2025-10-10T13:55:36.5+02:00` (RFC 3339; UTC where no offset stands), seconds or
/// milliseconds since 1970.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    match text {
        [_, _, b'/', ..] => common(text),
        [_, _, _, _, b'-', ..] => rfc3339(text),
        _ => epoch(text),
    }
}

fn common(text: &[u8]) -> Option<i64> {
    let month = match text.get(3..6)? {
        b"Jan" => 1,
        b"Feb" => 2,
        b"Mar" => 3,
        b"Apr" => 4,
        b"May" => 5,
        b"Jun" => 6,
        b"Jul" => 7,
        b"Aug" => 8,
        b"Sep" => 9,
        b"Oct" => 10,
        b"Nov" => 11,
        b"Dec" => 12,
        _ => return None,
    };
    let (day, year) = (digits(text, 0, 2)?, digits(text, 7, 4)?);
    if !matches!((text.get(6), text.get(11)), (Some(b'/'), Some(b':'))) {
        return None;
    }
    let local = date(year, month, day)? + time(text, 12)?;
    match text.get(20..)?.split_first() {
        Some((b' ', offset)) => Some(local - self::offset(offset)?),
        _ => None,
    }
}

fn rfc3339(text: &[u8]) -> Option<i64> {
    let parts = (digits(text, 0, 4)?, digits(text, 5, 2)?, digits(text, 8, 2)?);
    if text.get(7) != Some(&b'-') || !matches!(text.get(10), Some(b'T' | b't' | b' ')) {
        return None;
    }
    let local = date(parts.0, parts.1, parts.2)? + time(text, 11)?;
    let rest = text.get(19..)?;
    let rest = match rest {
        [b'.' | b',', fraction @ ..] => {
            let length = fraction.iter().take_while(|octet| octet.is_ascii_digit()).count();
            fraction.get(length..)?
        }
        _ => rest,
    };
    match rest {
        [] | [b'Z' | b'z'] => Some(local),
        _ => Some(local - offset(rest)?),
    }
}

fn epoch(text: &[u8]) -> Option<i64> {
    let length = text.iter().take_while(|octet| octet.is_ascii_digit()).count();
    let fraction = match text.get(length..)? {
        [] => &[][..],
        [b'.', fraction @ ..] => fraction,
        _ => return None,
    };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Of any other length it is no time, and may be beyond all numbers.
    let parts = match length {
        9..=10 => 1,
        13 => 1000,
        16 => 1_000_000,
        _ => return None,
    };
    let number = text.get(..length)?.iter().fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
    Some(number / parts)
}

/// `hh:mm:ss` at a place.
fn time(text: &[u8], at: usize) -> Option<i64> {
    let (hour, minute, second) = (digits(text, at, 2)?, digits(text, at + 3, 2)?, digits(text, at + 6, 2)?);
    let parted = text.get(at + 2) == Some(&b':') && text.get(at + 5) == Some(&b':');
    // 60 is a leap second.
    (parted && hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// `+0200` or `+02:00`, in seconds.
fn offset(text: &[u8]) -> Option<i64> {
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let minutes = if text.get(3) == Some(&b':') { 4 } else { 3 };
    (text.len() == minutes + 2).then_some(())?;
    Some(sign * (digits(text, 1, 2)? * 3600 + digits(text, minutes, 2)? * 60))
}

fn digits(text: &[u8], at: usize, count: usize) -> Option<i64> {
    text.get(at..at + count)?.iter().try_fold(0, |number, octet| match octet {
        b'0'..=b'9' => Some(number * 10 + i64::from(octet - b'0')),
        _ => None,
    })
}

/// The first second of a day, by the count of days in the Gregorian calendar.
fn date(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last of its year.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some((era * 146_097 + days - 719_468) * 86_400)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_as_logs_write_them() {
        // date -d '2025-10-10 11:55:36 UTC' +%s
        let wanted = Some(1_760_097_336);
        for text in [
            "10/Oct/2025:13:55:36 +0200",
            "10/Oct/2025:11:55:36 +0000",
            "2025-10-10T11:55:36Z",
            "2025-10-10T13:55:36.250+02:00",
            "2025-10-10 11:55:36",
            "2025-10-10 11:55:36,123",
            "1760097336",
            "1760097336.25",
            "1760097336000",
        ] {
            assert_eq!(seconds(text.as_bytes()), wanted, "{text}");
        }
        for text in [
            "",
            "-",
            "10/Okt/2025:13:55:36 +0200",
            "10/Oct/2025:13:55",
            "2025-13-10T11:55:36Z",
            "2025-10-10",
            "12",
            "17600973360",
            "17600973360000000000000",
            "1760097336x",
            "2025-10-10T25:00:00Z",
        ] {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn equals_the_calendar(second in -30_000_000_000i64..200_000_000_000) {
            let time = Timestamp::from_second(second).unwrap();
            prop_assert_eq!(seconds(time.to_string().as_bytes()), Some(second));
        }
    }
}
