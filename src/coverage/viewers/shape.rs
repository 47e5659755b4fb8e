//! What a line of a log looks like, and where its address and its time stand.

use std::fmt;

use thiserror::Error;

use super::address::in_field;
use super::clock;
use super::json::Keys;

/// What the lines of a log look like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogShape {
    /// To be found out by the first lines: addresses alone, a log that begins with them, or
    /// JSON with one of the usual keys.
    #[default]
    Auto,
    /// An address a line.
    Plain,
    /// The address is a field of the line.
    Field {
        /// Which field, from 1.
        number: u32,
        /// What stands between fields; blanks and tabs, any number of them, where this is none.
        separator: Option<u8>,
    },
    /// Lines of JSON.
    Json {
        /// The address's key; `.` leads into objects.
        key: String,
        /// The time's key; one of the usual ones where this is none.
        time: Option<String>,
    },
}

impl fmt::Display for LogShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Plain => f.write_str("an address a line"),
            Self::Field { number, separator: None } => write!(f, "field {number}"),
            Self::Field { number, separator: Some(octet) } => {
                write!(f, "field {number} between `{}`", char::from(*octet).escape_debug())
            }
            Self::Json { key, .. } => write!(f, "JSON, key {key}"),
        }
    }
}

/// Why it is not clear where a log has its addresses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The addresses are not in the first field.
    #[error("the lines do not begin with an address, but field {0} is one: say that it is meant")]
    Elsewhere(u32),
    /// None of the usual keys has an address.
    #[error("none of the usual keys has an address; say which one has: {}", .0.join(", "))]
    NoKey(Vec<String>),
    /// There is no address to be seen.
    #[error("no address is to be seen in the first lines; the first is `{0}`")]
    Nothing(String),
}

/// Where the time of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePlace {
    /// Nowhere.
    None,
    /// In brackets, as the common log format has it.
    Brackets,
    /// In a field, from 0.
    Field(usize),
}

/// How lines are read.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// An address a line.
    Plain,
    /// Fields.
    Fields { number: usize, separator: Option<u8>, time: TimePlace },
    /// JSON; whether it has a time.
    Json { keys: Keys, timed: bool },
}

const ADDRESS_KEYS: [&str; 14] = [
    "remote_addr",
    "client_ip",
    "clientip",
    "client_addr",
    "client",
    "remote_ip",
    "remoteip",
    "ip",
    "c-ip",
    "c_ip",
    "ClientIP",
    "src_ip",
    "client.ip",
    "request.remote_ip",
];

const TIME_KEYS: [&str; 9] = [
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "time_iso8601",
    "time_local",
    "msec",
    "date",
    "EdgeStartTimestamp",
];

/// How many lines are looked at.
const SAMPLE: usize = 100;

/// How a log is read that is said to look like this, by its first lines.
pub(super) fn reading(shape: &LogShape, head: &[u8]) -> Result<(LogShape, Reading), ShapeError> {
    // The last line of what was read so far may be half a line.
    let whole = head.get(..memchr::memrchr(b'\n', head).unwrap_or(0)).unwrap_or_default();
    let mut sample = sample(whole);
    if sample.is_empty() {
        sample = self::sample(head);
    }
    let shape = match shape {
        LogShape::Auto => found(&sample)?,
        told => told.clone(),
    };
    let reading = match &shape {
        LogShape::Auto | LogShape::Plain => Reading::Plain,
        LogShape::Field { number, separator } => {
            let time = time_place(&sample, *separator);
            Reading::Fields { number: number.saturating_sub(1) as usize, separator: *separator, time }
        }
        LogShape::Json { key, time } => {
            let time = match time {
                Some(time) => Some(time.as_str()),
                None => TIME_KEYS.into_iter().find(|key| timed(&sample, key)),
            };
            let keys: Vec<&str> = std::iter::once(key.as_str()).chain(time).collect();
            Reading::Json { keys: Keys::new(&keys), timed: time.is_some() }
        }
    };
    Ok((shape, reading))
}

/// The first lines that say something.
fn sample(text: &[u8]) -> Vec<&[u8]> {
    let lines = text.split(|octet| *octet == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(SAMPLE).collect()
}

/// The shape by the first lines.
fn found(sample: &[&[u8]]) -> Result<LogShape, ShapeError> {
    let most =
        |fits: &dyn Fn(&[u8]) -> bool| sample.iter().filter(|line| fits(line)).count() * 2 > sample.len();
    if most(&|line| line.starts_with(b"{")) {
        let key = ADDRESS_KEYS
            .into_iter()
            .find(|key| most(&|line| json_value(line, key, |v| in_field(v).is_some())));
        return match key {
            Some(key) => Ok(LogShape::Json { key: key.to_owned(), time: None }),
            None => Err(ShapeError::NoKey(ADDRESS_KEYS.iter().map(ToString::to_string).collect())),
        };
    }
    if most(&|line| in_field(line).is_some()) {
        return Ok(LogShape::Plain);
    }
    let is_address =
        |line: &[u8], number| fields(line, None).nth(number).is_some_and(|f| in_field(f).is_some());
    match (0..40).find(|number| most(&|line| is_address(line, *number))) {
        Some(0) => Ok(LogShape::Field { number: 1, separator: None }),
        Some(number) => Err(ShapeError::Elsewhere(number as u32 + 1)),
        None => {
            let first = sample.first().map(|line| shown(line)).unwrap_or_default();
            Err(ShapeError::Nothing(first))
        }
    }
}

fn json_value(line: &[u8], key: &str, fits: impl Fn(&[u8]) -> bool) -> bool {
    Keys::new(&[key]).values(line).is_some_and(|[value, _]| value.is_some_and(fits))
}

fn timed(sample: &[&[u8]], key: &str) -> bool {
    sample.iter().any(|line| json_value(line, key, |value| clock::seconds(value).is_some()))
}

fn time_place(sample: &[&[u8]], separator: Option<u8>) -> TimePlace {
    if sample.iter().any(|line| in_brackets(line).is_some_and(|text| clock::seconds(text).is_some())) {
        return TimePlace::Brackets;
    }
    let is_time =
        |line: &[u8], at| fields(line, separator).nth(at).is_some_and(|f| clock::seconds(f).is_some());
    let place = (0..40).find(|at| sample.iter().filter(|line| is_time(line, *at)).count() * 2 > sample.len());
    place.map_or(TimePlace::None, TimePlace::Field)
}

/// What stands in the first brackets, as far as a time may be long.
#[inline]
pub(super) fn in_brackets(line: &[u8]) -> Option<&[u8]> {
    let from = memchr::memchr(b'[', line)? + 1;
    line.get(from..from + 26)
}

/// The fields of a line. A field in quotes may hold separators.
pub(super) fn fields(line: &[u8], separator: Option<u8>) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let mut line = rest?;
        let ends = |octet: &u8| match separator {
            Some(separator) => *octet == separator,
            None => matches!(octet, b' ' | b'\t' | b'\r'),
        };
        if separator.is_none() {
            line = line.get(line.iter().take_while(|octet| ends(octet)).count()..)?;
            if line.is_empty() {
                rest = None;
                return None;
            }
        }
        let from = match line.split_first() {
            Some((b'"', inner)) => inner.iter().position(|octet| *octet == b'"').map_or(0, |end| end + 2),
            _ => 0,
        };
        let behind = line.get(from..)?;
        let end = from + behind.iter().position(ends).unwrap_or(behind.len());
        let field = line.get(..end)?;
        rest = line.get(end + 1..);
        Some(field)
    })
}

/// The beginning of a line as a message may show it.
pub(super) fn shown(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(line.get(..line.len().min(4 * SHOWN)).unwrap_or_default());
    let mut quoted: String = text.trim().chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.trim().chars().nth(SHOWN).is_some() || line.len() > 4 * SHOWN {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(head: &str) -> Result<LogShape, ShapeError> {
        reading(&LogShape::Auto, head.as_bytes()).map(|(shape, _)| shape)
    }

    #[test]
    fn shapes_are_found_by_the_first_lines() {
        assert_eq!(shape("# x\n192.0.2.1\n2001:db8::1\nhalf"), Ok(LogShape::Plain));
        let field = Ok(LogShape::Field { number: 1, separator: None });
        assert_eq!(shape("192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] \"GET / HTTP/1.1\" 200 5\n"), field);
        let json = "{\"time\":\"2025-10-10T11:55:36Z\",\"client\":{\"ip\":\"192.0.2.1\"}}\n";
        assert_eq!(shape(json), Ok(LogShape::Json { key: "client.ip".into(), time: None }));
        assert_eq!(shape("host 192.0.2.1 x\n"), Err(ShapeError::Elsewhere(2)));
        assert_eq!(shape("hello\n"), Err(ShapeError::Nothing("hello".into())));
        assert!(matches!(shape("{\"a\":1}\n"), Err(ShapeError::NoKey(_))));
    }

    #[test]
    fn times_are_found_where_they_stand() {
        let place = |line: &str, separator| time_place(&[line.as_bytes()], separator);
        assert_eq!(place("192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] \"x\"", None), TimePlace::Brackets);
        assert_eq!(place("192.0.2.1 2025-10-10T11:55:36Z x", None), TimePlace::Field(1));
        assert_eq!(place("1760097336.5,192.0.2.1", Some(b',')), TimePlace::Field(0));
        assert_eq!(place("192.0.2.1 - 7", None), TimePlace::None);
    }

    #[test]
    fn fields_may_stand_in_quotes() {
        let cut = |line: &str, separator| {
            fields(line.as_bytes(), separator)
                .map(|f| String::from_utf8_lossy(f).into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(cut("  a \t b \"c d\" e\"f g\r", None), ["a", "b", "\"c d\"", "e\"f", "g"]);
        assert_eq!(cut("a,,\"b,c\",", Some(b',')), ["a", "", "\"b,c\"", ""]);
        assert_eq!(cut("", None), Vec::<String>::new());
        assert_eq!(cut("\"a", Some(b',')), ["\"a"]);
    }
}
