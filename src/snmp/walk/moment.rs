//! Cells of one moment: the start and the end of a range must not be read before and after a
//! change. What did not come in one answer is read again, and compared.

use super::cursor::Cursor;
use super::rows::{self, Rows};
use super::{Columns, Learnt, Outcome, Session, TableRead};
use crate::snmp::Context;

/// Columns whose cells make one thing, and the rows whose cells of them may have come in
/// different answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Together {
    /// Their places.
    columns: Vec<usize>,
    /// From behind the first index to the second, ascending.
    apart: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Together {
    /// Those of the columns that are among `numbers`.
    pub(super) fn of(columns: &Columns, numbers: &[u32]) -> Self {
        let place = |number: &u32| columns.columns.iter().position(|column| column == number);
        Self { columns: numbers.iter().filter_map(place).collect(), apart: Vec::new() }
    }

    /// Those of each list of numbers.
    pub(super) fn all(columns: &Columns, together: &[Vec<u32>]) -> Vec<Self> {
        together.iter().map(|numbers| Self::of(columns, numbers)).collect()
    }

    /// After an answer: a row that one of the columns has passed, and another has still before
    /// it, comes in several. What an ended column has no cell of is no whole row anyway.
    pub(super) fn note(&mut self, cursors: &[Cursor], rows: &Rows) {
        let ours = || self.columns.iter().filter_map(|column| cursors.get(*column));
        let Some(least) = ours().filter(|cursor| !cursor.ended).map(|cursor| cursor.position(rows)).min()
        else {
            return;
        };
        let most = ours().map(|cursor| cursor.position(rows)).max();
        let end = ours().filter(|cursor| cursor.ended).map(|cursor| cursor.position(rows)).min();
        let Some(most) = most.into_iter().chain(end).min().filter(|most| least < *most) else { return };
        match self.apart.last_mut() {
            Some((_, last)) if least <= last.as_slice() => {
                if most > last.as_slice() {
                    *last = most.to_vec();
                }
            }
            _ => self.apart.push((least.to_vec(), most.to_vec())),
        }
    }

    fn is_apart(&self, index: &[u32]) -> bool {
        let at = self.apart.partition_point(|(_, last)| last.as_slice() < index);
        self.apart.get(at).is_some_and(|(before, _)| before.as_slice() < index)
    }
}

impl Session {
    /// The same walk, where the cells of some columns must be of one moment: `together` has
    /// the numbers of such columns, one list for each thing that they make. Where the router
    /// did not give them in one answer, they are read a second time; a row that is another one
    /// by then has no cells in them, as if they could not be read.
    pub async fn table_of_one_moment(
        &mut self,
        context: &Context,
        columns: &Columns,
        learnt: Learnt,
        max_rows: Option<u32>,
        together: &[Vec<u32>],
    ) -> TableRead {
        let mut groups = Together::all(columns, together);
        let mut read = self.read(context, columns, learnt, max_rows, &mut groups).await;
        self.settle_all(context, columns, &groups, max_rows, &mut read).await;
        read
    }

    /// Reads again what came apart.
    pub(super) async fn settle_all(
        &mut self,
        context: &Context,
        columns: &Columns,
        groups: &[Together],
        max_rows: Option<u32>,
        read: &mut TableRead,
    ) {
        for group in groups.iter().filter(|group| !group.apart.is_empty()) {
            if read.outcome == Outcome::Complete {
                self.read_again(context, columns, group, max_rows, read).await;
            }
        }
    }

    async fn read_again(
        &mut self,
        context: &Context,
        columns: &Columns,
        group: &Together,
        max_rows: Option<u32>,
        read: &mut TableRead,
    ) {
        let numbers: Vec<u32> =
            group.columns.iter().filter_map(|column| columns.columns.get(*column).copied()).collect();
        let few = Columns { entry: columns.entry.clone(), columns: numbers.clone() };
        let mut again = [Together::of(&few, &numbers)];
        // They are the same rows: they count once.
        let rows = self.rows;
        self.rows = 0;
        let learnt = Learnt { repetitions: Some(read.repetitions), ..Learnt::default() };
        let second = self.read(context, &few, learnt, max_rows, &mut again).await;
        self.rows = rows;
        match second.outcome {
            Outcome::Failed(_) => {
                read.outcome = second.outcome;
                read.detail =
                    format!("read again, as start and end came in several answers: {}", second.detail);
            }
            Outcome::Complete | Outcome::Unsupported => {
                settle(&mut read.rows, group, &second.rows, &again[0])
            }
        }
    }
}

/// Gives the rows that came apart their cells of one moment, or none.
fn settle(table: &mut Rows, group: &Together, again: &Rows, then: &Together) {
    for row in table.numbers() {
        let index = table.index(row);
        if !group.is_apart(index) {
            continue;
        }
        let (twice, second) = (then.is_apart(index), again.find(index));
        for (place, column) in group.columns.iter().enumerate() {
            let new = second.and_then(|second| again.raw(second, place));
            let read = |(tag, octets)| rows::read(tag, octets);
            // What came apart a second time must at least be the same.
            match new {
                Some(_) if twice && table.raw(row, *column).map(read) == new.map(read) => {}
                Some((tag, octets)) if !twice && table.put(row, *column, tag, octets).is_ok() => {}
                _ => table.clear(row, *column),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::Value;
    use crate::snmp::walk::cursor::tests::{bind, take, walk_together};

    const NONE: [u32; 0] = [];

    /// The rows of which start (2) and end (3) came apart, after these answers.
    fn apart(answers: &[&[&str]]) -> Vec<u32> {
        let mut walk = walk_together(&[2, 3], &[2, 3]);
        for answer in answers {
            let varbinds = answer.iter().map(|rest| bind(&format!("1.9.1.{rest}"), 1));
            take(&mut walk, varbinds.collect()).unwrap();
        }
        (1..10).filter(|row| walk.together[0].is_apart(&[*row])).collect()
    }

    #[test]
    fn rows_that_come_whole_are_of_one_moment() {
        assert_eq!(apart(&[&["2.1", "3.1", "2.2", "3.2"], &["2.3", "3.3"]]), NONE);
        assert_eq!(apart(&[&["2.1", "3.1"], &["3.1", "4.1"]]), NONE, "both have ended");
    }

    #[test]
    fn a_hole_puts_the_rows_behind_it_apart() {
        // Row 2 has no end: the end of row 3 comes with the start of row 2.
        assert_eq!(apart(&[&["2.1", "3.1", "2.2", "3.3"]]), [3]);
        // The start catches up with the end, and with it the rows are whole again.
        assert_eq!(apart(&[&["2.1", "3.1", "2.2", "3.3"], &["2.3", "3.4"]]), [3, 4]);
        // The starts have ended with row 2: what has no start is no row.
        assert_eq!(apart(&[&["2.2", "3.1", "3.1", "3.4"]]), NONE);
        // They have ended, and an end of one of their rows is still to come.
        assert_eq!(apart(&[&["2.5", "3.1", "3.1", "3.2"]]), [3, 4, 5]);
    }

    #[test]
    fn half_a_row_is_apart() {
        assert_eq!(apart(&[&["2.1"]]), [1]);
        assert_eq!(apart(&[&["2.1", "3.1"], &["2.2"]]), [2]);
    }

    #[test]
    fn a_row_is_settled_by_what_came_whole_or_came_twice() {
        let cells = |start: i64, end: i64| vec![Some(Value::Integer(start)), Some(Value::Integer(end))];
        let group = |apart: &[(u32, u32)]| Together {
            columns: vec![0, 1],
            apart: apart.iter().map(|(before, last)| (vec![*before], vec![*last])).collect(),
        };
        let rows = |rows: &[(u32, i64, i64)]| {
            let mut read = Rows::new(2);
            for (row, start, end) in rows {
                for (column, cell) in cells(*start, *end).iter().enumerate() {
                    read.set(&[*row], column, cell.as_ref());
                }
            }
            read
        };
        let first = [(1, 10, 19), (2, 20, 99), (3, 30, 39), (4, 40, 49), (5, 50, 59)];
        let mut read = rows(&first);
        // Row 1 was whole; 2 is whole by now; 3 came apart twice, and is another; 4 came apart
        // twice, and is the same; 5 is gone.
        let again = rows(&[(1, 77, 77), (2, 20, 29), (3, 30, 38), (4, 40, 49)]);
        settle(&mut read, &group(&[(1, 5)]), &again, &group(&[(2, 4)]));
        let none = |start: Option<i64>| vec![start.map(Value::Integer), None];
        let expected = [cells(10, 19), cells(20, 29), none(Some(30)), cells(40, 49), none(None)];
        assert_eq!(read.to_map().into_values().collect::<Vec<_>>(), expected);
    }
}
