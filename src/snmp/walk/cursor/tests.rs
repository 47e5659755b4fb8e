use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;

use super::*;
use crate::snmp::Value;
use crate::snmp::binds::Binds;
use crate::snmp::message::Varbind;

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

fn walk(columns: &[u32]) -> Walk {
    Walk::table(&Columns { entry: oid("1.9.1"), columns: columns.to_vec() })
}

/// A walk in which the cells of some columns must be of one moment.
pub(in crate::snmp::walk) fn walk_together(columns: &[u32], together: &[u32]) -> Walk {
    let columns = Columns { entry: oid("1.9.1"), columns: columns.to_vec() };
    Walk { together: vec![Together::of(&columns, together)], ..Walk::table(&columns) }
}

pub(in crate::snmp::walk) fn bind(text: &str, value: i64) -> Varbind {
    Varbind { oid: oid(text), value: Value::Integer(value) }
}

/// Asks for everything and takes this answer to it.
pub(in crate::snmp::walk) fn take(walk: &mut Walk, varbinds: Vec<Varbind>) -> Result<(), Failure> {
    let asked = walk.next(10).unwrap();
    walk.take(&asked, Binds::of(&varbinds).iter(), true)
}

fn texts(oids: &[Oid]) -> Vec<String> {
    oids.iter().map(Oid::to_string).collect()
}

#[test]
fn a_column_starts_at_its_root_and_goes_on_from_its_last_row() {
    let mut walk = walk(&[2, 3]);
    assert_eq!(texts(&walk.next(10).unwrap().oids), ["1.9.1.2", "1.9.1.3"]);
    take(&mut walk, vec![bind("1.9.1.2.5", 1), bind("1.9.1.3.5", 2)]).unwrap();
    assert_eq!(texts(&walk.next(10).unwrap().oids), ["1.9.1.2.5", "1.9.1.3.5"]);
    take(&mut walk, vec![bind("1.9.1.3.5", 2), bind("1.9.2", 2)]).unwrap();
    assert_eq!(walk.next(10), None);
    let cells = vec![Some(Value::Integer(1)), Some(Value::Integer(2))];
    assert_eq!(walk.rows.to_map(), BTreeMap::from([(vec![5], cells)]));
    assert!(!walk.found_nothing());
}

#[test]
fn columns_of_different_lengths_are_joined_by_index() {
    let mut walk = walk(&[2, 3]);
    let answer = ["2.1", "3.1", "2.2", "3.3", "2.3", "4.1"].map(|rest| bind(&format!("1.9.1.{rest}"), 7));
    take(&mut walk, answer.to_vec()).unwrap();
    assert_eq!(texts(&walk.next(10).unwrap().oids), ["1.9.1.2.3"]);
    take(&mut walk, vec![bind("1.9.1.3.1", 7)]).unwrap();
    assert_eq!(walk.next(10), None);
    let filled: Vec<_> = walk
        .rows
        .to_map()
        .iter()
        .map(|(index, row)| (index[0], row[0].is_some(), row[1].is_some()))
        .collect();
    assert_eq!(filled, [(1, true, true), (2, true, false), (3, true, true)]);
}

#[test]
fn the_first_object_behind_the_table_is_kept() {
    let mut empty = walk(&[2, 3]);
    take(&mut empty, vec![bind("1.9.2.1", 1), bind("1.9.2.1", 1), bind("1.9.4", 1), bind("1.9.4", 1)])
        .unwrap();
    assert!(empty.found_nothing());
    assert_eq!(empty.behind, Some(oid("1.9.2.1")));
    // Another column of the table is not behind it.
    let mut full = walk(&[2]);
    take(&mut full, vec![bind("1.9.1.2.5", 1), bind("1.9.1.3.5", 1)]).unwrap();
    assert_eq!(full.behind, None);
    let mut last = walk(&[2]);
    take(&mut last, vec![Varbind { oid: oid("1.9.1.2"), value: Value::EndOfMibView }]).unwrap();
    assert_eq!((last.behind, last.rows.len()), (None, 0));
}

#[test]
fn an_oid_that_is_repeated_or_smaller_fails_with_both() {
    for (came, detail) in [
        ("1.9.1.2.10", "OIDs do not grow: after 1.9.1.2.10 came 1.9.1.2.10"),
        ("1.9.1.2.9", "OIDs do not grow: after 1.9.1.2.10 came 1.9.1.2.9"),
        ("1.9.1.2", "OIDs do not grow: after 1.9.1.2.10 came 1.9.1.2"),
        ("1.8", "OIDs do not grow: after 1.9.1.2.10 came 1.8"),
    ] {
        let failure = Failure::new(Reason::OidOrder, detail);
        // Within one answer, and from one answer to the next.
        let mut once = walk(&[2]);
        assert_eq!(take(&mut once, vec![bind("1.9.1.2.10", 1), bind(came, 1)]), Err(failure.clone()));
        let mut twice = walk(&[2]);
        take(&mut twice, vec![bind("1.9.1.2.10", 1)]).unwrap();
        assert_eq!(take(&mut twice, vec![bind(came, 1)]), Err(failure));
        assert_eq!(twice.rows.len(), 1, "what was read stays");
    }
}

#[test]
fn order_is_by_arc_not_by_text_or_octet() {
    let mut walk = walk(&[2]);
    let grows =
        ["1.9.1.2.9", "1.9.1.2.10", "1.9.1.2.127", "1.9.1.2.128", "1.9.1.2.128.0", "1.9.1.2.4294967295"];
    take(&mut walk, grows.iter().map(|text| bind(text, 0)).collect()).unwrap();
    assert_eq!(walk.rows.len(), 6);
}

#[test]
fn an_answer_sorted_by_column_is_not_taken_for_one_by_row() {
    let mut walk = walk(&[2, 3]);
    let answer = ["2.1", "2.2", "2.3", "3.1", "3.2", "3.3"].map(|rest| bind(&format!("1.9.1.{rest}"), 7));
    assert_eq!(take(&mut walk, answer.to_vec()).unwrap_err().reason, Reason::OidOrder);
}

#[test]
fn exceptions_other_than_the_end_are_malformed() {
    for value in [Value::NoSuchObject, Value::NoSuchInstance] {
        let mut walk = walk(&[2]);
        let came = Varbind { oid: oid("1.9.1.2"), value };
        assert_eq!(take(&mut walk, vec![came]).unwrap_err().reason, Reason::Malformed);
    }
}

#[test]
fn the_end_of_the_view_ends_a_column_under_whatever_name() {
    let mut walk = walk(&[2, 3]);
    let end = |text: &str| Varbind { oid: oid(text), value: Value::EndOfMibView };
    take(&mut walk, vec![end("1.9.1.2"), end("0.0")]).unwrap();
    assert_eq!(walk.next(10), None);
    assert!(walk.found_nothing());
}

#[test]
fn an_answer_without_varbinds_is_no_end() {
    let mut walk = walk(&[2, 3]);
    assert_eq!(take(&mut walk, vec![]).unwrap_err().reason, Reason::Malformed);
    let asked = walk.next(10).unwrap();
    let one = vec![bind("1.9.1.2.1", 1)];
    assert_eq!(walk.take(&asked, Binds::of(&one).iter(), false).unwrap_err().reason, Reason::Malformed);
    walk.take(&asked, Binds::of(&one).iter(), true).unwrap();
}

#[test]
fn rows_elsewhere_under_the_entry_are_not_nothing() {
    let mut other = walk(&[2]);
    take(&mut other, vec![bind("1.9.1.3.1", 1)]).unwrap();
    assert!(other.rows.is_empty() && !other.found_nothing());
    let mut none = walk(&[2]);
    take(&mut none, vec![bind("1.9.2", 1)]).unwrap();
    assert!(none.found_nothing());
}

#[test]
fn a_row_that_was_cut_is_asked_for_again() {
    let mut walk = walk(&[2, 3, 4]);
    let answer = ["2.1", "3.1", "4.1", "2.2", "3.2"].map(|rest| bind(&format!("1.9.1.{rest}"), 7));
    take(&mut walk, answer.to_vec()).unwrap();
    assert_eq!(texts(&walk.next(10).unwrap().oids), ["1.9.1.2.1", "1.9.1.3.1", "1.9.1.4.1"]);
    // Where not even one row fits, what fits is taken.
    take(&mut walk, vec![bind("1.9.1.2.2", 7)]).unwrap();
    assert_eq!(texts(&walk.next(10).unwrap().oids), ["1.9.1.2.2", "1.9.1.3.1", "1.9.1.4.1"]);
}

#[test]
fn many_columns_are_asked_for_in_even_groups_that_keep_step() {
    let mut walk = walk(&(1..=12).collect::<Vec<_>>());
    let first = walk.next(10).unwrap();
    assert_eq!(first.columns, [0, 1, 2, 3, 4, 5]);
    let row = |columns: std::ops::RangeInclusive<u32>, row: u32| {
        columns.map(|column| bind(&format!("1.9.1.{column}.{row}"), 0)).collect::<Vec<_>>()
    };
    walk.take(&first, Binds::of(&row(1..=6, 1)).iter(), true).unwrap();
    let second = walk.next(10).unwrap();
    assert_eq!(second.columns, [6, 7, 8, 9, 10, 11]);
    walk.take(&second, Binds::of(&row(7..=12, 1)).iter(), true).unwrap();
    assert_eq!(walk.next(10).unwrap().columns, [0, 1, 2, 3, 4, 5]);
    assert_eq!(walk.next(1).unwrap().columns, [0]);
}

/// What a proper agent answers, cut behind `room` varbinds.
fn agent(objects: &BTreeMap<Oid, Value>, asked: &[Oid], repetitions: usize, room: usize) -> Vec<Varbind> {
    let mut lasts = asked.to_vec();
    let mut out = Vec::new();
    for _ in 0..repetitions.max(1) {
        for last in &mut lasts {
            let found = objects.range((Bound::Excluded(last.clone()), Bound::Unbounded)).next();
            let (oid, value) =
                found.map_or((last.clone(), Value::EndOfMibView), |(o, v)| (o.clone(), v.clone()));
            *last = oid.clone();
            out.push(Varbind { oid, value });
        }
    }
    out.truncate(room.max(1));
    out
}

/// Names as a router may send them: under a few columns, behind them, anywhere.
fn any_name() -> impl Strategy<Value = Oid> {
    let index = proptest::collection::vec(prop_oneof![0..3_u32, Just(200)], 0..3);
    (1..5_u32, index).prop_map(|(column, index)| oid("1.9.1").child(&[column]).child(&index))
}

/// Rows of three columns that go on together, as most answers have them.
fn rows_in_step() -> impl Strategy<Value = Vec<Oid>> {
    proptest::collection::btree_set(0..300_u32, 0..6).prop_map(|rows| {
        rows.iter().flat_map(|row| (2..5).map(|column| oid("1.9.1").child(&[column, *row]))).collect()
    })
}

/// All that a walk knows.
fn known(walk: &Walk) -> impl PartialEq + std::fmt::Debug + use<> {
    let cursors: Vec<_> = walk.cursors.iter().map(|c| (c.last(&walk.rows), c.row, c.ended)).collect();
    (cursors, walk.rows.to_map(), walk.inside, walk.behind.clone())
}

proptest! {
    #[test]
    fn a_step_that_another_column_has_made_is_as_one_that_is_looked_at(
        mut names in rows_in_step(),
        others in proptest::collection::vec((any::<prop::sample::Index>(), any_name()), 0..5),
    ) {
        for (at, name) in others {
            names.insert(at.index(names.len() + 1), name);
        }
        let varbinds: Vec<Varbind> =
            names.into_iter().zip(0..).map(|(oid, n)| Varbind { oid, value: Value::Integer(n) }).collect();
        let binds = Binds::of(&varbinds);
        let (mut quick, mut slow) = (walk(&[2, 3, 4]), walk(&[2, 3, 4]));
        for (bind, column) in binds.iter().zip([0, 1, 2].into_iter().cycle()) {
            slow.step = None;
            let ended = quick.take_one(column, bind);
            prop_assert_eq!(&ended, &slow.take_one(column, bind));
            prop_assert_eq!(known(&quick), known(&slow));
            if ended.is_err() {
                break;
            }
        }
    }

    #[test]
    fn any_table_is_read_as_it_is(
        cells in proptest::collection::btree_map((1..6_u32, 1..30_u32, 0..3_u32), any::<i64>(), 0..80),
        behind in any::<bool>(),
        columns in proptest::collection::btree_set(1..6_u32, 1..5),
        sizes in proptest::collection::vec((0..6_usize, 1..30_usize, 1..4_usize), 1..8),
    ) {
        let entry = oid("1.9.1");
        let mut objects: BTreeMap<Oid, Value> =
            cells.iter().map(|((c, x, y), value)| (entry.child(&[*c, *x, *y]), Value::Integer(*value))).collect();
        if behind {
            objects.insert(oid("1.9.2.0"), Value::Null);
        }
        let columns: Vec<u32> = columns.into_iter().collect();
        let mut walk = walk(&columns);
        let mut steps = 0;
        for (repetitions, room, width) in sizes.into_iter().cycle() {
            let Some(asked) = walk.next(width) else { break };
            let bulk = repetitions > 0;
            let room = if bulk { room } else { usize::MAX };
            let answer = Binds::of(&agent(&objects, &asked.oids, repetitions, room));
            walk.take(&asked, answer.iter(), bulk).unwrap();
            steps += 1;
            prop_assert!(steps < 2000, "the walk does not end");
        }
        let mut expected: BTreeMap<Vec<u32>, Vec<Option<Value>>> = BTreeMap::new();
        for ((column, x, y), value) in &cells {
            if let Some(place) = columns.iter().position(|c| c == column) {
                expected.entry(vec![*x, *y]).or_insert_with(|| vec![None; columns.len()])[place] = Some(Value::Integer(*value));
            }
        }
        prop_assert_eq!(walk.rows.to_map(), expected);
    }
}
