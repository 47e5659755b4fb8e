//! Coverage zone files of Apache Traffic Control's Traffic Router, plain and deep. A zone is
//! a cache group, or a location with the host names of its caches.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::collect::Collector;
use super::remark::RemarkKind;
use super::{LegacyError, LegacyRow};
use crate::address::Range;
use crate::coverage::{Known, Target};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    coverage_zones: Option<Zones>,
    deep_coverage_zones: Option<Zones>,
}

#[derive(Default, Deserialize)]
struct Zone {
    #[serde(default)]
    network: Vec<serde_json::Value>,
    #[serde(default)]
    network6: Vec<serde_json::Value>,
    #[serde(default)]
    caches: Vec<String>,
}

/// In the order of the file: of the same prefix twice Traffic Router keeps the first.
struct Zones(Vec<(String, Option<Zone>)>);

impl<'de> Deserialize<'de> for Zones {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Zones;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of zones")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Zones, A::Error> {
                let mut zones = Vec::new();
                while let Some((name, zone)) = map.next_entry::<String, OneZone>()? {
                    zones.push((name, zone.into()));
                }
                Ok(Zones(zones))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// A zone, or whatever else stands there.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneZone {
    Zone(Zone),
    Other(IgnoredAny),
}

impl From<OneZone> for Option<Zone> {
    fn from(zone: OneZone) -> Self {
        match zone {
            OneZone::Zone(zone) => Some(zone),
            OneZone::Other(_) => None,
        }
    }
}

pub(super) fn read(text: &str, known: &Known, out: &mut Collector) -> Result<(), LegacyError> {
    let document: Document = serde_json::from_str(text).map_err(|e| super::json::broken(&e))?;
    let zones = match (document.coverage_zones, document.deep_coverage_zones) {
        (None, None) => {
            let problem = "it has neither `coverageZones` nor `deepCoverageZones`".to_owned();
            return Err(LegacyError::Broken { place: "the document".to_owned(), problem });
        }
        (plain, deep) => plain.into_iter().chain(deep).flat_map(|zones| zones.0),
    };
    for (name, zone) in zones {
        let Some(zone) = zone else {
            out.remark(0, RemarkKind::Syntax, "this zone is no object with lists of networks", &name);
            continue;
        };
        let target = target(&name, &zone.caches, known, out);
        for network in zone.network.iter().chain(&zone.network6) {
            let text = network.as_str().map_or_else(|| network.to_string(), str::to_owned);
            match text.parse::<Range>() {
                Ok(range) => out.take(LegacyRow { range, space: None, target: target.clone(), line: 0 }),
                Err(e) => out.remark(0, RemarkKind::NotARange, &format!("zone {name}: {e}"), ""),
            }
        }
    }
    Ok(())
}

/// A zone's name; its caches where these are edges and the name is none.
fn target(name: &str, caches: &[String], known: &Known, out: &mut Collector) -> Target {
    let zone = out.named(name);
    let edges = Target::Edges(caches.iter().map(|cache| out.name(cache)).collect());
    let by_caches = !caches.is_empty() && known.resolve(&zone).is_none() && known.resolve(&edges).is_some();
    if by_caches { edges } else { zone }
}
