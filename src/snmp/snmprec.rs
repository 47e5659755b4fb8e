//! Recorded walks in the `.snmprec` form: a line `OID|TYPE|VALUE` per object, where TYPE is
//! the BER tag in decimal, with an `x` behind it where VALUE is hex.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use thiserror::Error;

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

    /// The recording as a file that [`Recording::parse`] (and snmpsim) reads. Values that no
    /// recording can hold (exceptions, undecodable ones) are left out.
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
    let oid: Oid = oid.parse().map_err(|e| format!("{e}"))?;
    let (tag, hex) = match kind.strip_suffix('x') {
        Some(tag) => (tag, true),
        None => (kind, false),
    };
    let tag: u8 = tag
        .parse()
        .map_err(|_| format!("`{kind}` is not a type (a BER tag, with x where the value is hex)"))?;
    let octets = if hex { parse_hex(text)? } else { text.as_bytes().to_vec() };
    Ok((oid, parse_value(tag, hex, text, octets)?))
}

fn parse_value(tag: u8, hex: bool, text: &str, octets: Vec<u8>) -> Result<Value, String> {
    let wrong = |what: &str| format!("`{text}` is not {what}");
    Ok(match tag {
        2 => Value::Integer(text.parse().map_err(|_| wrong("an integer"))?),
        4 => Value::Octets(octets),
        5 => Value::Null,
        6 => Value::ObjectId(text.parse().map_err(|_| wrong("an OID"))?),
        0x40 if hex => Value::IpAddress(octets),
        0x40 => Value::IpAddress(
            text.parse::<Ipv4Addr>().map_err(|_| wrong("an IPv4 address"))?.octets().to_vec(),
        ),
        0x41 => Value::Counter32(text.parse().map_err(|_| wrong("a 32-bit count"))?),
        0x42 => Value::Gauge32(text.parse().map_err(|_| wrong("a 32-bit number"))?),
        0x43 => Value::TimeTicks(text.parse().map_err(|_| wrong("a 32-bit number of ticks"))?),
        0x44 => Value::Opaque(octets),
        0x46 => Value::Counter64(text.parse().map_err(|_| wrong("a 64-bit count"))?),
        _ => return Err(format!("type {tag} is not one that SNMP has")),
    })
}

fn parse_hex(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{text}` is not hex");
    if !text.is_ascii() || text.len() % 2 != 0 {
        return Err(wrong());
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).map_err(|_| wrong())).collect()
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
        Value::Undecodable { .. } | Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView => {
            return None;
        }
    })
}
