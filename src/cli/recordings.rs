//! Recordings as files: one of a router, and beside it one for each other SNMP context of it.
//! `router.snmprec` goes with `router@CONTEXT.snmprec`, which is how snmpsim names them too; a
//! comment at its head says which.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::stop::Stop;
use crate::cycle::Recorded;
use crate::snmp::Recording;

/// The community under which a recording is replayed; its contexts are `replay@CONTEXT`.
pub(super) const COMMUNITY: &str = "replay";

/// The comment of a recording that says which contexts stand beside it.
const CONTEXTS: &str = "# contexts:";

/// The recording of a file.
pub(super) fn read(path: &Path) -> Result<Recording, Stop> {
    parse(path).map(|(_, recording)| recording)
}

fn parse(path: &Path) -> Result<(String, Recording), Stop> {
    let failed = |e: String| Stop::failed(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let recording = Recording::parse(&text).map_err(|e| failed(e.to_string()))?;
    Ok((text, recording))
}

/// The recordings of a router, each by the community that it is served under. The file itself
/// is that of the context that the poll begins in.
pub(super) fn load(path: &Path, context: &[u8]) -> Result<Vec<(String, Recording)>, Stop> {
    let own = match context {
        [] => COMMUNITY.to_owned(),
        context => format!("{COMMUNITY}@{}", String::from_utf8_lossy(context)),
    };
    let (text, recording) = parse(path)?;
    let mut recordings = vec![(own, recording)];
    let listed = text.lines().filter_map(|line| line.strip_prefix(CONTEXTS));
    for encoded in listed.flat_map(str::split_whitespace) {
        let context = decoded(encoded).and_then(|octets| String::from_utf8(octets).ok());
        let context = context
            .ok_or_else(|| Stop::failed(format!("{}: `{encoded}` is no context's name", path.display())))?;
        recordings.push((format!("{COMMUNITY}@{context}"), read(&beside(path, context.as_bytes()))?));
    }
    Ok(recordings)
}

/// Writes the recording of a router, and beside it one for each other context. Gives the files
/// and how many objects each holds.
pub(super) fn save(path: &Path, recorded: &Recorded) -> Result<Vec<(PathBuf, usize)>, Stop> {
    let mut head = String::new();
    if !recorded.contexts.is_empty() {
        let names: Vec<String> = recorded.contexts.iter().map(|(name, _)| encoded(name)).collect();
        head = format!("{CONTEXTS} {}\n", names.join(" "));
    }
    let mut files = vec![(path.to_owned(), head, &recorded.recording)];
    files.extend(recorded.contexts.iter().map(|(name, one)| (beside(path, name), String::new(), one)));
    let mut written = Vec::new();
    for (path, head, recording) in files {
        std::fs::write(&path, head + &recording.render())
            .map_err(|e| Stop::failed(format!("{}: {e}", path.display())))?;
        written.push((path, recording.objects().len()));
    }
    Ok(written)
}

/// Where the recording of another context stands.
fn beside(path: &Path, context: &[u8]) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push("@");
    name.push(encoded(context));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// A context's name as a part of a file's name: what that cannot hold is written as `%` and two
/// hex digits.
fn encoded(context: &[u8]) -> String {
    context.iter().fold(String::new(), |mut text, &octet| {
        match octet {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => text.push(char::from(octet)),
            _ => {
                let _ = write!(text, "%{octet:02x}");
            }
        }
        text
    })
}

fn decoded(encoded: &str) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(octet) = rest.next() {
        octets.push(match octet {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            octet => octet,
        });
    }
    Some(octets).filter(|octets| !octets.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_told_by_the_name_of_its_file() {
        let path = Path::new("walks/erx.snmprec");
        for (context, file) in [
            ("router2", "walks/erx@router2.snmprec"),
            ("vr/a b%", "walks/erx@vr%2fa%20b%25.snmprec"),
            ("\u{e9}", "walks/erx@%c3%a9.snmprec"),
        ] {
            assert_eq!(beside(path, context.as_bytes()), Path::new(file));
            assert_eq!(decoded(&encoded(context.as_bytes())).unwrap(), context.as_bytes());
        }
        for bad in ["", "%", "%2", "%zz"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
