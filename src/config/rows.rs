//! CSV files (RFC 4180) whose cells know their place. Lines that begin with `#` are
//! comments, blanks around a cell do not count, the first line names the columns.
//!
//! The `csv` crate tells where a record begins, not where a cell does, and a message is to
//! point at the cell.

use std::path::Path;

use super::error::Problem;
use super::node::{Entry, Node, Value, open};
use super::source::{Place, Sources};

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its text, quotes taken off.
    pub(super) text: String,
    /// Where the text stands, without quotes.
    pub(super) place: Place,
}

/// Reads a file: the columns' names and each row as a table of cells. Empty cells are left
/// out.
///
/// # Errors
/// Where it cannot be read; and each line with a faulty quote or another number of cells
/// than the first.
pub(super) fn rows(sources: &mut Sources, path: &Path) -> Result<(Vec<Cell>, Vec<Node>), Vec<Problem>> {
    let (number, text) = open(sources, path).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let mut lines = Vec::new();
    let mut reader =
        Reader { source: number, text: &text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    while let Some(line) = reader.line() {
        line.map_or_else(|problem| problems.push(problem), |cells| lines.push(cells));
    }
    let mut lines = lines.into_iter();
    let Some(header) = lines.next() else {
        problems.push(
            Problem::file(path, "this file is empty").help("expected a first line that names the columns"),
        );
        return Err(problems);
    };
    let mut rows = Vec::new();
    for cells in lines {
        row(&header, cells).map_or_else(|problem| problems.push(problem), |row| rows.push(row));
    }
    if problems.is_empty() { Ok((header, rows)) } else { Err(problems) }
}

/// A row as a table, keyed by the columns' names.
fn row(header: &[Cell], cells: Vec<Cell>) -> Result<Node, Problem> {
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return Ok(Node { place: Place::new(0, 0..0), value: Value::Table(Vec::new()) });
    };
    let place = Place { end: last.place.end, ..first.place };
    if cells.len() != header.len() {
        let message = format!("this line has {} cells, the first line names {}", cells.len(), header.len());
        return Err(Problem::new(place, message)
            .help("expected one cell for each column, empty where there is nothing to say"));
    }
    let entries = header
        .iter()
        .zip(cells)
        .filter(|(_, cell)| !cell.text.is_empty())
        .map(|(column, cell)| Entry {
            key: column.text.clone(),
            place: cell.place,
            node: Node { place: cell.place, value: Value::Cell(cell.text) },
        })
        .collect();
    Ok(Node { place, value: Value::Table(entries) })
}

struct Reader<'t> {
    source: usize,
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next line that says something. A faulty one is passed over as a whole.
    fn line(&mut self) -> Option<Result<Vec<Cell>, Problem>> {
        loop {
            let rest = self.rest();
            let line = rest.split('\n').next().unwrap_or_default();
            if rest.is_empty() {
                return None;
            }
            if !line.trim().is_empty() && !line.starts_with('#') {
                break;
            }
            self.at += line.len() + 1;
        }
        let cells = self.cells();
        if cells.is_err() {
            self.at += self.rest().find('\n').map_or(self.rest().len(), |i| i + 1);
        }
        Some(cells)
    }

    fn cells(&mut self) -> Result<Vec<Cell>, Problem> {
        let mut cells = Vec::new();
        loop {
            self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
            cells.push(if self.rest().starts_with('"') { self.quoted()? } else { self.plain() });
            match self.rest().chars().next() {
                Some(',') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    return Ok(cells);
                }
                None => return Ok(cells),
            }
        }
    }

    /// A cell without quotes, up to the next comma or the line's end.
    fn plain(&mut self) -> Cell {
        let rest = self.rest();
        let whole = rest.split([',', '\n']).next().unwrap_or_default();
        let text = whole.trim_end().to_owned();
        let place = Place::new(self.source, self.at..self.at + text.len());
        self.at += whole.len();
        Cell { text, place }
    }

    /// A cell in quotes; two quotes within it stand for one.
    fn quoted(&mut self) -> Result<Cell, Problem> {
        let open = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            let Some(end) = self.rest().find('"') else {
                let place = Place::new(self.source, open..open + 1);
                return Err(Problem::syntax(place, "this quote is never closed")
                    .help("expected `\"` at the cell's end"));
            };
            text.push_str(self.rest().get(..end).unwrap_or_default());
            self.at += end + 1;
            if !self.rest().starts_with('"') {
                break;
            }
            text.push('"');
            self.at += 1;
        }
        let place = Place::new(self.source, open + 1..self.at - 1);
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
        match self.rest().chars().next() {
            None | Some(',' | '\n') => Ok(Cell { text: text.trim().to_owned(), place }),
            Some(_) => {
                let place = Place::new(self.source, self.at..self.at + 1);
                Err(Problem::syntax(place, "there is text behind the closing quote")
                    .help("expected `,` or the line's end"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (String, usize, usize);

    fn read(text: &str) -> Vec<Result<Vec<Told>, ()>> {
        let mut reader = Reader { source: 0, text, at: 0 };
        let mut all = Vec::new();
        while let Some(line) = reader.line() {
            let cells =
                |cells: Vec<Cell>| cells.into_iter().map(|c| (c.text, c.place.start, c.place.end)).collect();
            all.push(line.map(cells).map_err(|_| ()));
        }
        all
    }

    #[test]
    fn cells_know_their_place() {
        assert_eq!(
            read("# x\r\n\r\na, b ,c\r\n1,\"2,\"\"3\"\"\" ,\n"),
            [
                Ok(vec![("a".into(), 7, 8), ("b".into(), 10, 11), ("c".into(), 13, 14)]),
                Ok(vec![("1".into(), 16, 17), ("2,\"3\"".into(), 19, 26), (String::new(), 29, 29)]),
            ]
        );
    }

    #[test]
    fn a_faulty_quote_costs_its_line_alone() {
        assert_eq!(read("\"a\"b,c\nd\n"), [Err(()), Ok(vec![("d".into(), 7, 8)])]);
        assert_eq!(read("a,\"b"), [Err(())]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[a\", \n#é]{0,40}") {
            for cells in read(&text).into_iter().flatten() {
                for (_, start, end) in cells {
                    proptest::prop_assert!(text.get(start..end).is_some());
                }
            }
        }
    }
}
