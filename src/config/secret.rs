//! Secrets: where they come from, and that they are never shown.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::error::Problem;
use super::node::{Node, Value};
use super::section::Section;
use super::source::Place;
use super::value::{path, text, wrong_kind};
use crate::snmp;

/// The keys of a reference to a secret.
pub(super) const KEYS: &[&str] = &["credential", "env", "file"];

const EXPECTED: &str = "{ credential = NAME }, { env = VARIABLE }, { file = PATH }, or a string";

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written in the configuration.
    Inline,
    /// An environment variable.
    Variable(String),
    /// A file; the newline at its end does not count.
    File(PathBuf),
    /// A credential that systemd passes to the unit (`LoadCredential=`).
    Credential(String),
}

/// A secret and where it came from. Neither `Debug` nor `Display` show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Where it comes from.
    pub origin: Origin,
    /// The octets; none where the configuration was loaded without its secrets.
    pub value: Option<snmp::Secret>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({:?})", self.origin)
    }
}

/// Stars.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// What stands for a secret that is written in the configuration.
pub(super) const MASK: &str = "********";

/// Reads a secret of at least `least` octets; `whose` is how messages call its table.
pub(super) fn secret(cx: &mut Context, node: &Node, least: usize, whose: &str) -> Option<Secret> {
    let origin = origin(cx, node)?;
    if !cx.resolve && origin != Origin::Inline {
        return Some(Secret { origin, value: None });
    }
    let octets = match (&origin, &node.value) {
        (Origin::Inline, Value::Text(text)) => text.clone().into_bytes(),
        _ => match look_up(cx, &origin, node.place, whose) {
            Ok(octets) => octets,
            Err(problem) => {
                cx.wrong(problem);
                return None;
            }
        },
    };
    if let Some(problem) = too_short(&octets, least, node.place, whose) {
        cx.wrong(problem);
        return None;
    }
    Some(Secret { origin, value: Some(snmp::Secret::new(octets)) })
}

fn too_short(octets: &[u8], least: usize, place: Place, whose: &str) -> Option<Problem> {
    match octets.len() {
        0 => Some(Problem::new(place, format!("this secret of {whose} is empty"))),
        n if n < least => {
            let problem =
                Problem::new(place, format!("this password of {whose} is shorter than {least} octets"));
            Some(problem.help("expected at least 8: SNMPv3 takes no shorter one (RFC 3414, 11.2)"))
        }
        _ => None,
    }
}

fn origin(cx: &mut Context, node: &Node) -> Option<Origin> {
    match &node.value {
        Value::Text(_) => {
            let warning = Problem::new(node.place, "this secret stands in the configuration itself");
            cx.warn(warning.help("better: { credential = NAME }, { env = VARIABLE } or { file = PATH }"));
            Some(Origin::Inline)
        }
        Value::Table(_) => reference(cx, node),
        _ => wrong_kind(cx, node, EXPECTED),
    }
}

fn reference(cx: &mut Context, node: &Node) -> Option<Origin> {
    let section = Section::open(cx, node, "a secret", KEYS)?;
    let known = node.entries().iter().filter(|entry| KEYS.contains(&entry.key.as_str())).count();
    if known > 1 || node.entries().is_empty() {
        cx.wrong(
            Problem::new(node.place, "a secret comes from exactly one place")
                .help(format!("expected {EXPECTED}")),
        );
        return None;
    }
    let variable = section.read(cx, "env", |cx, node| {
        plain(cx, node, "the name of an environment variable", &['=']).map(Origin::Variable)
    });
    let file = section.read(cx, "file", path).map(Origin::File);
    let credential = section.read(cx, "credential", |cx, node| {
        plain(cx, node, "the name of a credential, without folders", &['/']).map(Origin::Credential)
    });
    variable.or(file).or(credential)
}

/// A text that is not empty and lacks some characters.
fn plain(cx: &mut Context, node: &Node, expected: &str, without: &[char]) -> Option<String> {
    let name = text(cx, node, expected)?;
    if name.is_empty() || name == ".." || name == "." || name.contains('\0') || name.contains(without) {
        cx.wrong(Problem::new(node.place, "this does not fit").help(format!("expected {expected}")));
        return None;
    }
    Some(name.to_owned())
}

fn look_up(cx: &mut Context, origin: &Origin, place: Place, whose: &str) -> Result<Vec<u8>, Problem> {
    match origin {
        Origin::Inline => Ok(Vec::new()),
        Origin::Variable(name) => match cx.environment.variable(name) {
            Some(value) => Ok(value.as_bytes().to_vec()),
            None => {
                let message = format!("{whose} needs the environment variable `{name}`, which is not set");
                Err(Problem::new(place, message))
            }
        },
        Origin::File(path) => read(cx, path, place, whose),
        Origin::Credential(name) => match cx.environment.credentials() {
            Some(folder) => read(cx, &folder.join(OsStr::new(name)), place, whose),
            None => {
                let message =
                    format!("{whose} needs the credential `{name}`, but CREDENTIALS_DIRECTORY is not set");
                let help = "systemd sets it for a unit with LoadCredential= or LoadCredentialEncrypted=";
                Err(Problem::new(place, message).help(help))
            }
        },
    }
}

/// A file's octets, less one newline at the end.
fn read(cx: &mut Context, path: &Path, place: Place, whose: &str) -> Result<Vec<u8>, Problem> {
    let unreadable = |e: std::io::Error| {
        Problem::new(place, format!("{whose} needs {}, which cannot be read: {e}", path.display()))
    };
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o004 != 0 {
        let warning = Problem::new(place, format!("everybody on this host can read {}", path.display()));
        cx.warn(warning.help("chmod o-r takes that right away"));
    }
    let mut octets = std::fs::read(path).map_err(unreadable)?;
    if octets.pop_if(|last| *last == b'\n').is_some() {
        octets.pop_if(|last| *last == b'\r');
    }
    Ok(octets)
}
