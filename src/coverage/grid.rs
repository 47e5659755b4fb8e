//! Tables for people: a header, columns that align, no frame.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table in the making.
pub(super) struct Grid {
    table: Table,
    rows: usize,
}

impl Grid {
    /// A grid with these headings; those that begin with `>` are aligned to the right.
    pub(super) fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.iter().map(|heading| heading.trim_start_matches('>')));
        for (at, heading) in headings.iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                column.set_padding((0, 2));
                if heading.starts_with('>') {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        Self { table, rows: 0 }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl ToString>) {
        self.table.add_row(cells.into_iter().map(|cell| cell.to_string()));
        self.rows += 1;
    }

    /// The grid, its lines without blanks at their ends; nothing where no row was added.
    pub(super) fn finish(self) -> String {
        if self.rows == 0 {
            return String::new();
        }
        let table = self.table.to_string();
        table.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
    }
}
