//! A descriptor as it stands in its TOML file. What may stand where is said here; what the
//! names in it mean together is checked by `compile`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::snmp::Oid;

/// A name in the file, with its place.
pub(super) type Word = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) name: Word,
    pub(super) vendor: String,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) encoding: Option<Word>,
    pub(super) detect: Option<DetectSection>,
    pub(super) contexts: Option<Spanned<ContextsSection>>,
    pub(super) table: Spanned<Vec<TableSection>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DetectSection {
    pub(super) sys_object_id: Spanned<Vec<Spanned<Oid>>>,
    pub(super) sys_descr: Option<SysDescrSection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SysDescrSection {
    #[serde(default)]
    pub(super) accept: Vec<String>,
    #[serde(default)]
    pub(super) refuse: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ContextsSection {
    pub(super) table: Word,
    pub(super) vrf: Word,
    pub(super) name: Word,
    pub(super) engine_id: Option<Word>,
    pub(super) default: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TableSection {
    pub(super) name: Word,
    pub(super) mib: Option<String>,
    pub(super) entry: Spanned<Oid>,
    pub(super) index: Spanned<Vec<Spanned<PartSection>>>,
    pub(super) columns: Spanned<BTreeMap<Word, Spanned<ColumnSection>>>,
    #[serde(default)]
    pub(super) joins: BTreeMap<Word, Spanned<JoinSection>>,
    pub(super) ranges: Option<Spanned<RangesSection>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PartSection {
    pub(super) name: Word,
    #[serde(rename = "type")]
    pub(super) form: PartType,
    pub(super) length: Option<Spanned<usize>>,
    pub(super) address_type: Option<Word>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PartType {
    Integer,
    IpAddress,
    Octets,
    OctetsFixed,
    OctetsImplied,
    InetAddressType,
    InetAddress,
    Oid,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ColumnSection {
    pub(super) number: Spanned<u32>,
    #[serde(rename = "type")]
    pub(super) form: ColumnType,
    pub(super) address_type: Option<Word>,
    pub(super) optional: Option<Spanned<bool>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ColumnType {
    Integer,
    Count,
    IpAddress,
    Octets4,
    Octets16,
    AddressInteger,
    AddressText,
    InetAddressType,
    InetAddress,
    Text,
    RowStatus,
    Bits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct JoinSection {
    pub(super) by: Option<Vec<Word>>,
    pub(super) to: Option<Word>,
    pub(super) whole_index: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RangesSection {
    pub(super) start: Option<Word>,
    pub(super) end: Option<Word>,
    pub(super) network: Option<Word>,
    pub(super) mask: Option<Word>,
    pub(super) prefix: Option<Word>,
    pub(super) length: Option<Word>,
    pub(super) pool: Word,
    pub(super) vrf: Option<Word>,
    pub(super) size: Option<Word>,
    pub(super) used: Option<Word>,
    #[serde(default)]
    pub(super) only: BTreeMap<Word, Vec<i64>>,
    #[serde(default)]
    pub(super) skip_pools: Vec<String>,
    pub(super) exclude: Option<ExcludeSection>,
    pub(super) fallback_for: Option<Word>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExcludeSection {
    pub(super) field: Word,
    pub(super) equals: i64,
    pub(super) within: Vec<Word>,
}
