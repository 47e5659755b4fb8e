//! Random stories, and what has to hold in all of them.
//!
//! `TABLE_SEEDS=100..300 cargo test --test table_rules random` runs other seeds than the few
//! that every run takes.

use std::collections::{BTreeMap, BTreeSet};

use poolsync::address::{Family, RangeSet};
use poolsync::table::*;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::world::*;

const SIZE: u32 = 64;
const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
const KINDS: [Kind; 22] = [
    Kind::Add,
    Kind::Shrink,
    Kind::Delete,
    Kind::Move,
    Kind::Move,
    Kind::Renumber,
    Kind::Die,
    Kind::Replace,
    Kind::Reboot,
    Kind::Uplink,
    Kind::Off,
    Kind::Drop,
    Kind::Approve,
    Kind::ApproveOne,
    Kind::Reject,
    Kind::Rollback,
    Kind::Static,
    Kind::Conflict,
    Kind::Bad,
    Kind::Blip,
    Kind::Nest,
    Kind::Flap,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Add,
    Shrink,
    Delete,
    Move,
    Renumber,
    Die,
    Replace,
    Reboot,
    Uplink,
    Off,
    Drop,
    Approve,
    ApproveOne,
    Reject,
    Rollback,
    Static,
    Conflict,
    Bad,
    Blip,
    Nest,
    Flap,
}

/// Something that happens at a time; harmless where it does not apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Op {
    at: i64,
    kind: Kind,
    a: usize,
    b: usize,
    seed: u64,
    gap: i64,
}

/// What an operation leaves for later.
enum Later {
    Remove(String, String),
    Put(String, String, Vec<(Family, u32, u32)>),
    Alive(String),
    Swap(String, String),
    Uplink,
    Reach(String, bool),
    Release,
    Unstatic(u32),
    Readable(String, String),
}

fn story(rng: &mut StdRng, routers: usize) -> Vec<Op> {
    let count = rng.random_range(2..=14);
    let mut ops: Vec<Op> = (0..count)
        .map(|_| Op {
            at: rng.random_range(20..=1800),
            kind: *KINDS.choose(rng).unwrap(),
            a: rng.random_range(0..routers),
            b: rng.random_range(0..routers),
            seed: rng.random(),
            gap: *[-11, -6, -2, 0, 2, 6, 11, 40].choose(rng).unwrap(),
        })
        .collect();
    ops.sort();
    ops
}

struct Run {
    seed: u64,
    ops: Vec<Op>,
    w: World,
    private: bool,
    later: BTreeMap<i64, Vec<Later>>,
    /// Losses that no person approved: (owner, place) and when.
    lost: BTreeMap<(String, u32), i64>,
    /// Places shown as another's than the only lister's, and since when.
    wrong: BTreeMap<u32, i64>,
    /// What each BAS was seen to list before its last poll.
    seen: BTreeMap<String, RangeSet>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let routers = rng.random_range(3..=6);
        let block = *[4, 8].choose(&mut rng).unwrap();
        let private = rng.random_bool(0.25);
        let mut w = World::new(Settings::default(), SIZE);
        if private {
            w.ground.v4 = 0x0a00_0000 - 32; // places from 32 on are private
        }
        let slice = SIZE / (2 * routers as u32);
        for (i, name) in NAMES.iter().take(routers).enumerate() {
            w.add_bas(name, None);
            for j in 0..2 {
                let first = (2 * i as u32 + j) * slice / 4 * 4;
                w.lists(name, &format!("p{j}"), first, first + block.min(slice / 4 * 4) - 1);
            }
        }
        w.listen = true;
        let ops = story(&mut rng, routers);
        let (later, lost, wrong, seen) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { seed, ops, w, private, later, lost, wrong, seen }
    }

    fn fail(&self, rule: &str, text: String) -> ! {
        panic!("seed {} t={}: {rule}: {text}\n{:#?}", self.seed, self.w.now, self.ops);
    }

    fn later(&mut self, minutes: i64, what: Later) {
        self.later.entry(self.w.now + minutes.max(0)).or_default().push(what);
    }

    fn due(&mut self) {
        let now = self.w.now;
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() <= now) {
            entry.remove().into_iter().for_each(|what| self.happen(what));
        }
    }

    fn happen(&mut self, what: Later) {
        let w = &mut self.w;
        match what {
            Later::Remove(bas, pool) => drop(w.router(&bas).pools.remove(&pool)),
            Later::Put(bas, pool, ranges) => drop(w.router(&bas).pools.insert(pool, ranges)),
            Later::Alive(bas) => w.router(&bas).alive = true,
            Later::Swap(old, new) => {
                w.add_bas(&new, None);
                w.router(&new).pools = w.routers[&old].pools.clone();
            }
            Later::Uplink => w.uplink = true,
            Later::Reach(bas, reachable) => w.router(&bas).reachable = reachable,
            Later::Release if w.pinned.is_some() => w.release(),
            Later::Release => {}
            Later::Unstatic(first) => {
                let first = w.ground.range(Family::V4, first, first).first();
                w.lines.retain(|line| line.range.first() != first);
                w.cycle();
            }
            Later::Readable(bas, pool) => drop(w.router(&bas).bad_rows.remove(&pool)),
        }
        self.look_at_commits();
    }

    fn free_block(&self, rng: &mut StdRng) -> Option<u32> {
        let used = |place| self.w.routers.values().any(|router| router.has(Family::V4, place));
        let free: Vec<u32> = (0..SIZE).step_by(4).filter(|place| !used(*place)).collect();
        free.choose(rng).copied()
    }

    fn act(&mut self, op: &Op) {
        let mut rng = StdRng::seed_from_u64(op.seed);
        let known: Vec<String> = self.w.members.keys().map(|name| name.to_string()).collect();
        let live: Vec<String> = known.into_iter().filter(|name| self.w.routers[name].alive).collect();
        if live.is_empty() {
            return;
        }
        let (a, b) = (live[op.a % live.len()].clone(), live[op.b % live.len()].clone());
        let pools: Vec<String> = self.w.routers[&a].pools.keys().cloned().collect();
        let pool = pools.choose(&mut rng).cloned();
        let ranges = pool.as_ref().map(|pool| self.w.routers[&a].pools[pool].clone()).unwrap_or_default();
        let now = self.w.now;
        match (op.kind, pool, ranges.first().copied()) {
            (Kind::Add, ..) => {
                if let Some(first) = self.free_block(&mut rng) {
                    let more = *[0, 1, 3].choose(&mut rng).unwrap();
                    self.w.lists(&a, &format!("n{now}"), first, first + more);
                }
            }
            (Kind::Shrink, Some(pool), Some((family, x, y))) if y > x => {
                self.w.router(&a).pools.insert(pool, vec![(family, x, (x + y) / 2)]);
            }
            (Kind::Delete, Some(pool), _) => self.w.unlists(&a, &[&pool]),
            (Kind::Move, Some(pool), _) if a != b => {
                self.later(-op.gap, Later::Remove(a.clone(), pool.clone()));
                self.later(op.gap, Later::Put(b, format!("{pool}{a}"), ranges));
            }
            (Kind::Renumber, ..) => {
                for name in live.iter().take((live.len() / 2).max(1)) {
                    if let Some(first) = self.free_block(&mut rng) {
                        let pools = [(format!("r{now}"), vec![(Family::V4, first, first + 3)])].into();
                        self.w.router(name).pools = pools;
                    }
                }
            }
            (Kind::Die, ..) => {
                self.w.router(&a).alive = false;
                let back = *[7, 20, 60, 300, 900].choose(&mut rng).unwrap();
                self.later(back, Later::Alive(a));
            }
            (Kind::Replace, ..) => {
                self.w.router(&a).alive = false;
                let new = format!("{a}x{now}");
                self.later(op.gap.abs(), Later::Swap(a, new));
            }
            (Kind::Reboot, ..) => self.w.reboot(&a, *[0, 4, 8].choose(&mut rng).unwrap()),
            (Kind::Uplink, ..) => {
                self.w.uplink = false;
                let back = *[9, 45, 500].choose(&mut rng).unwrap();
                self.later(back, Later::Uplink);
            }
            (Kind::Off, ..) => {
                self.w.restart(2 * 1440);
                self.wrong.clear();
            }
            (Kind::Drop, ..) => self.w.drop_bas(&[&a]),
            (Kind::Approve, ..) => self.w.approve_all(),
            (Kind::ApproveOne, ..) => {
                if let Some(id) = self.w.held().first().map(|hold| hold.id) {
                    self.w.approve(id);
                }
            }
            (Kind::Reject, ..) => {
                if let Some(id) = self.w.held().first().map(|hold| hold.id) {
                    self.w.guard.reject(&Selection::Id { id, digest: None }).unwrap();
                }
            }
            (Kind::Rollback, ..) => {
                let last = self.w.generations.len();
                self.w.rollback(last.saturating_sub(rng.random_range(1..=6)).clamp(0, last - 1));
                let back = *[10, 100, 2000].choose(&mut rng).unwrap();
                self.later(back, Later::Release);
            }
            (Kind::Static, ..) => {
                let first = rng.random_range(0..SIZE / 4) * 4;
                let modes = [StaticMode::Fill, StaticMode::Fill, StaticMode::Override];
                self.w.line(first, first + 3, &a, *modes.choose(&mut rng).unwrap());
                if rng.random_bool(0.5) {
                    self.later(60, Later::Unstatic(first));
                }
            }
            (Kind::Conflict, Some(pool), _) if a != b => {
                self.w.router(&b).pools.insert(format!("{pool}c"), ranges);
            }
            (Kind::Nest, Some(pool), Some((family, x, y))) if a != b => {
                let quarter = vec![(family, x, x + (y - x + 1) / 4)];
                self.w.router(&b).pools.insert(format!("{pool}n"), quarter);
            }
            (Kind::Bad, Some(pool), _) => {
                self.w.router(&a).bad_rows.insert(pool.clone());
                self.later(60, Later::Readable(a, pool));
            }
            (Kind::Blip, ..) => {
                self.w.router(&a).reachable = false;
                self.later(5, Later::Reach(a, true));
            }
            (Kind::Flap, ..) => {
                for i in (0..120).step_by(8) {
                    self.later(i, Later::Reach(a.clone(), false));
                    self.later(i + 4, Later::Reach(a.clone(), true));
                }
            }
            _ => {}
        }
        self.look_at_commits();
    }

    fn minute(&mut self) {
        self.due();
        self.w.now += 1;
        let names: Vec<String> = self.w.memories.keys().map(|name| name.to_string()).collect();
        let interval = self.w.settings.interval;
        let due = names.into_iter().zip(0i64..).filter(|(_, i)| (self.w.now + i) % interval == 0);
        let due: Vec<String> = due.map(|(name, _)| name).collect();
        for name in &due {
            let seen = self.w.memories[name.as_str()].seen.iter().map(|seen| seen.range).collect();
            self.seen.insert(name.clone(), seen);
            self.w.poll_one(name, true);
            self.w.cycle();
            self.look_at_commits();
        }
        if due.is_empty() {
            self.w.cycle();
            self.look_at_commits();
        }
        self.look_at_the_table();
    }

    fn minutes(&mut self, count: i64) {
        (0..count).for_each(|_| self.minute());
    }

    fn in_table<'a>(&self, table: &'a Table, place: u32) -> Option<&'a Entry> {
        table.lookup(SPACE, self.w.ground.range(Family::V4, place, place).first())
    }

    /// What the commits of this moment did.
    fn look_at_commits(&mut self) {
        for (before, after, approved) in std::mem::take(&mut self.w.commits) {
            for place in 0..SIZE {
                let (p, c) = (self.in_table(&before, place).cloned(), self.in_table(&after, place).cloned());
                self.look_at_change(place, p, c, &approved);
            }
        }
        if self.w.filled {
            self.count_losses();
        }
    }

    fn look_at_change(
        &mut self,
        place: u32,
        before: Option<Entry>,
        after: Option<Entry>,
        approved: &Approved,
    ) {
        let routed = |entry: &Entry| entry.class != Class::Fill;
        if after.as_ref().is_some_and(routed) {
            self.lost.retain(|(_, lost), _| *lost != place);
        }
        let owner = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.owner.clone());
        let (from, to) = (owner(&before), owner(&after));
        if from == to {
            return;
        }
        let address = self.w.ground.range(Family::V4, place, place).first();
        let ok = approved.changes().any(|(_, c)| c.range.contains(address) && c.from == from && c.to == to);
        let Some(before) = before.filter(routed) else { return };
        match after.filter(routed) {
            _ if ok => self.lost.retain(|(_, lost), _| *lost != place),
            None => drop(self.lost.insert((before.owner.to_string(), place), self.w.now)),
            Some(after) if after.class == Class::Fresh => self.not_stolen(place, &before.owner, &after.owner),
            Some(_) => {}
        }
    }

    /// Nobody takes an address from an owner that lists it and is not stale, unless it does so
    /// by a pool within the owner's.
    fn not_stolen(&self, place: u32, from: &Name, to: &Name) {
        let w = &self.w;
        let (Some(memory), true) = (w.memories.get(from), w.members.contains_key(to)) else { return };
        let (owner, taker) = (&w.routers[from.as_str()], &w.routers[to.as_str()]);
        let address = w.ground.range(Family::V4, place, place).first();
        let lengths = |router: &Router| -> Vec<u32> {
            let ranges = router.pools.values().flatten();
            ranges.filter(|(_, a, b)| *a <= place && place <= *b).map(|(_, a, b)| b - a + 1).collect()
        };
        let known = memory.listed.iter().filter(|row| row.range.contains(address));
        let largest =
            known.map(|row| row.range.units() as u32).chain(lengths(owner)).max().unwrap_or_default();
        let nested = lengths(taker).into_iter().min().is_some_and(|least| 2 * least <= largest);
        let stale = w.claimed().stale.iter().any(|stale| stale.bas == *from);
        let seen = self.seen.get(from.as_str()).is_some_and(|seen| seen.contains(address));
        let listed = owner.alive && owner.has(Family::V4, place) && w.now >= owner.half_until;
        if listed && !stale && memory.last_complete.is_some() && seen && !nested {
            self.fail("stolen", format!("{place} from {from} by {to}"));
        }
    }

    /// No owner and no table loses more than its share in a window unasked.
    fn count_losses(&mut self) {
        let w = &self.w;
        let window = w.settings.guard.window.as_secs() / 60;
        self.lost.retain(|_, at| *at > w.now - window);
        let start = minute(w.now - window);
        let published = |owner: Option<&str>| -> u64 {
            let rows = w.rows.iter().filter(|row| owner.is_none_or(|owner| &*row.owner == owner));
            let rows = rows.filter(|row| row.to.is_none_or(|to| to > start));
            rows.map(|row| row.range).collect::<RangeSet>().units()
        };
        let forgiven = |place: u32, at: i64| {
            let address = w.ground.range(Family::V4, place, place).first();
            w.guard.forgiven.iter().any(|f| !f.table && f.range.contains(address) && f.at > minute(at))
        };
        let ignore = w.settings.guard.ignore_below;
        let owners: BTreeSet<&String> = self.lost.keys().map(|(owner, _)| owner).collect();
        for owner in owners {
            let mine = self.lost.iter().filter(|((of, place), at)| of == owner && !forgiven(*place, **at));
            let (mine, base) = (mine.count() as u64, published(Some(owner)).max(1));
            if mine >= ignore && mine * 2 > base {
                self.fail("owner", format!("{owner} lost {mine} of {base} unapproved"));
            }
        }
        let places: BTreeSet<u32> = self.lost.keys().map(|(_, place)| *place).collect();
        let (all, base) = (places.len() as u64, published(None));
        if all >= ignore && all * 10 > base {
            self.fail("table", format!("lost {all} of {base} unapproved"));
        }
    }

    fn held_places(&self) -> BTreeSet<u32> {
        let held: RangeSet = self.w.held().iter().flat_map(Hold::addresses).collect();
        (0..SIZE).filter(|place| held.covers(self.w.ground.range(Family::V4, *place, *place))).collect()
    }

    fn listers(&self, place: u32) -> BTreeSet<String> {
        let lists = |name: &&Name| {
            let router = &self.w.routers[name.as_str()];
            router.alive && router.has(Family::V4, place)
        };
        self.w.members.keys().filter(lists).map(|name| name.to_string()).collect()
    }

    /// An address that one router alone lists is not shown as another's for long.
    fn look_at_the_table(&mut self) {
        if !self.w.filled || self.w.pinned.is_some() {
            self.wrong.clear();
            return;
        }
        let held = self.held_places();
        let mut wrong = BTreeMap::new();
        for (name, router) in &self.w.routers {
            let polled = router.alive && router.reachable && self.w.uplink && self.w.now >= router.half_until;
            if !polled || !self.w.members.contains_key(name.as_str()) {
                continue;
            }
            for (_, place) in router.places() {
                let Some(entry) = self.in_table(&self.w.work, place) else { continue };
                let unreadable = router.bad_rows.iter().filter_map(|pool| router.pools.get(pool)).flatten();
                let mut unreadable = unreadable.filter(|(_, a, b)| *a <= place && place <= *b);
                let is_wrong = &*entry.owner != name.as_str()
                    && entry.class != Class::Override
                    && !held.contains(&place)
                    && !(self.private && place >= 32)
                    && unreadable.next().is_none()
                    && self.listers(place) == BTreeSet::from([name.clone()]);
                if is_wrong {
                    let since = self.wrong.get(&place).copied().unwrap_or(self.w.now);
                    self.allowed(place, since, &entry.owner);
                    wrong.insert(place, since);
                }
            }
        }
        self.wrong = wrong;
    }

    fn allowed(&self, place: u32, since: i64, owner: &Name) {
        let w = &self.w;
        let slack = 3 * w.settings.interval + 2;
        let minutes = |duration: jiff::SignedDuration| duration.as_secs() / 60;
        let memory = w.memories.get(owner);
        let failing = memory.is_some_and(|m| m.tables.values().any(|table| table.failed > 0));
        let reachable = w.routers.get(owner.as_str()).is_none_or(|router| router.reachable);
        let limit = if failing || !reachable {
            slack + minutes(w.settings.claims.after) + minutes(w.settings.claims.takeover)
        } else if memory.is_some() {
            slack + minutes(w.settings.ingest.settle) + 60
        } else {
            slack
        };
        let isolated = || w.claimed().stale.iter().any(|s| s.bas == *owner && s.poller_isolated);
        if w.now - since > limit && !isolated() {
            self.fail("late", format!("{place} shown as {owner} since {since}"));
        }
    }

    /// In the end the table says what the routers say.
    fn settled(&self, when: &str, except: &BTreeSet<u32>) {
        let w = &self.w;
        for place in (0..SIZE).filter(|place| !except.contains(place)) {
            let address = w.ground.range(Family::V4, place, place).first();
            let of_mode = |mode: StaticMode| -> BTreeSet<String> {
                let lines = w.lines.iter().filter(|line| line.mode == mode && line.range.contains(address));
                lines.map(|line| line.owner.to_string()).collect()
            };
            let dead = w.members.keys().filter(|name| {
                !w.routers[name.as_str()].alive
                    && w.memories[name.as_str()].listed.iter().any(|row| row.range.contains(address))
            });
            let dead: BTreeSet<String> = dead.map(|name| name.to_string()).collect();
            let over = of_mode(StaticMode::Override);
            let choices = [over.clone(), self.listers(place), dead, of_mode(StaticMode::Fill)];
            let want = choices.into_iter().find(|set| !set.is_empty()).unwrap_or_default();
            let nobody = self.private && place >= 32 && want.len() > 1 && over.is_empty();
            let right = match self.in_table(&w.work, place) {
                Some(entry) => want.contains(entry.owner.as_str()),
                None => want.is_empty() || nobody,
            };
            if !right {
                let is = self.in_table(&w.work, place).map(|entry| entry.owner.clone());
                self.fail("settled", format!("{when}: {place} is {is:?}, and should be one of {want:?}"));
            }
        }
    }

    fn quiet(&mut self, minutes: i64, when: &str) {
        let (generations, last) = (self.w.generations.len(), self.w.guard.last_id);
        self.minutes(minutes);
        if self.w.generations.len() != generations || self.w.guard.last_id != last {
            self.fail("quiet", format!("{when}: generations or holds out of nothing"));
        }
    }

    fn run(mut self) {
        for op in self.ops.clone() {
            while self.w.now < op.at {
                self.minute();
            }
            self.act(&op);
        }
        while !self.later.is_empty() {
            self.minute();
        }
        for router in self.w.routers.values_mut() {
            router.reachable = true;
            router.bad_rows.clear();
        }
        self.w.uplink = true;
        self.happen(Later::Release);
        self.minutes(30 + 30 + 360 + 80);
        self.settled("after a while", &self.held_places());
        self.quiet(60, "after a while");
        for _ in 0..8 {
            self.w.approve_all();
            self.look_at_commits();
            self.minutes(11);
        }
        if !self.w.held().is_empty() {
            self.fail("approved", format!("still held: {:?}", self.w.held()));
        }
        self.settled("approved", &BTreeSet::new());
        self.quiet(30, "approved");
    }
}

#[test]
fn the_rules_hold_in_random_stories() {
    let seeds = std::env::var("TABLE_SEEDS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    for seed in seeds.unwrap_or(0..16) {
        Run::new(seed).run();
    }
}
