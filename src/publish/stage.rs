//! The file work of one publication, in the order in which it must happen.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::file::{self, sha256};
use super::{Export, Failure, FailureReason, FileRecord, GroupsFile, Manifest, Target};
use crate::format::groups::{GroupsFormat, Rows};
use crate::format::{Rendered, Stamp, View};
use crate::table::Snapshot;

/// What preparing comes to.
pub(super) enum Prepared {
    /// The files in place are right.
    Unchanged(Box<Manifest>),
    /// New files lie beside them.
    Staged(Box<Stage>),
}

/// New files, written and proven, not yet in place.
pub(super) struct Stage {
    table: Staged,
    groups: Option<StagedGroups>,
    manifest: Manifest,
    mode: u32,
}

/// One file.
struct Staged {
    target: Target,
    record: FileRecord,
    /// Whether there is a `.NAME.new` that is to replace the file.
    changed: bool,
    /// The ending of what the consumer makes of the file, where it does.
    derived: Option<&'static str>,
}

struct StagedGroups {
    file: Staged,
    /// What the file is to be once nobody looks for retired groups any more, where it has
    /// some.
    trimmed: Option<Vec<u8>>,
}

/// Renders, compares with what is in place, writes what is new and proves it.
pub(super) fn prepare(export: &Export, snapshot: &Snapshot, now: Timestamp) -> Result<Prepared, Failure> {
    if !snapshot.filled {
        return Err(Failure::new(FailureReason::NotFilled, "too little of the fleet has been read so far"));
    }
    let view = View::new(snapshot, &export.scope())
        .map_err(|e| Failure::new(FailureReason::Inconsistent, e.to_string()))?;
    let stamp = Stamp::from(snapshot);
    let targets = Targets::resolve(export)?;
    let before = Manifest::read(&targets.table).filter(|m| m.session == stamp.session.to_string());
    let work = Work { export, view: &view, stamp: &stamp };
    let table = work.table(targets.table, before.as_ref())?;
    let groups = match (&export.groups, targets.groups) {
        (Some(groups), Some(target)) => {
            Some(work.groups(groups, target, before.as_ref()).inspect_err(|_| table.discard())?)
        }
        _ => None,
    };
    let manifest = Manifest {
        session: stamp.session.to_string(),
        generation: stamp.generation,
        table: table.record.clone(),
        groups: groups.as_ref().map(|g| g.file.record.clone()),
        written: now,
    };
    let stage = Stage { table, groups, manifest, mode: export.mode };
    if stage.changed().next().is_none() {
        return unchanged(stage, before);
    }
    Ok(Prepared::Staged(Box::new(stage)))
}

/// Nothing to replace: at most the manifest has something new to say.
fn unchanged(stage: Stage, before: Option<Manifest>) -> Result<Prepared, Failure> {
    let same = |b: &Manifest| Manifest { written: b.written, ..stage.manifest.clone() } == *b;
    if let Some(before) = before.filter(same) {
        return Ok(Prepared::Unchanged(Box::new(before)));
    }
    stage.manifest.write(&stage.table.target, stage.mode)?;
    Ok(Prepared::Unchanged(Box::new(stage.manifest)))
}

/// The files of an export.
struct Targets {
    table: Target,
    groups: Option<Target>,
}

impl Targets {
    /// Finds them, and clears away what a killed run left beside them.
    fn resolve(export: &Export) -> Result<Self, Failure> {
        let table = Target::resolve(&export.path)?;
        let groups = export.groups.as_ref().map(|g| Target::resolve(&g.path)).transpose()?;
        if groups.as_ref().is_some_and(|groups| groups.path() == table.path()) {
            let problem = format!("{}: table and groups cannot be one file", table.path().display());
            return Err(Failure::new(FailureReason::Path, problem));
        }
        for target in groups.iter().chain([&table]) {
            for of in [target, &target.beside_previous(), &target.beside_manifest()] {
                file::remove(&of.new_file()).map_err(|e| {
                    Failure::new(FailureReason::Write, format!("{}: {e}", of.new_file().display()))
                })?;
            }
        }
        Ok(Self { table, groups })
    }
}

struct Work<'a> {
    export: &'a Export,
    view: &'a View<'a>,
    stamp: &'a Stamp,
}

impl Work<'_> {
    fn table(&self, target: Target, before: Option<&Manifest>) -> Result<Staged, Failure> {
        let format = self.export.format;
        let rendered = format
            .render(self.view, self.stamp)
            .map_err(|e| Failure::new(FailureReason::Render, e.to_string()))?;
        let staged = self.staged(target, format.name(), &rendered, before.map(|m| &m.table));
        let staged = Staged { derived: format.derived(), ..staged };
        if staged.changed {
            file::write_new(&staged.target, &rendered.pieces(), self.export.mode)?;
            drop(rendered);
            self.prove_table(&staged.target).inspect_err(|_| staged.discard())?;
        }
        Ok(staged)
    }

    /// The file as it lies on the disk says what the table says, of every address.
    fn prove_table(&self, target: &Target) -> Result<(), Failure> {
        let format = self.export.format;
        let refuse = |problem: String| {
            Failure::new(FailureReason::ReadBack, format!("{}: {problem}", target.new_file().display()))
        };
        let bytes = fs::read(target.new_file()).map_err(|e| refuse(e.to_string()))?;
        let read = format.read(&bytes).map_err(|e| refuse(e.to_string()))?;
        read.verify(self.view, format.excluded()).map_err(|e| refuse(e.to_string()))
    }

    fn groups(
        &self,
        groups: &GroupsFile,
        target: Target,
        before: Option<&Manifest>,
    ) -> Result<StagedGroups, Failure> {
        let format = groups.format;
        let rows = format
            .rows(self.view, &self.export.context)
            .map_err(|e| Failure::new(FailureReason::Render, e.to_string()))?;
        self.prove_complete(&rows)?;
        let exact = format.render(&rows, self.stamp);
        let file = self.staged(target, format.name(), &exact, before.and_then(|m| m.groups.as_ref()));
        if !file.changed {
            return Ok(StagedGroups { file, trimmed: None });
        }
        let all = match fs::read(file.target.path()).ok().and_then(|old| format.read(&old).ok()) {
            Some(old) => format.with_retired(&rows, old),
            None => rows.clone(),
        };
        file::write_new(&file.target, &format.render(&all, self.stamp).pieces(), self.export.mode)?;
        prove_groups(format, &file.target, &all).inspect_err(|_| file.discard())?;
        Ok(StagedGroups { file, trimmed: (all != rows).then(|| exact.bytes()) })
    }

    /// No token goes out without its row. The view's groups are all that the table names,
    /// and the default one: the table was proven to say what the view says.
    fn prove_complete(&self, rows: &Rows) -> Result<(), Failure> {
        match self.view.groups().find(|group| !rows.rows.contains_key(&group.token)) {
            Some(group) => Err(Failure::new(
                FailureReason::GroupsIncomplete,
                format!("group {} has no row in the groups file", group.token),
            )),
            None => Ok(()),
        }
    }

    /// What the file would be, and whether the one in place is another.
    fn staged(
        &self,
        target: Target,
        format: &str,
        rendered: &Rendered,
        before: Option<&FileRecord>,
    ) -> Staged {
        let record = FileRecord {
            format: format.to_owned(),
            body_generation: self.stamp.generation,
            sha256: sha256(rendered.pieces()),
            body_sha256: sha256([rendered.body.as_slice()]),
            rows: rendered.rows,
        };
        let same = before.filter(|b| {
            b.format == record.format
                && b.body_sha256 == record.body_sha256
                && b.fits(&target).is_ok_and(|fits| fits)
        });
        match same {
            Some(before) => Staged { target, record: before.clone(), changed: false, derived: None },
            None => Staged { target, record, changed: true, derived: None },
        }
    }
}

fn prove_groups(format: &dyn GroupsFormat, target: &Target, rows: &Rows) -> Result<(), Failure> {
    let refuse = |problem: String| {
        Failure::new(FailureReason::ReadBack, format!("{}: {problem}", target.new_file().display()))
    };
    let bytes = fs::read(target.new_file()).map_err(|e| refuse(e.to_string()))?;
    let read = format.read(&bytes).map_err(|e| refuse(e.to_string()))?;
    if read == *rows { Ok(()) } else { Err(refuse("other rows than were written".to_owned())) }
}

impl Staged {
    fn discard(&self) {
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
    /// The files that are to be replaced: groups, then table.
    fn changed(&self) -> impl DoubleEndedIterator<Item = &Staged> {
        let groups = self.groups.as_ref().map(|groups| &groups.file);
        groups.into_iter().chain([&self.table]).filter(|staged| staged.changed)
    }

    fn files(&self) -> impl Iterator<Item = &Staged> {
        self.groups.as_ref().map(|groups| &groups.file).into_iter().chain([&self.table])
    }

    /// The table's directory, which commands run in.
    pub(super) fn directory(&self) -> &Path {
        self.table.target.directory()
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

    /// Keeps the files in place as a pair, then puts the new ones in their place.
    pub(super) fn install(&self) -> Result<(), Failure> {
        let installed = self
            .files()
            .try_for_each(|staged| file::keep_previous(&staged.target).map(|_| ()))
            .and_then(|()| self.changed().try_for_each(Staged::install));
        installed.inspect_err(|_| self.discard())
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
        Ok(any)
    }

    /// Drops the retired groups and writes the manifest.
    pub(super) fn finish(&self) -> Result<Manifest, Failure> {
        if let Some((groups, trimmed)) =
            self.groups.as_ref().and_then(|groups| Some((groups, groups.trimmed.as_ref()?)))
        {
            file::write_new(&groups.file.target, &[trimmed], self.mode)
                .and_then(|()| file::install(&groups.file.target))
                .map_err(|e| Failure::new(FailureReason::Manifest, e.detail))?;
        }
        self.manifest.write(&self.table.target, self.mode)?;
        Ok(self.manifest.clone())
    }
}
