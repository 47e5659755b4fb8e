//! Recorded walks in the `.snmprec` form: a line `OID|TYPE|VALUE` per object, where TYPE is
//! the BER tag in decimal, with an `x` behind it where VALUE is the octets in hex, whatever
//! they mean under that tag. snmpsim's variation modules (`TYPE:module`) make answers up and
//! are refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use thiserror::Error;

use super::message::read_value;
use super::{Oid, Value};

/// A recorded walk: every object, in the order of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    objects: BTreeMap<Oid, Value>,
}

/// What is wrong with a line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct RecordingError {
    /// The line's number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// The first line that cannot be read, or that repeats an OID.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let mut objects = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let refuse = |problem: String| RecordingError { line: number + 1, problem };
            let (oid, value) = parse_line(line).map_err(refuse)?;
            if objects.insert(oid.clone(), value).is_some() {
                return Err(refuse(format!("{oid} stands here a second time")));
            }
        }
        Ok(Self { objects })
    }

    /// A recording of these objects.
    pub fn from_objects(objects: impl IntoIterator<Item = (Oid, Value)>) -> Self {
        Self { objects: objects.into_iter().collect() }
    }

    /// The objects, in OID order.
    pub fn objects(&self) -> &BTreeMap<Oid, Value> {
        &self.objects
    }

    /// The recording as a file that [`Recording::parse`] reads, and snmpsim too, but for
    /// undecodable values. Exceptions are no values, and are left out.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for (oid, value) in &self.objects {
            if let Some((kind, text)) = render_value(value) {
                let _ = writeln!(out, "{oid}|{kind}|{text}");
            }
        }
        out
    }
}

fn parse_line(line: &str) -> Result<(Oid, Value), String> {
    let mut parts = line.splitn(3, '|');
    let (Some(oid), Some(kind), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("expected OID|TYPE|VALUE".to_owned());
    };
    let oid: Oid = oid.trim().parse().map_err(|e| format!("{e}"))?;
    let wrong_type =
        || format!("`{kind}` is not a type that can be replayed (a BER tag, with x where the value is hex)");
    let (tag, hex) = match kind.strip_suffix('x') {
        Some(tag) => (tag, true),
        None => (kind, false),
    };
    if !tag.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong_type());
    }
    let tag: u8 = tag.parse().map_err(|_| wrong_type())?;
    let value = if hex { read_value(tag, &parse_hex(text)?) } else { parse_value(tag, text)? };
    if tag & 0x1f == 0x1f
        || matches!(value, Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView)
    {
        return Err(wrong_type());
    }
    Ok((oid, value))
}

/// A value in the text form of its type.
fn parse_value(tag: u8, text: &str) -> Result<Value, String> {
    let wrong = |what: &str| format!("`{text}` is not {what}");
    Ok(match tag {
        2 => Value::Integer(text.parse().map_err(|_| wrong("an integer"))?),
        4 => Value::Octets(text.as_bytes().to_vec()),
        5 => Value::Null,
        6 => Value::ObjectId(text.parse().map_err(|_| wrong("an OID"))?),
        0x40 => Value::IpAddress(
            text.parse::<Ipv4Addr>().map_err(|_| wrong("an IPv4 address"))?.octets().to_vec(),
        ),
        0x41 => Value::Counter32(text.parse().map_err(|_| wrong("a 32-bit count"))?),
        0x42 => Value::Gauge32(text.parse().map_err(|_| wrong("a 32-bit number"))?),
        0x43 => Value::TimeTicks(text.parse().map_err(|_| wrong("a 32-bit number of ticks"))?),
        0x44 => Value::Opaque(text.as_bytes().to_vec()),
        0x46 => Value::Counter64(text.parse().map_err(|_| wrong("a 64-bit count"))?),
        _ => return Err(format!("type {tag} is not one that SNMP has")),
    })
}

fn parse_hex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |octet, d| octet << 4 | d)).collect())
        }
        _ => Err(format!("`{text}` is not hex")),
    }
}

fn render_value(value: &Value) -> Option<(String, String)> {
    let hex = |octets: &[u8]| octets.iter().map(|b| format!("{b:02x}")).collect::<String>();
    Some(match value {
        Value::Integer(n) => ("2".into(), n.to_string()),
        Value::Octets(octets) => match std::str::from_utf8(octets) {
            Ok(text) if text.bytes().all(|b| (0x20..0x7f).contains(&b)) => ("4".into(), text.to_owned()),
            _ => ("4x".into(), hex(octets)),
        },
        Value::Null => ("5".into(), String::new()),
        Value::ObjectId(oid) => ("6".into(), oid.to_string()),
        Value::IpAddress(octets) => match <[u8; 4]>::try_from(octets.as_slice()) {
            Ok(octets) => ("64".into(), Ipv4Addr::from(octets).to_string()),
            Err(_) => ("64x".into(), hex(octets)),
        },
        Value::Counter32(n) => ("65".into(), n.to_string()),
        Value::Gauge32(n) => ("66".into(), n.to_string()),
        Value::TimeTicks(n) => ("67".into(), n.to_string()),
        Value::Opaque(octets) => ("68x".into(), hex(octets)),
        Value::Counter64(n) => ("70".into(), n.to_string()),
        Value::Undecodable { tag, octets } => (format!("{tag}x"), hex(octets)),
        Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::message::tests::any_value;
    use super::*;

    fn one(line: &str) -> Value {
        let recording = Recording::parse(line).unwrap();
        assert_eq!(recording.objects().len(), 1);
        recording.objects().values().next().unwrap().clone()
    }

    #[test]
    fn each_type_has_its_text_form() {
        assert_eq!(one("1.3.1|2|-5"), Value::Integer(-5));
        assert_eq!(one("1.3.1|4|a|b "), Value::Octets(b"a|b ".to_vec()));
        assert_eq!(one("1.3.1|4|"), Value::Octets(vec![]));
        assert_eq!(one("1.3.1|4x|BfEd"), Value::Octets(vec![0xbf, 0xed]));
        assert_eq!(one("1.3.1|5|"), Value::Null);
        assert_eq!(one("1.3.1|6|1.3.6"), Value::ObjectId("1.3.6".parse().unwrap()));
        assert_eq!(one(".1.3.1|64|192.0.2.1"), Value::IpAddress(vec![192, 0, 2, 1]));
        assert_eq!(one("1.3.1|64x|"), Value::IpAddress(vec![]));
        assert_eq!(one("1.3.1|64x|c0000201"), Value::IpAddress(vec![192, 0, 2, 1]));
        assert_eq!(one("1.3.1|65|4294967295"), Value::Counter32(u32::MAX));
        assert_eq!(one("1.3.1|66|7\r\n"), Value::Gauge32(7));
        assert_eq!(one("1.3.1|67|8"), Value::TimeTicks(8));
        assert_eq!(one("1.3.1|68x|9f78"), Value::Opaque(vec![0x9f, 0x78]));
        assert_eq!(one("1.3.1|70|18446744073709551615"), Value::Counter64(u64::MAX));
    }

    #[test]
    fn hex_is_the_octets_of_the_value_under_any_tag() {
        assert_eq!(one("1.3.1|2x|00cb0071fa"), Value::Integer(3_405_804_026));
        assert_eq!(one("1.3.1|2x|"), Value::Undecodable { tag: 2, octets: vec![] });
        assert_eq!(one("1.3.1|69x|01"), Value::Undecodable { tag: 0x45, octets: vec![1] });
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_by_its_number() {
        for (line, problem) in [
            ("1.3.1", "expected OID|TYPE|VALUE"),
            ("1.3.x|2|1", "`1.3.x` is not an OID (numbers with dots between them, as 1.3.6.1.2.1)"),
            ("1.3.1|2|1.5", "`1.5` is not an integer"),
            ("1.3.1|66|-1", "`-1` is not a 32-bit number"),
            ("1.3.1|64|192.0.2", "`192.0.2` is not an IPv4 address"),
            ("1.3.1|4x|abc", "`abc` is not hex"),
            ("1.3.1|4x|+f", "`+f` is not hex"),
            ("1.3.1|4x|\u{fc}", "`\u{fc}` is not hex"),
            ("1.3.1|71|1", "type 71 is not one that SNMP has"),
            (
                "1.3.1|+2|1",
                "`+2` is not a type that can be replayed (a BER tag, with x where the value is hex)",
            ),
            (
                "1.3.1|130x|",
                "`130x` is not a type that can be replayed (a BER tag, with x where the value is hex)",
            ),
            (
                "1.3.1|2:numeric|rate=1",
                "`2:numeric` is not a type that can be replayed (a BER tag, with x where the value is hex)",
            ),
            ("1.3.0|2|1", "1.3.0 stands here a second time"),
        ] {
            let text = format!("# a comment\n\n1.3.0|2|0\n{line}\n");
            let error = Recording::parse(&text).unwrap_err();
            assert_eq!((error.line, error.problem.as_str()), (4, problem));
        }
    }

    #[test]
    fn objects_stand_in_the_order_of_an_agent() {
        let recording = Recording::parse("1.3.10|2|1\n1.3.9|2|2\n1.3.9.0|2|3\n").unwrap();
        assert_eq!(recording.render(), "1.3.9|2|2\n1.3.9.0|2|3\n1.3.10|2|1\n");
    }

    proptest! {
        #[test]
        fn what_is_rendered_is_read_back(values in proptest::collection::vec(any_value(), 0..20)) {
            let objects = values.into_iter().zip(1..).map(|(value, arc)| (Oid::new([1, 3, arc]), value));
            let exception = |value: &Value| matches!(value, Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView);
            let recording = Recording::from_objects(objects.filter(|(_, value)| !exception(value)));
            prop_assert_eq!(Recording::parse(&recording.render()).unwrap(), recording);
        }
    }
}
