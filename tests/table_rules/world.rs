//! A world of routers around the real rules: what `cycle` does, without network and store.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use poolsync::address::{Family, Range};
use poolsync::table::*;

pub(crate) const SPACE: &str = "internet";

/// Which address a place of a family is: places are numbers from 0.
#[derive(Clone, Copy)]
pub(crate) struct Ground {
    pub(crate) v4: u128,
    pub(crate) v6: u128,
}

impl Default for Ground {
    fn default() -> Self {
        Self { v4: 0x1400_0000, v6: 0x2001_0db8_0000_0000 << 64 }
    }
}

impl Ground {
    /// The range of places `first..=last`; in IPv6 a place is a /64.
    pub(crate) fn range(self, family: Family, first: u32, last: u32) -> Range {
        let (first, last) = (u128::from(first), u128::from(last));
        match family {
            Family::V4 => Range::from_bits(family, self.v4 + first, self.v4 + last),
            Family::V6 => Range::from_bits(family, self.v6 + (first << 64), self.v6 + ((last + 1) << 64) - 1),
        }
        .unwrap()
    }
}

/// A router: the truth.
#[derive(Clone)]
pub(crate) struct Router {
    pub(crate) pools: BTreeMap<String, Vec<(Family, u32, u32)>>,
    pub(crate) alive: bool,
    pub(crate) reachable: bool,
    pub(crate) boot: i64,
    /// Until then it answers completely, but without every second range.
    pub(crate) half_until: i64,
    /// Pools whose cells cannot be decoded.
    pub(crate) bad_rows: BTreeSet<String>,
}

impl Router {
    fn new() -> Self {
        Self {
            pools: BTreeMap::new(),
            alive: true,
            reachable: true,
            boot: -1_000_000,
            half_until: -1,
            bad_rows: BTreeSet::new(),
        }
    }

    fn listing(&self, now: i64) -> Vec<(String, Family, u32, u32)> {
        let ranges = |(pool, ranges): (&String, &Vec<(Family, u32, u32)>)| {
            ranges.iter().map(|(f, a, b)| (pool.clone(), *f, *a, *b)).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.pools.iter().flat_map(ranges).collect();
        match (now < self.half_until, all.len()) {
            (false, _) => all,
            (true, 0 | 1) => Vec::new(),
            (true, n) => all.into_iter().step_by(2).take(n / 2).collect(),
        }
    }

    pub(crate) fn has(&self, family: Family, place: u32) -> bool {
        self.pools.values().flatten().any(|(f, a, b)| *f == family && *a <= place && place <= *b)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (Family, u32)> {
        self.pools.values().flatten().flat_map(|(f, a, b)| (*a..=*b).map(move |place| (*f, place)))
    }
}

pub(crate) struct Settings {
    pub(crate) guard: GuardSettings,
    pub(crate) ingest: IngestSettings,
    pub(crate) claims: ClaimSettings,
    pub(crate) first_publish: Share,
    pub(crate) interval: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            guard: GuardSettings { ignore_below: 2, ..GuardSettings::default() },
            ingest: IngestSettings::default(),
            claims: ClaimSettings::default(),
            first_publish: Share::percent(95),
            interval: 5,
        }
    }
}

pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) ground: Ground,
    pub(crate) size: u32,
    pub(crate) now: i64,
    pub(crate) routers: BTreeMap<String, Router>,
    pub(crate) members: BTreeMap<Name, Membership>,
    pub(crate) memories: BTreeMap<Name, Memory>,
    pub(crate) lines: Vec<StaticLine>,
    pub(crate) work: Table,
    pub(crate) pinned: Option<Table>,
    pub(crate) generations: Vec<Table>,
    pub(crate) filled: bool,
    pub(crate) guard: GuardMemory,
    pub(crate) uplink: bool,
    /// What the store would keep: a row for each run.
    pub(crate) rows: Vec<Run>,
    runs: Runs,
    /// Brought up to date step by step, and held against the whole build each time.
    fleet_table: FleetTable,
    /// Under what configuration.
    configured: (BTreeMap<Name, Membership>, Vec<StaticLine>, ClaimSettings),
    /// Told of each commit: before, after, and what a person let through.
    pub(crate) commits: Vec<(Table, Table, Approved)>,
    pub(crate) listen: bool,
}

pub(crate) fn minute(now: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + now * 60).unwrap()
}

impl World {
    pub(crate) fn new(settings: Settings, size: u32) -> Self {
        Self {
            settings,
            ground: Ground::default(),
            size,
            now: 0,
            routers: BTreeMap::new(),
            members: BTreeMap::new(),
            memories: BTreeMap::new(),
            lines: Vec::new(),
            work: Table::default(),
            pinned: None,
            generations: vec![Table::default()],
            filled: false,
            guard: GuardMemory::default(),
            uplink: true,
            rows: Vec::new(),
            runs: Runs::default(),
            fleet_table: FleetTable::default(),
            configured: Default::default(),
            commits: Vec::new(),
            listen: false,
        }
    }

    // The routers and their operator.

    pub(crate) fn add_bas(&mut self, name: &str, pair: Option<&str>) {
        self.routers.entry(name.into()).or_insert_with(Router::new);
        let owner = Name::from(pair.unwrap_or(name));
        self.members.insert(name.into(), Membership { owner, priority: 0 });
        self.memories.insert(name.into(), Memory::default());
    }

    pub(crate) fn router(&mut self, name: &str) -> &mut Router {
        self.routers.get_mut(name).unwrap()
    }

    pub(crate) fn lists(&mut self, name: &str, pool: &str, first: u32, last: u32) {
        self.lists_in(Family::V4, name, pool, first, last);
    }

    pub(crate) fn lists_in(&mut self, family: Family, name: &str, pool: &str, first: u32, last: u32) {
        self.router(name).pools.entry(pool.into()).or_default().push((family, first, last));
    }

    /// Leaves a router with one pool of one IPv4 range.
    pub(crate) fn lists_only(&mut self, name: &str, first: u32, last: u32) {
        self.router(name).pools = [("p".to_owned(), vec![(Family::V4, first, last)])].into();
    }

    pub(crate) fn unlists(&mut self, name: &str, pools: &[&str]) {
        for pool in pools {
            self.router(name).pools.remove(*pool);
        }
    }

    pub(crate) fn reboot(&mut self, name: &str, half: i64) {
        let now = self.now;
        let router = self.router(name);
        (router.boot, router.half_until, router.alive) = (now, now + half, true);
    }

    pub(crate) fn owner(&self, name: &str) -> Name {
        self.members.get(name).map_or_else(|| name.into(), |member| member.owner.clone())
    }

    // Collect.

    pub(crate) fn poll_one(&mut self, name: &str, scheduled: bool) {
        let router = &self.routers[name];
        let answers = router.alive && router.reachable && self.uplink;
        let poll = Poll {
            at: minute(self.now),
            booted: answers.then(|| minute(router.boot)),
            scheduled,
            failure: (!answers).then(|| "timeout".into()),
            tables: if answers { self.walk(router) } else { Vec::new() },
        };
        let published = self.published(&self.owner(name));
        let memory = self.memories.get_mut(name).unwrap();
        let ingested = memory.ingest(poll, &published, &self.settings.ingest);
        if ingested.changed {
            self.fleet_table.touch(&name.into(), ingested.touched);
        }
    }

    fn walk(&self, router: &Router) -> Vec<PolledTable> {
        let (mut listed, mut unread) = (Vec::new(), Vec::new());
        for (index, (pool, family, first, last)) in router.listing(self.now).into_iter().enumerate() {
            let row = Row { context: "".into(), index: [index as u32 + 1_000].into() };
            let name = PoolName::new(pool.as_bytes());
            if router.bad_rows.contains(&pool) {
                unread.push(Unread { row, pool: Some(name) });
                continue;
            }
            listed.push(Listed {
                table: "pools".into(),
                row,
                space: Some(SPACE.into()),
                vrf: "".into(),
                pool: name,
                range: self.ground.range(family, first, last),
                size: None,
                used: None,
                standing: Standing::Listed,
            });
        }
        let outcome = TableOutcome::Complete;
        vec![PolledTable { name: "pools".into(), outcome, listed, unread, bad_index: false }]
    }

    pub(crate) fn published(&self, owner: &Name) -> Published {
        self.work.by_owner(|one| one == owner).remove(owner).unwrap_or_default()
    }

    // The sentence, from build to commit.

    pub(crate) fn cycle(&mut self) {
        self.cycle_with(&Approved::default());
    }

    pub(crate) fn claimed(&self) -> Claimed {
        let fleet = Fleet { members: &self.members, memories: &self.memories };
        claims(fleet, &self.lines, &self.settings.claims, minute(self.now))
    }

    fn cycle_with(&mut self, approved: &Approved) {
        let built = self.built();
        if !self.filled {
            self.commit(built, approved);
            let progress = Progress::of(Fleet { members: &self.members, memories: &self.memories });
            self.filled = progress.is_enough(self.settings.first_publish);
            return;
        }
        let judged = judge(Case {
            published: &self.work,
            built,
            runs: &self.runs,
            memory: std::mem::take(&mut self.guard),
            fleet: Fleet { members: &self.members, memories: &self.memories },
            approved,
            settings: &self.settings.guard,
            now: minute(self.now),
        });
        self.guard = judged.memory;
        self.commit(judged.table, approved);
    }

    /// The whole build; what it comes to step by step has to be the same, and where that says
    /// that there is nothing to do, there must be nothing.
    fn built(&mut self) -> Table {
        let built = build(self.claimed().claims, &self.work, &BuildRules::default());
        let configured = (self.members.clone(), self.lines.clone(), self.settings.claims);
        if self.configured != configured {
            (self.configured, self.fleet_table) = (configured, FleetTable::default());
        }
        let fleet = Fleet { members: &self.members, memories: &self.memories };
        let lines = StaticLines::new(self.lines.clone());
        let claimants = FleetClaims::new(fleet, &lines, &self.settings.claims, minute(self.now));
        if self.fleet_table.is_current(&claimants) && self.guard.holds.is_empty() {
            assert!(diff(&self.work, &built.table).is_empty());
        }
        self.fleet_table.unsettle();
        let (table, conflicts) = self.fleet_table.bring(&claimants, &self.work, &BuildRules::default());
        assert_eq!((&table, &*conflicts), (&built.table, &built.conflicts));
        self.fleet_table.settle();
        table
    }

    fn commit(&mut self, table: Table, approved: &Approved) {
        let changes = diff(&self.work, &table);
        if changes.is_empty() {
            return;
        }
        let at = minute(self.now);
        let applied = apply(&self.work, &changes).unwrap();
        assert!(diff(&applied, &table).is_empty());
        self.store(&changes, at);
        self.runs.commit(&changes, at);
        self.runs.prune(at.checked_sub(self.settings.guard.window).unwrap());
        if self.listen && self.filled {
            self.commits.push((self.work.clone(), table.clone(), approved.clone()));
        }
        self.work = table;
        self.generations.push(self.work.clone());
    }

    /// What the store does with a commit: intervals of validity, a row for each entry.
    fn store(&mut self, changes: &[Change], at: Timestamp) {
        let entries = |of: fn(&Change) -> Option<&Entry>| {
            changes.iter().filter_map(of).filter(|entry| entry.class != Class::Fill)
        };
        for entry in entries(Change::before) {
            let open =
                |row: &&mut Run| row.to.is_none() && row.range == entry.range && row.owner == entry.owner;
            self.rows.iter_mut().find(open).unwrap().to = Some(at);
        }
        self.rows.extend(entries(Change::after).map(|entry| Run {
            space: entry.space.clone(),
            range: entry.range,
            owner: entry.owner.clone(),
            from: at,
            to: None,
        }));
        let start = at.checked_sub(self.settings.guard.window + SignedDuration::from_mins(1)).unwrap();
        self.rows.retain(|row| row.to.is_none_or(|to| to > start));
    }

    // The person.

    pub(crate) fn held(&self) -> &[Hold] {
        &self.guard.holds
    }

    pub(crate) fn approve_all(&mut self) {
        let approved = self.guard.approve(&Selection::All).unwrap();
        self.cycle_with(&approved);
    }

    pub(crate) fn approve(&mut self, id: u64) {
        let approved = self.guard.approve(&Selection::Id { id, digest: None }).unwrap();
        self.cycle_with(&approved);
    }

    pub(crate) fn line(&mut self, first: u32, last: u32, owner: &str, mode: StaticMode) {
        let range = self.ground.range(Family::V4, first, last);
        let bas = Some(owner.into());
        self.lines.push(StaticLine { space: SPACE.into(), range, owner: self.owner(owner), bas, mode });
        self.cycle();
    }

    pub(crate) fn rollback(&mut self, generation: usize) {
        self.pinned = Some(self.generations[generation].clone());
    }

    pub(crate) fn release(&mut self) {
        self.pinned = None;
        self.cycle();
    }

    pub(crate) fn drop_bas(&mut self, names: &[&str]) {
        for name in names {
            self.members.remove(*name);
            self.memories.remove(*name);
        }
        self.cycle();
    }

    /// The daemon is down for a while; what it remembers comes back from the store.
    pub(crate) fn restart(&mut self, off: i64) {
        self.now += off;
        for memory in self.memories.values_mut() {
            let text = serde_json::to_string(memory).unwrap();
            let listed = std::mem::take(&mut memory.listed);
            *memory = serde_json::from_str(&text).unwrap();
            memory.listed = listed;
        }
        self.guard = serde_json::from_str(&serde_json::to_string(&self.guard).unwrap()).unwrap();
        self.runs = Runs::load(&self.rows);
        self.fleet_table = FleetTable::default();
    }

    // Time.

    pub(crate) fn step(&mut self, minutes: i64) {
        for _ in 0..minutes {
            self.now += 1;
            let names: Vec<String> = self.memories.keys().map(|name| name.to_string()).collect();
            let due = names.iter().zip(0i64..).filter(|(_, i)| (self.now + i) % self.settings.interval == 0);
            let due: Vec<_> = due.map(|(name, _)| name.clone()).collect();
            for name in &due {
                self.poll_one(name, true);
                self.cycle();
            }
            if due.is_empty() {
                self.cycle();
            }
        }
    }

    // What is seen.

    pub(crate) fn table(&self) -> &Table {
        self.pinned.as_ref().unwrap_or(&self.work)
    }

    pub(crate) fn entry(&self, family: Family, place: u32) -> Option<&Entry> {
        self.table().lookup(SPACE, self.ground.range(family, place, place).first())
    }

    pub(crate) fn own(&self, place: u32) -> Option<&str> {
        self.entry(Family::V4, place).map(|entry| entry.owner.as_str())
    }

    /// How many places are somebody's, or one owner's.
    pub(crate) fn covered(&self, who: Option<&str>) -> usize {
        let is = |entry: &Entry| entry.class != Class::Fill && who.is_none_or(|who| &*entry.owner == who);
        (0..self.size).filter(|place| self.entry(Family::V4, *place).is_some_and(is)).count()
    }
}
