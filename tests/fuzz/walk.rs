//! A walk against an agent that answers anything, for the fuzz targets.

use std::collections::BTreeMap;

use super::cursor::Walk;
use super::stride::{Good, Stride, Trouble};
use super::{Columns, Failure, Reason};
use crate::fuzz::Bytes;
use crate::snmp::binds::Binds;
use crate::snmp::message::Varbind;
use crate::snmp::{Oid, Value};

/// Answers that one walk gets at the most.
const MOST: usize = 400;

/// Walks a table of a few columns until it ends, fails, or the input has ended.
pub(in crate::snmp) fn drive(bytes: &mut Bytes<'_>) {
    let entry = Oid::new([1, 3, 6, 1]);
    let mut columns: Vec<u32> = (0..=bytes.octet() % 12).map(|_| u32::from(bytes.octet())).collect();
    columns.sort_unstable();
    columns.dedup();
    let columns = Columns { entry: entry.clone(), columns };
    let mut walk = Walk::table(&columns);
    let mut stride = Stride::new(columns.columns.len(), None, u32::from(bytes.octet() % 32)).at_once(50);
    let mut slow = Slow::new(&columns);
    let (mut came, mut answered) = (0, Vec::new());
    for _ in 0..MOST {
        let Some(asked) = walk.next(stride.width()) else { break };
        if bytes.is_empty() {
            break;
        }
        let trouble = match bytes.octet() {
            0xff => Some(Trouble::TooMuch),
            0xfe => Some(Trouble::Silence),
            0xfd => Some(Trouble::Other),
            _ => None,
        };
        if let Some(trouble) = trouble {
            if !stride.smaller(trouble) {
                break;
            }
            continue;
        }
        let bulk = stride.repetitions() > 0;
        let count = usize::from(bytes.octet() % 40);
        let varbinds: Vec<Varbind> = (0..count).map(|at| varbind(bytes, &asked.oids, at)).collect();
        let binds = Binds::of(&varbinds);
        let varbinds = binds.decoded();
        came += varbinds.len();
        assert!(asked.oids != answered, "what had a good answer is asked again");
        let taken = walk.take(&asked, binds.iter(), bulk);
        assert_eq!(taken, slow.take(&asked.oids, varbinds, bulk), "another walk says otherwise");
        assert_eq!(walk.rows.to_map(), slow.rows);
        match taken {
            Ok(()) => {
                stride.good(Good {
                    whole: count > 0,
                    octets: u64::try_from(count).unwrap_or(0) * 40,
                    quick: count % 2 == 0,
                });
                answered = asked.oids;
            }
            Err(failure) if failure.reason == Reason::Malformed && stride.smaller(Trouble::TooMuch) => {}
            Err(_) => break,
        }
    }
    assert_eq!(walk.behind, slow.behind);
    check(&walk, &columns, came);
}

/// The same walk with everything in memory of its own, which shows what is meant.
struct Slow {
    entry: Oid,
    /// Root, last name, whether it has ended.
    columns: Vec<(Oid, Oid, bool)>,
    rows: BTreeMap<Vec<u32>, Vec<Option<Value>>>,
    behind: Option<Oid>,
}

impl Slow {
    fn new(columns: &Columns) -> Self {
        let roots = columns.columns.iter().map(|arc| columns.entry.child(&[*arc]));
        let cursors = roots.map(|root| (root.clone(), root, false)).collect();
        Self { entry: columns.entry.clone(), columns: cursors, rows: BTreeMap::new(), behind: None }
    }

    /// Takes an answer to a question for what stands behind these names.
    fn take(&mut self, asked: &[Oid], varbinds: Vec<Varbind>, bulk: bool) -> Result<(), Failure> {
        let (count, width) = (varbinds.len(), asked.len());
        if count == 0 || (!bulk && count != width) {
            let detail = format!("{count} varbinds came for {width} asked, without an error");
            return Err(Failure::new(Reason::Malformed, detail));
        }
        let place = |name: &Oid| self.columns.iter().position(|(root, ..)| name.suffix(root).is_some());
        let places: Vec<usize> = asked.iter().filter_map(place).collect();
        let whole = if count < width { count } else { count - count % width };
        for (varbind, column) in varbinds.into_iter().take(whole).zip(places.iter().cycle()) {
            self.take_one(*column, varbind)?;
        }
        Ok(())
    }

    fn take_one(&mut self, column: usize, varbind: Varbind) -> Result<(), Failure> {
        let width = self.columns.len();
        let (root, last, ended) = &mut self.columns[column];
        match varbind.value {
            _ if *ended => return Ok(()),
            Value::EndOfMibView => {
                *ended = true;
                return Ok(());
            }
            Value::NoSuchObject | Value::NoSuchInstance => {
                let detail = format!("{} came with noSuchObject or noSuchInstance in a walk", varbind.oid);
                return Err(Failure::new(Reason::Malformed, detail));
            }
            _ => {}
        }
        if varbind.oid <= *last {
            let detail = format!("OIDs do not grow: after {last} came {}", varbind.oid);
            return Err(Failure::new(Reason::OidOrder, detail));
        }
        if varbind.oid.suffix(&self.entry).is_none() {
            self.behind.get_or_insert_with(|| varbind.oid.clone());
        }
        let Some(index) = varbind.oid.suffix(root) else {
            *ended = true;
            return Ok(());
        };
        let row = self.rows.entry(index.to_vec()).or_insert_with(|| vec![None; width]);
        row[column] = Some(varbind.value);
        *last = varbind.oid;
        Ok(())
    }
}

fn check(walk: &Walk, columns: &Columns, came: usize) {
    let rows = walk.rows.to_map();
    let cells: usize = rows.values().flatten().flatten().count();
    assert!(walk.rows.len() <= came && cells <= came, "more is kept than came");
    for cells in rows.values() {
        assert_eq!(cells.len(), columns.columns.len());
        assert!(cells.iter().any(Option::is_some), "a row without a cell");
    }
    if let Some(behind) = &walk.behind {
        assert!(behind.suffix(&columns.entry).is_none(), "what is behind the table lies in it");
    }
}

/// A varbind near what was asked for, or anywhere.
fn varbind(bytes: &mut Bytes<'_>, asked: &[Oid], at: usize) -> Varbind {
    let near = asked.get(at % asked.len().max(1)).cloned().unwrap_or_default();
    let mut arcs = near.arcs().to_vec();
    match bytes.octet() % 8 {
        0 => arcs = (0..bytes.octet() % 16).map(|_| bytes.word()).collect(),
        1 => arcs.truncate(usize::from(bytes.octet())),
        2 => {
            if let Some(arc) = arcs.get_mut(4) {
                *arc = u32::from(bytes.octet());
            }
        }
        3 => {
            if let Some(last) = arcs.last_mut() {
                *last = last.wrapping_add(u32::from(bytes.octet()));
            }
        }
        _ => arcs.push(u32::from(bytes.octet())),
    }
    arcs.truncate(crate::snmp::MAX_ARCS);
    let value = match bytes.octet() {
        0xff => Value::EndOfMibView,
        0xfe => Value::NoSuchInstance,
        0xfd => Value::NoSuchObject,
        0xfc => Value::Undecodable { tag: 0x47, octets: vec![1] },
        octet => Value::Octets(vec![octet]),
    };
    Varbind { oid: Oid::new(arcs), value }
}
