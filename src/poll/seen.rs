//! What a person wants to know of a walk at a glance.

use serde::Serialize;

use super::{Polled, TableResult};
use crate::address::RangeSet;
use crate::table::{Listed, Name};

/// A VRF that a poll saw pools in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenVrf {
    /// The VRF as the router names it; empty for the default one.
    pub vrf: Name,
    /// The space that it belongs to; none: its pools enter no table.
    pub space: Option<Name>,
    /// How many pools it has, by name.
    pub pools: usize,
    /// How many ranges.
    pub ranges: usize,
    /// How many addresses: IPv4 addresses, and /64s of IPv6. What several ranges hold counts
    /// once.
    pub units: u64,
}

impl Polled {
    /// The VRFs that pools were seen in, by name, and the space of each. Ranges of tables
    /// that failed are among them, as they are among [`Polled::ranges`].
    pub fn vrfs(&self) -> Vec<SeenVrf> {
        let mut names: Vec<&Name> = self.ranges().map(|listed| &listed.vrf).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|vrf| self.seen(vrf)).collect()
    }

    fn seen(&self, vrf: &Name) -> SeenVrf {
        let listed: Vec<&Listed> = self.ranges().filter(|listed| listed.vrf == *vrf).collect();
        let mut pools: Vec<&[u8]> = listed.iter().map(|listed| listed.pool.raw()).collect();
        pools.sort_unstable();
        pools.dedup();
        let mut addresses = RangeSet::new();
        listed.iter().for_each(|listed| addresses.insert(listed.range));
        SeenVrf {
            vrf: vrf.clone(),
            space: listed.first().and_then(|listed| listed.space.clone()),
            pools: pools.len(),
            ranges: listed.len(),
            units: addresses.units(),
        }
    }

    /// How long the prefixes are that are delegated out of an IPv6 range.
    pub fn delegated_len(&self, listed: &Listed) -> Option<u8> {
        let table = self.tables.iter().find(|result| result.table.name == listed.table)?;
        table.delegated_len(listed)
    }
}

impl TableResult {
    /// How long the prefixes are that are delegated out of an IPv6 range.
    pub fn delegated_len(&self, listed: &Listed) -> Option<u8> {
        self.delegated.get(&listed.row).copied()
    }
}
