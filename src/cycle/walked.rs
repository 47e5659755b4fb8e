//! One poll, as `walk` and `poll` show it.

use std::time::Duration;

use super::shaped::word;
use super::shapes::{PolledShape, RangeShape, RejectedShape, TableShape, VrfShape, WalkShape};
use crate::address::prefixes;
use crate::poll::{Polled, SeenVrf, TableResult};
use crate::table::{Listed, TableOutcome};

/// A poll, as `walk` shows it: ranges in the router's order, nothing merged.
pub fn walk_shape(polled: &Polled) -> WalkShape {
    WalkShape {
        bas: polled.name.to_string(),
        address: polled.address.to_string(),
        descriptor: polled.descriptor.as_ref().map(ToString::to_string),
        state: word(&polled.state),
        reason: polled.reason.map(|r| r.to_string()),
        detail: some(&polled.detail),
        system: polled.sys_descr.clone(),
        notes: polled.notes.clone(),
        requests: polled.cost.requests,
        retries: polled.cost.retries,
        duration_ms: milliseconds(polled.duration),
        tables: polled.tables.iter().map(table_shape).collect(),
        ranges: polled.ranges().map(|listed| range_shape(listed, polled.delegated_len(listed))).collect(),
        vrfs: polled.vrfs().iter().map(vrf_shape).collect(),
        rejected: polled
            .rejected
            .iter()
            .map(|row| RejectedShape {
                table: row.table.to_string(),
                index: row.index.clone(),
                reason: word(&row.reason),
                detail: row.detail.clone(),
                sentence: row.sentence(),
            })
            .collect(),
    }
}

/// A poll, as `poll` shows it.
pub fn polled_shape(polled: &Polled) -> PolledShape {
    PolledShape {
        name: polled.name.to_string(),
        state: word(&polled.state),
        reason: polled.reason.map(|r| r.to_string()),
        detail: some(&polled.detail),
        duration_ms: milliseconds(polled.duration),
        requests: polled.cost.requests,
        tables: polled.tables.iter().map(table_shape).collect(),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn table_shape(result: &TableResult) -> TableShape {
    let (state, reason) = match &result.table.outcome {
        TableOutcome::Complete => ("complete", None),
        TableOutcome::Failed(reason) => ("failed", Some(reason.to_string())),
        TableOutcome::Unsupported => ("unsupported", None),
    };
    TableShape {
        name: result.table.name.to_string(),
        state: state.to_owned(),
        repetitions: result.repetitions,
        reason,
        detail: some(&result.detail),
        rows: result.rows,
        requests: result.repetitions.map(|_| result.spent.requests),
        duration_ms: result.repetitions.map(|_| milliseconds(result.spent.duration)),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

fn vrf_shape(seen: &SeenVrf) -> VrfShape {
    VrfShape {
        vrf: seen.vrf.to_string(),
        space: seen.space.as_ref().map(ToString::to_string),
        pools: seen.pools,
        ranges: seen.ranges,
        units: seen.units.to_string(),
    }
}

fn range_shape(listed: &Listed, delegated_len: Option<u8>) -> RangeShape {
    RangeShape {
        pool: listed.pool.text().to_owned(),
        pool_hex: listed.pool.hex(),
        vrf: listed.vrf.to_string(),
        space: listed.space.as_ref().map(ToString::to_string),
        family: listed.range.family().number(),
        first: listed.range.first().to_string(),
        last: listed.range.last().to_string(),
        addresses: listed.range.addresses(),
        size: listed.size,
        used: listed.used,
        prefixes: prefixes(listed.range).map(|p| p.to_string()).collect(),
        delegated_len,
    }
}
