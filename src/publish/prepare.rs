//! What one publication is to put in place: rendered, compared with what is there, written
//! beside it, and proven.

use std::fs::{self, File};
use std::io::Read;
use std::thread;

use jiff::{SignedDuration, Timestamp};

use super::file::{self, Rights};
use super::probe::{self, Before, Probe};
use super::stage::{Stage, Staged, StagedGroups};
use super::{Export, Failure, FailureReason, FileRecord, GroupsFile, Last, Manifest, Target};
use crate::format::groups::{GroupsFormat, Rows};
use crate::format::{Rendered, Stamp, View};
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

/// Renders, compares with what is in place, writes what is new and proves it. `last` is what
/// was published before, where that is known.
pub(super) fn prepare(
    export: &Export,
    snapshot: &Snapshot,
    last: Option<&Last>,
    now: Timestamp,
) -> Result<Prepared, Failure> {
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
    // What says otherwise than the manifest is not what lies there.
    let last = last.filter(|last| {
        let told = before.as_ref().map(|before| (before.session.as_str(), before.generation));
        told == Some((&last.snapshot.session.to_string(), last.snapshot.generation))
    });
    Work { export, view: &view, stamp: &stamp, rights, last, now }.prepare(targets, before)
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

/// What came of the table.
struct Table {
    table: Staged,
    /// What the consumer is to be asked.
    probes: Vec<Probe>,
    /// Whether what was in place is what the manifest tells of.
    fits: bool,
}

struct Work<'a> {
    export: &'a Export,
    view: &'a View<'a>,
    stamp: &'a Stamp,
    rights: Rights,
    last: Option<&'a Last>,
    now: Timestamp,
}

impl Work<'_> {
    fn prepare(&self, targets: Targets, before: Option<Manifest>) -> Result<Prepared, Failure> {
        let Table { table, probes, fits } = self.table(targets.table, before.as_ref())?;
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
        let good = fits && before.as_ref().is_some_and(|before| is_groups_of(before, groups.as_ref()));
        let stage = Stage::new(table, groups, manifest, self.rights, good, probes);
        if stage.is_changed() {
            return Ok(Prepared::Staged(Box::new(stage)));
        }
        // At most the manifest has something new to say.
        stage.unchanged(before).map(|manifest| Prepared::Unchanged(Box::new(manifest)))
    }

    /// The table's file, and what else is found out on the way. What takes long with a large
    /// table is done side by side.
    fn table(&self, target: Target, before: Option<&Manifest>) -> Result<Table, Failure> {
        let format = &self.export.format;
        let record = before.map(|before| &before.table);
        let fits = || record.is_some_and(|record| record.fits(&target).is_ok_and(|fits| fits));
        let (fits, rendered) = beside(fits, || format.render(self.view, self.stamp));
        let rendered = rendered.map_err(|e| Failure::new(FailureReason::Render, e.to_string()))?;
        let fits = fits?;
        if let Some(same) = self.same(&target, format.name(), &rendered, record.filter(|_| fits)) {
            let table = Staged { target, record: same, changed: false, derived: format.derived() };
            return Ok(Table { table, probes: self.probes(&Before::Same), fits });
        }
        let (record, new) = beside(
            || self.record(format.name(), &rendered),
            || file::write_new_unsynced(&target, &rendered.pieces(), self.rights),
        );
        let (record, new) = (record?, new?);
        let staged = Staged { target, record, changed: true, derived: format.derived() };
        let others = || {
            let probes = self.probes(&self.before(&staged.target, fits));
            file::sync(&staged.target, &new).map(|()| probes)
        };
        let (others, proven) = beside(others, || self.prove_table(&staged.target, rendered.body));
        let probes = others.and_then(|probes| proven.and(probes)).inspect_err(|_| staged.discard())?;
        Ok(Table { table: staged, probes, fits })
    }

    fn asks(&self) -> bool {
        self.export.canary.is_some() || self.export.haproxy_socket.is_some()
    }

    /// What the consumer had: as it was published last, where `fits` says that this is still
    /// what lies there; else what is read there.
    fn before(&self, target: &Target, fits: bool) -> Before<'_> {
        if !self.asks() {
            return Before::Nothing;
        }
        let last = self.last.filter(|_| fits).and_then(|last| last.export.view(&last.snapshot).ok());
        let file = || self.export.format.read(&fs::read(target.path()).ok()?).ok();
        last.map(Before::View).or_else(|| file().map(Before::File)).unwrap_or(Before::Nothing)
    }

    /// The file as it lies on the disk says what the table says, of every address. It is read
    /// into the memory that the body was in, which spares the system giving out as much again.
    fn prove_table(&self, target: &Target, mut memory: Vec<u8>) -> Result<(), Failure> {
        let refuse = |problem: String| {
            Failure::new(FailureReason::ReadBack, format!("{}: {problem}", target.new_file().display()))
        };
        memory.clear();
        let read = File::open(target.new_file()).and_then(|mut file| file.read_to_end(&mut memory));
        read.map_err(|e| refuse(e.to_string()))?;
        self.export.format.prove(&memory, self.view).map_err(|e| refuse(e.to_string()))
    }

    /// What the consumer is to be asked afterwards.
    fn probes(&self, before: &Before<'_>) -> Vec<Probe> {
        if !self.asks() {
            return Vec::new();
        }
        probe::choose(self.view, before, self.export.format.excluded())
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
        let record = before.and_then(|before| before.groups.as_ref());
        let record = record.filter(|record| record.fits(&target).is_ok_and(|fits| fits));
        if let Some(same) = self.same(&target, format.name(), &exact, record) {
            let file = Staged { target, record: same, changed: false, derived: None };
            return Ok(StagedGroups { file, trimmed: None });
        }
        let record = self.record(format.name(), &exact);
        let file = Staged { target, record, changed: true, derived: None };
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

    /// The record of the file in place, which is `before`, where the new one would have the
    /// same body.
    fn same(
        &self,
        target: &Target,
        format: &str,
        rendered: &Rendered,
        before: Option<&FileRecord>,
    ) -> Option<FileRecord> {
        // A file that cannot be read any more is written anew.
        let same = |before: &&FileRecord| {
            before.format == format && before.has_body(target, &rendered.body).is_ok_and(|same| same)
        };
        before.filter(same).cloned()
    }

    /// What the manifest is to say of a new file.
    fn record(&self, format: &str, rendered: &Rendered) -> FileRecord {
        FileRecord {
            format: format.to_owned(),
            body_generation: self.stamp.generation,
            sha256: file::sha256(rendered),
            head_octets: rendered.head.len() as u64,
            body_octets: rendered.body.len() as u64,
            rows: rendered.rows,
        }
    }
}

/// Whether the groups file in place is the one that was told of.
fn is_groups_of(before: &Manifest, groups: Option<&StagedGroups>) -> bool {
    let both = before.groups.as_ref().zip(groups);
    both.is_none_or(|(record, groups)| record.fits(&groups.file.target).is_ok_and(|fits| fits))
}

/// Two things at a time.
fn beside<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (Result<A, Failure>, B) {
    let (other, own) = thread::scope(|scope| {
        let other = scope.spawn(other);
        let own = own();
        (other.join(), own)
    });
    (other.map_err(|_| Failure::new(FailureReason::Interrupted, "a thread broke off")), own)
}

fn prove_groups(format: &dyn GroupsFormat, target: &Target, rows: &Rows) -> Result<(), Failure> {
    let refuse = |problem: String| {
        Failure::new(FailureReason::ReadBack, format!("{}: {problem}", target.new_file().display()))
    };
    let bytes = fs::read(target.new_file()).map_err(|e| refuse(e.to_string()))?;
    let read = format.read(&bytes).map_err(|e| refuse(e.to_string()))?;
    if read == *rows { Ok(()) } else { Err(refuse("other rows than were written".to_owned())) }
}
