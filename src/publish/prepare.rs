//! What one publication is to put in place: rendered, compared with what is there, written
//! beside it, and proven.

use std::fs;
use std::thread;

use jiff::{SignedDuration, Timestamp};

use super::file::{self, Rights, sha256};
use super::probe::{self, Probe};
use super::stage::{Stage, Staged, StagedGroups};
use super::{Export, Failure, FailureReason, FileRecord, GroupsFile, Manifest, Target};
use crate::format::groups::{GroupsFormat, Rows};
use crate::format::{ReadBack, Rendered, Stamp, View};
use crate::table::Snapshot;

/// What preparing comes to.
pub(super) enum Prepared {
    /// The files in place are right.
    Unchanged(Box<Manifest>),
    /// New files lie beside them.
    Staged(Box<Stage>),
    /// The files changed too short a time ago.
    Deferred(Timestamp),
}

/// Renders, compares with what is in place, writes what is new and proves it.
pub(super) fn prepare(export: &Export, snapshot: &Snapshot, now: Timestamp) -> Result<Prepared, Failure> {
    if !snapshot.filled {
        return Err(Failure::new(FailureReason::NotFilled, "too little of the fleet has been read so far"));
    }
    let view = export.view(snapshot).map_err(|e| Failure::new(FailureReason::Inconsistent, e.to_string()))?;
    let stamp = Stamp::from(snapshot);
    let targets = Targets::resolve(export)?;
    let before = Manifest::read(&targets.table).filter(|m| m.session == stamp.session.to_string());
    if let Some(until) = before.as_ref().and_then(|before| deferred(export, &targets, before, &stamp, now)) {
        return Ok(Prepared::Deferred(until));
    }
    let rights = Rights::of(export)?;
    Work { export, view: &view, stamp: &stamp, rights, now }.prepare(targets, before)
}

/// Until when a change must wait. Files that are not there wait for nothing, nor does a
/// clock that was set back.
fn deferred(
    export: &Export,
    targets: &Targets,
    before: &Manifest,
    stamp: &Stamp,
    now: Timestamp,
) -> Option<Timestamp> {
    let interval = SignedDuration::try_from(export.min_interval).ok()?;
    let until = before.changed?.checked_add(interval).ok()?;
    let due = before.generation == stamp.generation || until <= now || before.changed? > now;
    let there = targets.groups.iter().chain([&targets.table]).all(|target| target.path().exists());
    (!due && there).then_some(until)
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
            for of in [target, &target.beside_previous(), &target.beside_manifest(), &target.beside_stamp()] {
                file::remove(&of.new_file()).map_err(|e| {
                    Failure::new(FailureReason::Write, format!("{}: {e}", of.new_file().display()))
                })?;
            }
        }
        Ok(Self { table, groups })
    }
}

/// A table as it was, where it can be read, and as it is to be.
struct Tables {
    before: Option<ReadBack>,
    after: ReadBack,
}

struct Work<'a> {
    export: &'a Export,
    view: &'a View<'a>,
    stamp: &'a Stamp,
    rights: Rights,
    now: Timestamp,
}

impl Work<'_> {
    fn prepare(&self, targets: Targets, before: Option<Manifest>) -> Result<Prepared, Failure> {
        let (table, read) = self.table(targets.table, before.as_ref())?;
        let groups = match (&self.export.groups, targets.groups) {
            (Some(groups), Some(target)) => {
                Some(self.groups(groups, target, before.as_ref()).inspect_err(|_| table.discard())?)
            }
            _ => None,
        };
        let manifest = Manifest {
            session: self.stamp.session.to_string(),
            generation: self.stamp.generation,
            table: table.record.clone(),
            groups: groups.as_ref().map(|g| g.file.record.clone()),
            changed: Some(self.now),
            confirmed: None,
            took_ms: None,
            written: self.now,
        };
        let probes = self.probes(&table, read);
        let stage = Stage::new(table, groups, manifest, self.rights, before.as_ref(), probes);
        if stage.is_changed() {
            return Ok(Prepared::Staged(Box::new(stage)));
        }
        // At most the manifest has something new to say.
        stage.unchanged(before).map(|manifest| Prepared::Unchanged(Box::new(manifest)))
    }

    /// The table's file, and what is in it and in the one before it, where it was written anew.
    fn table(&self, target: Target, before: Option<&Manifest>) -> Result<(Staged, Option<Tables>), Failure> {
        let format = &self.export.format;
        let rendered = format
            .render(self.view, self.stamp)
            .map_err(|e| Failure::new(FailureReason::Render, e.to_string()))?;
        let staged = self.staged(target, format.name(), &rendered, before.map(|m| &m.table));
        let staged = Staged { derived: format.derived(), ..staged };
        if !staged.changed {
            return Ok((staged, None));
        }
        let new = file::write_new_unsynced(&staged.target, &rendered.pieces(), self.rights)?;
        drop(rendered);
        // What takes long with a large table is done side by side.
        let (synced, before, after) = thread::scope(|scope| {
            let synced = scope.spawn(|| file::sync(&staged.target, &new));
            let before = scope.spawn(|| self.in_place(&staged.target));
            let after = self.prove_table(&staged.target);
            (synced.join(), before.join(), after)
        });
        let broken = |_| Failure::new(FailureReason::Interrupted, "a thread broke off");
        let tables = synced
            .unwrap_or_else(|e| Err(broken(e)))
            .and(after)
            .map(|after| Tables { before: before.unwrap_or_default(), after })
            .inspect_err(|_| staged.discard())?;
        Ok((staged, Some(tables)))
    }

    /// What the file in place says, where somebody is to be asked about what changes, and it can
    /// be read.
    fn in_place(&self, target: &Target) -> Option<ReadBack> {
        if self.export.canary.is_none() && self.export.haproxy_socket.is_none() {
            return None;
        }
        self.export.format.read(&fs::read(target.path()).ok()?).ok()
    }

    /// The file as it lies on the disk says what the table says, of every address.
    fn prove_table(&self, target: &Target) -> Result<ReadBack, Failure> {
        let format = &self.export.format;
        let refuse = |problem: String| {
            Failure::new(FailureReason::ReadBack, format!("{}: {problem}", target.new_file().display()))
        };
        let bytes = fs::read(target.new_file()).map_err(|e| refuse(e.to_string()))?;
        let read = format.read(&bytes).map_err(|e| refuse(e.to_string()))?;
        read.verify(self.view, format.excluded()).map_err(|e| refuse(e.to_string()))?;
        Ok(read)
    }

    /// What the consumer is to be asked afterwards. Where the file in place cannot be read,
    /// everything is new; where the table stays as it is, nothing of it.
    fn probes(&self, table: &Staged, read: Option<Tables>) -> Vec<Probe> {
        if self.export.canary.is_none() && self.export.haproxy_socket.is_none() {
            return Vec::new();
        }
        match read {
            Some(Tables { before, after }) => probe::choose(self.view, before.as_ref(), &after),
            None => self
                .in_place(&table.target)
                .map_or(Vec::new(), |table| probe::choose(self.view, Some(&table), &table)),
        }
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
        file::write_new(&file.target, &format.render(&all, self.stamp).pieces(), self.rights)?;
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
