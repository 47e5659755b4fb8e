//! Many rows in one statement, few values.

use super::rows::{self, Put};

/// A value of a row.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Value<'v> {
    Null,
    Number(i64),
    Address(u128),
    Octets(&'v [u8]),
    Text(&'v str),
}

impl Value<'_> {
    fn put(self, put: &mut Put) {
        match self {
            Self::Null => put.value(None::<i64>),
            Self::Number(number) => put.value(number),
            Self::Address(bits) => put.value(bits.to_be_bytes().to_vec()),
            Self::Octets(octets) => put.value(octets),
            Self::Text(text) => put.value(text),
        }
    }
}

/// Rows of one statement. To hand a value over takes as long as to write it: those that are the
/// same in all rows are handed over once.
pub(super) struct Block<'v, const N: usize> {
    rows: Vec<[Value<'v>; N]>,
    /// Which columns differ between rows.
    differ: [bool; N],
}

impl<'v, const N: usize> Block<'v, N> {
    /// Rows whose first column tells them apart.
    pub(super) fn new(rows: Vec<[Value<'v>; N]>) -> Self {
        let mut differ = [false; N];
        if let Some(first) = differ.first_mut() {
            *first = true;
        }
        for pair in rows.windows(2) {
            let [a, b] = pair else { continue };
            differ.iter_mut().zip(a.iter().zip(b)).for_each(|(differs, (a, b))| *differs |= a != b);
        }
        Self { rows, differ }
    }

    /// The same, as if all columns differed.
    pub(super) const fn row_by_row(rows: Vec<[Value<'v>; N]>) -> Self {
        Self { rows, differ: [true; N] }
    }

    /// `VALUES` of what differs, as `v`.
    pub(super) fn values(&self) -> String {
        let columns = self.differ.iter().filter(|differs| **differs).count();
        format!("(VALUES {}) AS v", rows::places(self.rows.len(), columns))
    }

    /// Each column: of `v`, or a value to be put. The sign says that no index can be made of `v`.
    pub(super) fn columns(&self) -> [String; N] {
        let mut of_v = 0;
        self.differ.map(|differs| match differs {
            true => {
                of_v += 1;
                format!("+v.column{of_v}")
            }
            false => "?".to_owned(),
        })
    }

    /// Puts what is in `values`.
    pub(super) fn put_values(&self, put: &mut Put) {
        for row in &self.rows {
            row.iter().zip(self.differ).filter(|(_, differs)| *differs).for_each(|(value, _)| value.put(put));
        }
    }

    /// Puts what is the same in all rows.
    pub(super) fn put_common(&self, put: &mut Put) {
        let first = self.rows.first().into_iter().flatten();
        first.zip(self.differ).filter(|(_, differs)| !*differs).for_each(|(value, _)| value.put(put));
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_in_all_rows_is_told_once() {
        let row = |first, class, text| [Value::Number(first), Value::Number(4), Value::Number(class), text];
        let block = Block::new(vec![row(1, 0, Value::Null), row(2, 1, Value::Null), row(3, 0, Value::Null)]);
        assert_eq!(block.values(), "(VALUES (?,?),(?,?),(?,?)) AS v");
        assert_eq!(block.columns(), ["+v.column1", "?", "+v.column2", "?"]);
        // Of one row the first column differs all the same.
        let block = Block::new(vec![row(1, 0, Value::Text("x"))]);
        assert_eq!(block.values(), "(VALUES (?)) AS v");
        assert_eq!(block.columns(), ["+v.column1", "?", "?", "?"]);
        // Nothing is not the same as something.
        let block = Block::new(vec![row(1, 0, Value::Text("x")), row(2, 0, Value::Null)]);
        assert_eq!(block.columns(), ["+v.column1", "?", "?", "+v.column2"]);
    }
}
