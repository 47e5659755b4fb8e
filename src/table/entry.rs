//! Entries and the table they make up.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::Serialize;

use super::{Class, Name, PoolName, Published};
use crate::address::{Family, Range};

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A router listed it.
    Polled,
    /// A static line of the configuration says so.
    Static,
}

/// One disjoint range of the table and whom it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// The owner: a pair, a BAS, or a static line's edges.
    pub owner: Name,
    /// The BAS whose claim it is; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The pool on that BAS.
    pub pool: PoolName,
    /// The VRF as the router names it.
    pub vrf: Name,
    /// The class of the claim that won.
    pub class: Class,
}

impl Entry {
    /// Whether a router or a static line stands behind it.
    pub const fn origin(&self) -> Origin {
        match self.class {
            Class::Fill | Class::Override => Origin::Static,
            Class::Kept | Class::Fresh => Origin::Polled,
        }
    }

    /// Whether both say the same of their addresses: owner, BAS, pool, VRF and kind of
    /// class. That a BAS went stale is no difference.
    pub fn says_same(&self, other: &Self) -> bool {
        self.owner == other.owner
            && self.bas == other.bas
            && self.pool == other.pool
            && self.vrf == other.vrf
            && self.class.is_kind_of(other.class)
    }

    /// Both as one entry, where `next` goes on behind this one and says the same.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        let joins = self.space == next.space && self.range.touches(next.range) && self.says_same(next);
        let range = Range::from_bits(self.range.family(), self.range.first_bits(), next.range.last_bits());
        let range = range.filter(|_| joins)?;
        Some(Self { class: self.class.max(next.class), ..self.with_range(range) })
    }

    /// The same of other addresses.
    pub(super) fn with_range(&self, range: Range) -> Self {
        Self { range, ..self.clone() }
    }
}

/// All entries of all spaces: sorted by space, family and first address; disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// A table of entries in any order.
    ///
    /// # Errors
    /// The two entries that overlap, where some do.
    pub fn new(mut entries: Vec<Entry>) -> Result<Self, Box<(Entry, Entry)>> {
        entries.sort_by(|a, b| (&a.space, a.range).cmp(&(&b.space, b.range)));
        for pair in entries.windows(2) {
            if pair[0].space == pair[1].space && pair[0].range.intersection(pair[1].range).is_some() {
                return Err(Box::new((pair[0].clone(), pair[1].clone())));
            }
        }
        Ok(Self { entries })
    }

    /// A table of entries that are known to be sorted and disjoint.
    pub(super) fn from_sorted(entries: Vec<Entry>) -> Self {
        debug_assert!(entries.windows(2).all(|pair| {
            (&pair[0].space, pair[0].range) < (&pair[1].space, pair[1].range)
                && (pair[0].space != pair[1].space || pair[0].range.intersection(pair[1].range).is_none())
        }));
        Self { entries }
    }

    /// The entries, sorted by space, family and first address.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// The entries of one space and family.
    pub fn of(&self, space: &str, family: Family) -> &[Entry] {
        let place = |entry: &Entry| (entry.space.as_str(), entry.range.family()).cmp(&(space, family));
        let from = self.entries.partition_point(|entry| place(entry).is_lt());
        let to = self.entries.partition_point(|entry| place(entry).is_le());
        self.entries.get(from..to).unwrap_or_default()
    }

    /// The entries, sorted by space, family and first address.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What is published as each owner's, by owner and space: what
    /// [`Memory::ingest`](super::Memory::ingest) is told. One pass over the table.
    pub fn by_owner(&self) -> BTreeMap<Name, Published> {
        let mut ranges: BTreeMap<(&Name, &Name), Vec<Range>> = BTreeMap::new();
        for entry in &self.entries {
            ranges.entry((&entry.owner, &entry.space)).or_default().push(entry.range);
        }
        let mut owners: BTreeMap<Name, Published> = BTreeMap::new();
        for ((owner, space), ranges) in ranges {
            owners.entry(owner.clone()).or_default().insert(space.clone(), ranges.into_iter().collect());
        }
        owners
    }

    /// The entry that an address of a space lies in.
    pub fn lookup(&self, space: &str, address: IpAddr) -> Option<&Entry> {
        let wanted = Range::single(address);
        let behind = self.entries.partition_point(|e| {
            (e.space.as_str(), e.range.family(), e.range.first_bits())
                <= (space, wanted.family(), wanted.first_bits())
        });
        let entry = self.entries.get(behind.checked_sub(1)?)?;
        (&*entry.space == space && entry.range.contains(address)).then_some(entry)
    }
}

/// For how long a range was published as an owner's: what the guard's reference is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The address space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Whose it was. Fill lines are nobody's and make no run.
    pub owner: Name,
    /// Since when.
    pub from: Timestamp,
    /// Until when; none while it is.
    pub to: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(space: &str, owner: &str, pool: &str, range: &str) -> Entry {
        Entry {
            space: space.into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: None,
            pool: PoolName::new(pool.as_bytes()),
            vrf: "".into(),
            class: Class::Fresh,
        }
    }

    fn table() -> Table {
        Table::new(vec![
            entry("iptv", "B", "p", "10.0.0.0/24"),
            entry("internet", "A", "q", "10.0.1.0/24"),
            entry("internet", "A", "p", "10.0.0.0/24"),
            entry("internet", "B", "p", "2001:db8::/32"),
        ])
        .unwrap()
    }

    #[test]
    fn a_table_is_sorted_and_refuses_overlaps() {
        let table = table();
        let of =
            |space, family| table.of(space, family).iter().map(|e| e.range.to_string()).collect::<Vec<_>>();
        assert_eq!(of("internet", Family::V4), ["10.0.0.0-10.0.0.255", "10.0.1.0-10.0.1.255"]);
        assert_eq!(of("internet", Family::V6).len(), 1);
        assert_eq!(of("iptv", Family::V4), ["10.0.0.0-10.0.0.255"]);
        assert!(of("iptv", Family::V6).is_empty() && of("other", Family::V4).is_empty());
        let overlap = vec![entry("s", "A", "p", "10.0.0.0/24"), entry("s", "B", "p", "10.0.0.255")];
        assert!(Table::new(overlap).is_err());
    }

    #[test]
    fn what_an_owner_has_is_told_by_space() {
        let owned = table().by_owner();
        let ranges = |owner: &str, space: &str| {
            owned[owner].get(space).map(|set| set.iter().map(|r| r.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(ranges("A", "internet").unwrap(), ["10.0.0.0-10.0.1.255"]);
        assert_eq!(ranges("A", "iptv"), None);
        assert_eq!(ranges("B", "iptv").unwrap(), ["10.0.0.0-10.0.0.255"]);
    }
}
