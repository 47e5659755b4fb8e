//! A descriptor as it stands in its TOML file. What may stand where is said here; what the
//! names in it mean together is checked by `compile`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
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
    pub(super) group_as_vrf: Option<bool>,
    pub(super) default_vrf: Option<String>,
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
    pub(super) max_rows: Option<Spanned<u32>>,
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
    Ipv6Address,
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
    pub(super) otherwise: Option<Spanned<OtherwiseValue>>,
}

/// What a missing cell stands for: a number, or the name of another field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OtherwiseValue {
    Number(i64),
    Field(String),
}

impl<'de> Deserialize<'de> for OtherwiseValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = OtherwiseValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or the name of a field")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(OtherwiseValue::Number(number))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(OtherwiseValue::Field(name.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
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
    Ipv6Prefix,
    InetAddressType,
    InetAddress,
    Network,
    NetworkText,
    NetworkOctets,
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
    pub(super) single: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RangesSection {
    pub(super) start: Option<Word>,
    pub(super) end: Option<Word>,
    pub(super) network: Option<Word>,
    pub(super) gateway: Option<Word>,
    pub(super) mask: Option<Word>,
    pub(super) prefix: Option<Word>,
    pub(super) first_prefix: Option<Word>,
    pub(super) last_prefix: Option<Word>,
    pub(super) length: Option<Word>,
    pub(super) kinds: Option<Vec<Spanned<KindSection>>>,
    pub(super) pool: Option<Word>,
    pub(super) pool_name: Option<Word>,
    pub(super) vrf: Option<Word>,
    pub(super) group: Option<Word>,
    pub(super) size: Option<Word>,
    pub(super) used: Option<Word>,
    pub(super) delegated_len: Option<Word>,
    #[serde(default)]
    pub(super) delegated_only: BTreeMap<Word, Vec<i64>>,
    #[serde(default)]
    pub(super) only: BTreeMap<Word, Vec<i64>>,
    pub(super) lengths: Option<Spanned<LengthsSection>>,
    #[serde(default)]
    pub(super) skip_pools: Vec<String>,
    pub(super) exclude: Option<ExcludeSection>,
    #[serde(default)]
    pub(super) fallback_for: BTreeMap<Word, Spanned<Vec<Word>>>,
}

/// One way of making a range, of several that a table's rows may need.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct KindSection {
    pub(super) start: Option<Word>,
    pub(super) end: Option<Word>,
    pub(super) network: Option<Word>,
    pub(super) gateway: Option<Word>,
    pub(super) mask: Option<Word>,
    pub(super) prefix: Option<Word>,
    pub(super) first_prefix: Option<Word>,
    pub(super) last_prefix: Option<Word>,
    pub(super) length: Option<Word>,
    #[serde(default)]
    pub(super) only: BTreeMap<Word, Vec<i64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LengthsSection {
    pub(super) v4: Option<Spanned<[u8; 2]>>,
    pub(super) v6: Option<Spanned<[u8; 2]>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExcludeSection {
    pub(super) field: Word,
    pub(super) equals: i64,
    pub(super) others: Option<Spanned<i64>>,
    pub(super) within: Vec<Word>,
}
