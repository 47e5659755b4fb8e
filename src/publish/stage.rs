//! New files of one publication, and the steps that put them in place, in the order in which
//! they must happen.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::file::{self, Rights};
use super::probe::Probe;
use super::{Failure, FailureReason, FileRecord, Manifest, Target};

/// The formats that are maps of HAProxy.
const HAPROXY_MAPS: [&str; 2] = ["haproxy-map", "haproxy"];

/// New files, written and proven, not yet in place.
pub(super) struct Stage {
    table: Staged,
    groups: Option<StagedGroups>,
    manifest: Manifest,
    rights: Rights,
    /// Whether the files in place are those that the consumer last took up.
    good: bool,
    /// What the consumer is to be asked.
    probes: Vec<Probe>,
}

/// One file.
pub(super) struct Staged {
    /// Where it goes.
    pub(super) target: Target,
    /// What the manifest is to say of it.
    pub(super) record: FileRecord,
    /// Whether there is a `.NAME.new` that is to replace the file.
    pub(super) changed: bool,
    /// The ending of what the consumer makes of the file, where it does.
    pub(super) derived: Option<&'static str>,
}

/// The groups file.
pub(super) struct StagedGroups {
    /// The file, with the rows of groups that only the table before names.
    pub(super) file: Staged,
    /// What the file is to be once nobody looks for those any more, where it has some.
    pub(super) trimmed: Option<Vec<u8>>,
}

impl Staged {
    /// Throws the new file away.
    pub(super) fn discard(&self) {
        // The next publication clears it away where this fails.
        let _ = file::remove(&self.target.new_file());
        let _ = self.remove_derived(&self.target.new_file());
    }

    /// Puts the new file in place. What the consumer made of the file before goes first, and
    /// again after: it may be made at any time, and is taken for newer than a file that was
    /// written before it.
    fn install(&self) -> Result<(), Failure> {
        self.drop_derived()?;
        file::install(&self.target)?;
        self.drop_derived()
    }

    fn put_back(&self) -> Result<(), Failure> {
        self.drop_derived()?;
        file::put_back(&self.target)?;
        self.drop_derived()
    }

    fn drop_derived(&self) -> Result<(), Failure> {
        let refuse = |e: std::io::Error| {
            let detail = format!("what was made of {}: {e}", self.target.path().display());
            Failure::new(FailureReason::Install, detail)
        };
        // The checker may have made one of the new file.
        self.remove_derived(&self.target.new_file())
            .and_then(|()| self.remove_derived(self.target.path()))
            .map_err(refuse)
    }

    fn remove_derived(&self, of: &Path) -> std::io::Result<()> {
        let Some(ending) = self.derived else { return Ok(()) };
        let mut path = of.as_os_str().to_owned();
        path.push(ending);
        file::remove(Path::new(&path))
    }

    /// The file that a checker is to look at.
    fn checked(&self) -> PathBuf {
        if self.changed { self.target.new_file() } else { self.target.path().to_path_buf() }
    }
}

impl Stage {
    /// Files as prepared. `good` where the files in place are those that the consumer last
    /// took up.
    pub(super) fn new(
        table: Staged,
        groups: Option<StagedGroups>,
        manifest: Manifest,
        rights: Rights,
        good: bool,
        probes: Vec<Probe>,
    ) -> Self {
        Self { table, groups, manifest, rights, good, probes }
    }

    /// Whether any file is to be replaced.
    pub(super) fn is_changed(&self) -> bool {
        self.changed().next().is_some()
    }

    /// The manifest where no file is replaced: written where it says something new.
    pub(super) fn unchanged(mut self, before: Option<Manifest>) -> Result<Manifest, Failure> {
        if let Some(before) = before {
            self.manifest.changed = before.changed;
            self.manifest.confirmed = before.confirmed;
            self.manifest.took_ms = before.took_ms;
            if (Manifest { written: before.written, ..self.manifest.clone() }) == before {
                return Ok(before);
            }
        }
        self.manifest.write(&self.table.target, self.rights)?;
        Ok(self.manifest)
    }

    /// The files that are to be replaced: groups, then table.
    fn changed(&self) -> impl DoubleEndedIterator<Item = &Staged> {
        let groups = self.groups.as_ref().map(|groups| &groups.file);
        groups.into_iter().chain([&self.table]).filter(|staged| staged.changed)
    }

    fn files(&self) -> impl Iterator<Item = &Staged> {
        self.groups.as_ref().map(|groups| &groups.file).into_iter().chain([&self.table])
    }

    /// The maps of HAProxy among the files that changed: groups, then table.
    pub(super) fn maps(&self) -> Vec<Target> {
        let maps = self.changed().filter(|staged| HAPROXY_MAPS.contains(&staged.record.format.as_str()));
        maps.map(|staged| staged.target.clone()).collect()
    }

    /// The table's directory, which commands run in.
    pub(super) fn directory(&self) -> &Path {
        self.table.target.directory()
    }

    /// What the consumer is to be asked.
    pub(super) fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// What a checker's placeholders stand for.
    pub(super) fn placeholders(&self) -> Vec<(&'static str, PathBuf)> {
        let groups = self.groups.as_ref().map(|groups| ("{groups}", groups.file.checked()));
        [("{file}", self.table.checked())].into_iter().chain(groups).collect()
    }

    /// What they stand for once the files are in place.
    pub(super) fn installed_placeholders(&self) -> Vec<(&'static str, PathBuf)> {
        let groups = self.groups.as_ref().map(|g| ("{groups}", g.file.target.path().to_path_buf()));
        [("{file}", self.table.target.path().to_path_buf())].into_iter().chain(groups).collect()
    }

    /// Throws the new files away.
    pub(super) fn discard(&self) {
        self.changed().for_each(Staged::discard);
    }

    /// Keeps the files in place as a pair, then puts the new ones in their place, and stamps.
    pub(super) fn install(&self) -> Result<(), Failure> {
        let installed = self
            .keep_previous()
            .and_then(|()| self.changed().try_for_each(Staged::install))
            .and_then(|()| self.stamp());
        installed.inspect_err(|_| self.discard())
    }

    /// Files that the consumer never took up, which a killed run left in place, are not kept
    /// over those before them, to which there may still be a way back.
    fn keep_previous(&self) -> Result<(), Failure> {
        let kept = !self.good && self.files().all(|staged| staged.target.previous().exists());
        if kept {
            return Ok(());
        }
        self.files().try_for_each(|staged| file::keep_previous(&staged.target))
    }

    /// `.NAME.reload` is made anew: whoever watches it (a path unit of systemd) reloads the
    /// consumer, once both files are in place.
    fn stamp(&self) -> Result<(), Failure> {
        let stamp = self.table.target.beside_stamp();
        let text = format!("session {} generation {}\n", self.manifest.session, self.manifest.generation);
        file::write_new(&stamp, &[text.as_bytes()], self.rights)
            .and_then(|()| file::install(&stamp))
            .map_err(|e| Failure::new(FailureReason::Install, e.detail))
    }

    /// Puts the files before back, the table first: its tokens all have rows in either
    /// groups file. Says whether there were any.
    pub(super) fn put_back(&self) -> Result<bool, Failure> {
        let mut any = false;
        for staged in self.changed().rev() {
            if staged.target.previous().exists() {
                staged.put_back()?;
                any = true;
            }
        }
        if any {
            self.stamp()?;
        }
        Ok(any)
    }

    /// Drops the retired groups and writes the manifest. `confirmed` is when the consumer
    /// answered anew, where it was asked, and `took` how long all of it took until then.
    pub(super) fn finish(&self, confirmed: Option<Timestamp>, took: Duration) -> Result<Manifest, Failure> {
        if let Some((groups, trimmed)) =
            self.groups.as_ref().and_then(|groups| Some((groups, groups.trimmed.as_ref()?)))
        {
            file::write_new(&groups.file.target, &[trimmed], self.rights)
                .and_then(|()| file::install(&groups.file.target))
                .map_err(|e| Failure::new(FailureReason::Manifest, e.detail))?;
        }
        let took_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let manifest = Manifest { confirmed, took_ms, ..self.manifest.clone() };
        manifest.write(&self.table.target, self.rights)?;
        Ok(manifest)
    }
}
