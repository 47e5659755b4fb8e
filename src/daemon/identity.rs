//! Our own SNMP engine across restarts: its id, and how often it was started. A start that is
//! not counted would let old informs be sent again (RFC 3414, 2.2).

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::publish::write_file;
use crate::snmp::OwnEngine;

/// The format of ids of octets, as an engine chose them (RFC 3411, SnmpEngineID), under no
/// enterprise.
const RANDOM: [u8; 5] = [0x80, 0, 0, 0, 5];
/// A count of starts that cannot grow: another id has to be drawn.
const LAST: u32 = 0x7fff_ffff;

const HEAD: &str = "# poolsync's own SNMP engine, which informs of SNMPv3 are sent to. One host's alone.\n";

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Kept {
    engine_id: String,
    boots: u32,
}

/// The file that goes with a store.
pub(super) fn path_of(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".engine");
    path.into()
}

/// Starts our engine: counts the start in the file, before anybody is told.
///
/// # Errors
/// Where the file cannot be read or written.
pub(super) fn start(path: &Path, configured: Option<&[u8]>) -> io::Result<OwnEngine> {
    let kept = match std::fs::read_to_string(path) {
        Ok(text) => read(&text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    let (id, boots) = match (kept, configured) {
        (Some((id, boots)), None) if boots < LAST => (id, boots + 1),
        (_, None) => (drawn(), 1),
        (Some((id, boots)), Some(configured)) if id == configured => (id, boots.saturating_add(1).min(LAST)),
        // Under an id that may have been another engine's nobody knows how often it was started.
        (_, Some(configured)) => (configured.to_vec(), seconds_since_2020()),
    };
    let kept = Kept { engine_id: hex(&id), boots };
    let text = toml::to_string(&kept).map_err(io::Error::other)?;
    write_file(path, format!("{HEAD}{text}").as_bytes()).map_err(|e| io::Error::other(e.detail))?;
    Ok(OwnEngine::started(id, boots))
}

/// What the file keeps; none where it is damaged: then another engine begins.
fn read(text: &str) -> Option<(Vec<u8>, u32)> {
    let kept: Kept = toml::from_str(text).ok()?;
    let octets = (0..kept.engine_id.len()).step_by(2);
    let octets: Option<Vec<u8>> =
        octets.map(|at| u8::from_str_radix(kept.engine_id.get(at..at + 2)?, 16).ok()).collect();
    octets.filter(|id| (5..=32).contains(&id.len())).map(|id| (id, kept.boots))
}

fn drawn() -> Vec<u8> {
    let own: [u8; 8] = rand::random();
    [RANDOM.as_slice(), own.as_slice()].concat()
}

/// A count that is greater than that of any earlier start, though none is known.
fn seconds_since_2020() -> u32 {
    const YEAR_2020: u64 = 1_577_836_800;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_secs().saturating_sub(YEAR_2020)).unwrap_or(LAST).clamp(1, LAST - 1)
}

/// Octets as people write an engine id.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_is_counted_under_one_id() {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(&folder.path().join("poolsync.db"));
        assert!(path.ends_with("poolsync.db.engine"));
        let first = start(&path, None).unwrap();
        assert_eq!((first.boots(), first.id().len(), &first.id()[..5]), (1, 13, &RANDOM[..]));
        for boots in 2..5 {
            let again = start(&path, None).unwrap();
            assert_eq!((again.boots(), again.id()), (boots, first.id()));
        }
        assert_ne!(start(&folder.path().join("other"), None).unwrap().id(), first.id());
    }

    #[test]
    fn another_engine_begins_where_the_count_is_lost_or_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine");
        for text in [
            "",
            "engine-id = \"8000000005\"\n",
            "engine-id = \"80zz\"\nboots = 3\n",
            "engine-id = \"é\"\nboots = 3\n",
            "engine-id = \"80000000050102030405060708\"\nboots = 2147483647\n",
            "engine-id = \"80000000050102030405060708\"\nboots = -1\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let engine = start(&path, None).unwrap();
            assert_eq!((engine.boots(), engine.id().len()), (1, 13), "{text}");
            assert_ne!(engine.id(), [0x80, 0, 0, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8]);
        }
        assert!(start(&folder.path().join("no/such/folder"), None).is_err());
    }

    #[test]
    fn a_configured_id_never_begins_at_one_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine");
        let id = [0x80, 0, 0x1f, 0x88, 4, b'x'];
        let first = start(&path, Some(&id)).unwrap();
        assert!(first.boots() > 100_000_000 && first.id() == id, "{}", first.boots());
        assert_eq!(start(&path, Some(&id)).unwrap().boots(), first.boots() + 1);
        // It goes back to the kept one, and to a greater count than before.
        assert_eq!(start(&path, None).unwrap().boots(), first.boots() + 2);
    }
}
