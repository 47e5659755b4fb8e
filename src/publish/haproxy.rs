//! HAProxy's socket: giving a running HAProxy new maps, without a reload.
//!
//! A map is replaced as a whole, in one transaction: `prepare map`, `add map @VERSION` in
//! pieces, `commit map`. The map before answers until the commit. Few changes of a small
//! map are made one by one: each costs HAProxy before 2.9 a walk over the whole map, with
//! nobody served meanwhile, so that it is the number of changes times that of rows which
//! decides. One by one is taken only if the map has as many rows as the file before, so
//! that nothing is left in it that no file knows.
//!
//! Afterwards the map must have as many rows as the file, and answer the probes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::probe::Probe;
use super::{Failure, FailureReason, Target};

/// One by one up to this many changes times rows.
const ONE_BY_ONE: usize = 2_000_000;
/// HAProxy reads a command into one buffer (`tune.bufsize`, 16384 octets).
const PIECE: usize = 15_000;
/// An answer larger than this is none that we know.
const MAX_ANSWER: u64 = 1 << 20;

/// The rows of a map, by key.
type Rows<'f> = BTreeMap<&'f str, &'f str>;

/// Gives a running HAProxy the maps of these targets, which are in place. `probes` are asked
/// of the last of them, which is the table.
pub(super) async fn push(
    socket: &Path,
    targets: &[Target],
    probes: &[Probe],
    limit: Duration,
) -> Result<(), Failure> {
    let work = async {
        let session = Session { socket };
        for (at, target) in targets.iter().enumerate() {
            let asked = if at + 1 == targets.len() { probes } else { &[] };
            session.replace(target, asked).await?;
        }
        Ok(())
    };
    let done = timeout(limit, work).await;
    let failed =
        |problem: String| Failure::new(FailureReason::Haproxy, format!("{}: {problem}", socket.display()));
    done.unwrap_or_else(|_| Err(format!("not done within {limit:?}"))).map_err(failed)
}

struct Session<'s> {
    socket: &'s Path,
}

impl Session<'_> {
    async fn replace(&self, target: &Target, probes: &[Probe]) -> Result<(), String> {
        let path = word(target.path())?;
        let read = |path: PathBuf| fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()));
        let new = read(target.path().to_path_buf())?;
        let old = read(target.previous()).unwrap_or_default();
        let (new, old) = (rows(&new), rows(&old));
        let count = self.count(target.path()).await?;
        let changes = changes(&path, &old, &new);
        let same = count == old.len() && !old.is_empty();
        if same && changes.len().saturating_mul(new.len().max(old.len())) < ONE_BY_ONE {
            for change in &changes {
                self.quiet(change).await?;
            }
        } else {
            self.whole(&path, &new).await?;
        }
        let count = self.count(target.path()).await?;
        if count != new.len() {
            return Err(format!("{path} has {count} rows now, the file {}", new.len()));
        }
        for probe in probes {
            self.probe(&path, probe, &new).await?;
        }
        Ok(())
    }

    /// All rows in one transaction.
    async fn whole(&self, path: &str, rows: &Rows<'_>) -> Result<(), String> {
        let said = self.command(&format!("prepare map {path}")).await?;
        let version = version(&said).ok_or_else(|| unexpected("prepare map", &said))?;
        let mut piece = String::with_capacity(PIECE);
        let start = format!("add map @{version} {path} <<\n");
        for (key, value) in rows {
            if start.len() + piece.len() + key.len() + value.len() + 3 > PIECE {
                self.quiet(&format!("{start}{piece}")).await?;
                piece.clear();
            }
            piece.extend([key, " ", value, "\n"]);
        }
        if !piece.is_empty() {
            self.quiet(&format!("{start}{piece}")).await?;
        }
        self.quiet(&format!("commit map @{version} {path}")).await
    }

    /// How many rows the running map has.
    async fn count(&self, path: &Path) -> Result<usize, String> {
        let said = self.command("show map").await?;
        let line = line_of(&said, path).ok_or_else(|| {
            format!("HAProxy has no map {}: its configuration must name this file", path.display())
        })?;
        count(line).ok_or_else(|| unexpected("show map", line))
    }

    async fn probe(&self, path: &str, probe: &Probe, rows: &Rows<'_>) -> Result<(), String> {
        let said = self.command(&format!("get map {path} {}", probe.viewer)).await?;
        let right = match value(&said) {
            Some(value) => value == probe.token.as_str(),
            // What is in no row is HAProxy's own to answer.
            None => said.contains("found=no") && !covers(rows, probe),
        };
        if right {
            Ok(())
        } else {
            Err(format!("for {}: {}, not {}", probe.viewer, said.trim(), probe.token))
        }
    }

    /// A command that says nothing where all is well.
    async fn quiet(&self, command: &str) -> Result<(), String> {
        let said = self.command(command).await?;
        if said.trim().is_empty() {
            return Ok(());
        }
        Err(unexpected(command.lines().next().unwrap_or_default(), &said))
    }

    /// Sends one command, and waits for the whole answer.
    async fn command(&self, command: &str) -> Result<String, String> {
        let talk = async {
            let mut stream = UnixStream::connect(self.socket).await?;
            stream.write_all(command.as_bytes()).await?;
            // A payload ends with an empty line.
            stream.write_all(b"\n").await?;
            stream.shutdown().await?;
            let mut said = String::new();
            stream.take(MAX_ANSWER).read_to_string(&mut said).await?;
            Ok::<_, std::io::Error>(said)
        };
        talk.await.map_err(|e| e.to_string())
    }
}

/// The version that `prepare map` made.
pub(super) fn version(said: &str) -> Option<u32> {
    said.trim().strip_prefix("New version created: ")?.parse().ok()
}

/// The line that `show map` has for the map of a file.
pub(super) fn line_of<'s>(said: &'s str, path: &Path) -> Option<&'s str> {
    let named = format!("({})", path.display());
    said.lines().find(|line| line.contains(&named))
}

/// How many rows the map of such a line has.
pub(super) fn count(line: &str) -> Option<usize> {
    line.rsplit("entry_cnt=").next()?.trim().parse().ok()
}

/// The value that `get map` found.
pub(super) fn value(said: &str) -> Option<&str> {
    said.split(", ").find_map(|part| part.strip_prefix("value=\"")?.strip_suffix('"'))
}

fn unexpected(command: &str, said: &str) -> String {
    let said: String = said.trim().escape_debug().take(200).collect();
    format!("`{command}`: {said}")
}

/// A path as one word of the command line.
fn word(path: &Path) -> Result<String, String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| format!("{}: a path that cannot be told to HAProxy", path.display()))?;
    let mut word = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' ' | ';' | '\\' | '<') {
            word.push('\\');
        }
        word.push(c);
    }
    Ok(word)
}

fn rows(file: &str) -> Rows<'_> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' ')).collect()
}

/// The commands that make the one of the other: what answers more closely comes before what
/// it takes the place of goes.
fn changes(path: &str, old: &Rows<'_>, new: &Rows<'_>) -> Vec<String> {
    let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
    let altered = new.iter().filter(|(key, value)| old.get(*key).is_some_and(|before| before != *value));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let added = added.map(|(key, value)| format!("add map {path} {key} {value}"));
    let altered = altered.map(|(key, value)| format!("set map {path} {key} {value}"));
    added.chain(altered).chain(removed.map(|key| format!("del map {path} {key}"))).collect()
}

fn covers(rows: &Rows<'_>, probe: &Probe) -> bool {
    rows.keys().filter_map(|key| key.parse::<ipnet::IpNet>().ok()).any(|net| net.contains(&probe.viewer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_added_before_others_are_removed() {
        let old = rows("# poolsync\n10.0.0.0/24 a\n10.0.1.0/24 b\n10.0.2.0/24 c\n# end 3\n");
        let new = rows("10.0.0.0/24 a\n10.0.1.0/24 c\n10.0.2.0/25 c\n");
        assert_eq!(
            changes("/m", &old, &new),
            ["add map /m 10.0.2.0/25 c", "set map /m 10.0.1.0/24 c", "del map /m 10.0.2.0/24"]
        );
        assert_eq!(changes("/m", &new, &new), [""; 0]);
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(word(Path::new("/a b;c\\d<e")).unwrap(), "/a\\ b\\;c\\\\d\\<e");
        assert!(word(Path::new("/a\nb")).is_err());
    }
}
