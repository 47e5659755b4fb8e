//! What one poll needs to know.

use std::sync::Arc;

use jiff::Timestamp;

use super::Remembered;
use crate::mib::{Descriptor, Encoding, Glob, Library, Settings};
use crate::snmp::{Context, Target};
use crate::table::{Name, PoolName};

/// One poll of one BAS.
#[derive(Clone, Debug)]
pub struct Request {
    /// The BAS's name.
    pub name: Name,
    /// Where it is, how it is spoken to, how far the poll may go.
    pub target: Target,
    /// The context that stands for the default one; configured, else empty.
    pub context: Context,
    /// Whether SNMPv2c may ask in the contexts that the router lists, by the community
    /// `NAME@CONTEXT`. SNMPv3 always may.
    pub community_contexts: bool,
    /// By which descriptor it is read.
    pub choice: Choice,
    /// What is remembered of it.
    pub remembered: Remembered,
    /// The encoding of its texts, where the configuration gives one.
    pub encoding: Option<Encoding>,
    /// Whether its pool groups stand for VRFs, where the configuration says so or not.
    pub group_as_vrf: Option<bool>,
    /// What of it is wanted.
    pub filter: Filter,
    /// Which VRF belongs to which space.
    pub spaces: Arc<Spaces>,
    /// The time of the poll, for what is remembered by time.
    pub now: Timestamp,
}

impl Request {
    /// How the rows are understood.
    pub(super) fn settings(&self) -> Settings {
        Settings { encoding: self.encoding, group_as_vrf: self.group_as_vrf }
    }
}

/// By which descriptor a BAS is read.
#[derive(Clone, Debug)]
pub enum Choice {
    /// By this one.
    Named(Arc<Descriptor>),
    /// By the one of these that knows it; found once, and then remembered.
    Auto(Arc<Library>),
}

/// What of a BAS is wanted. Empty lists want everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only pools whose name fits one of these.
    pub include: Vec<Glob>,
    /// No pools whose name fits one of these.
    pub exclude: Vec<Glob>,
    /// Only these VRFs.
    pub vrfs: Vec<Name>,
}

impl Filter {
    /// Why a range is not wanted; none where it is.
    pub fn refuses(&self, pool: &PoolName, vrf: &Name) -> Option<&'static str> {
        let fits = |patterns: &[Glob]| patterns.iter().any(|pattern| pattern.matches(pool.text()));
        if !self.vrfs.is_empty() && !self.vrfs.contains(vrf) {
            Some("the configuration leaves this VRF out")
        } else if fits(&self.exclude) {
            Some("the configuration excludes this pool")
        } else if !self.include.is_empty() && !fits(&self.include) {
            Some("the configuration does not include this pool")
        } else {
            None
        }
    }
}

/// Which VRF belongs to which address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spaces {
    spaces: Vec<(Name, Vec<Name>)>,
}

impl Spaces {
    /// Spaces with the VRFs of each. Where two list a VRF, the first has it.
    pub fn new(spaces: Vec<(Name, Vec<Name>)>) -> Self {
        Self { spaces }
    }

    /// The space of a VRF; none where no space lists it.
    pub fn of(&self, vrf: &Name) -> Option<&Name> {
        self.spaces.iter().find(|(_, vrfs)| vrfs.contains(vrf)).map(|(space, _)| space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str], vrfs: &[&str]) -> Filter {
        let globs = |patterns: &[&str]| patterns.iter().map(|pattern| Glob::new(*pattern)).collect();
        Filter {
            include: globs(include),
            exclude: globs(exclude),
            vrfs: vrfs.iter().map(|vrf| Name::from(*vrf)).collect(),
        }
    }

    #[test]
    fn a_filter_wants_everything_unless_it_says_otherwise() {
        let wants = |filter: &Filter, pool: &str, vrf: &str| {
            filter.refuses(&PoolName::new(pool.as_bytes()), &vrf.into()).is_none()
        };
        assert!(wants(&filter(&[], &[], &[]), "a", "x"));
        let filter = filter(&["res-*"], &["*-test"], &["", "iptv"]);
        assert!(wants(&filter, "res-1", "") && wants(&filter, "res-1", "iptv"));
        assert!(
            !wants(&filter, "biz-1", "")
                && !wants(&filter, "res-test", "")
                && !wants(&filter, "res-1", "corp")
        );
    }

    #[test]
    fn a_vrf_in_no_space_has_none() {
        let spaces = Spaces::new(vec![
            ("internet".into(), vec!["".into(), "default".into()]),
            ("iptv".into(), vec!["iptv".into()]),
        ]);
        assert_eq!(spaces.of(&"".into()), Some(&"internet".into()));
        assert_eq!(spaces.of(&"iptv".into()), Some(&"iptv".into()));
        assert_eq!(spaces.of(&"corp".into()), None);
    }
}
