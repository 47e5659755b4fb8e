//! How the shapes look to people: tables that align, times in the local zone, numbers with
//! thin groups, states in colour where a terminal shows it.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use jiff::{Timestamp, tz::TimeZone};

/// A table for people: a header, columns that align, no frame.
pub(crate) struct Grid {
    table: Table,
    rows: usize,
}

impl Grid {
    /// A grid with these headings; those that begin with `>` are aligned to the right.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.iter().map(|h| h.trim_start_matches('>')));
        for (i, heading) in headings.iter().enumerate() {
            if let Some(column) = table.column_mut(i) {
                column.set_padding((0, 2));
                if heading.starts_with('>') {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        Self { table, rows: 0 }
    }

    /// Adds a row.
    pub(crate) fn row<S: ToString>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.table.add_row(cells.into_iter().map(|c| c.to_string()));
        self.rows += 1;
    }

    /// The grid, lines ended and without blanks at their ends; nothing where no row was added.
    pub(crate) fn finish(self) -> String {
        if self.rows == 0 {
            return String::new();
        }
        let mut text = String::new();
        for line in self.table.to_string().lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A state's word, in its colour. Colour is taken away again where no terminal reads.
pub(crate) fn state(word: &str) -> String {
    let colour = match word {
        "complete" | "published" | "unchanged" | "up" => AnsiColor::Green,
        "failed" | "missing" => AnsiColor::Red,
        _ => AnsiColor::Yellow,
    };
    paint(word, Style::new().fg_color(Some(colour.into())))
}

/// A heading.
pub(crate) fn bold(text: &str) -> String {
    paint(text, Style::new().bold())
}

fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// A count with its digits in groups of three.
pub(crate) fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 range`, `2 ranges`.
pub(crate) fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", grouped(&count.to_string()), if count == 1 { one } else { more })
}

/// A time in the local zone, with its offset.
pub(crate) fn local(time: Timestamp) -> String {
    time.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// A time as people type it: RFC 3339, or as [`local`] prints it. Without an offset a time
/// may be two, so that it is none.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    let text = text.trim();
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let printed = ["%Y-%m-%d %H:%M:%S %:z", "%Y-%m-%d %H:%M %:z", "%Y-%m-%d %H:%M%:z"];
    let known = printed.iter().find_map(|format| Timestamp::strptime(format, text).ok());
    known.ok_or_else(|| {
        format!(
            "`{text}` is no time with an offset, as 2026-11-30T06:45:00Z or \"2026-11-30 14:45:00 +08:00\""
        )
    })
}

/// An age for people: `42 s`, `3 min`, `5 h`, `12 d`.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A text, or a dash where it is empty or missing.
pub(crate) fn dash(text: Option<&str>) -> &str {
    match text {
        Some(text) if !text.is_empty() => text,
        _ => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped("1"), "1");
        assert_eq!(grouped("1000"), "1,000");
        assert_eq!(grouped("123456"), "123,456");
        assert_eq!(
            grouped("340282366920938463463374607431768211456"),
            "340,282,366,920,938,463,463,374,607,431,768,211,456"
        );
    }

    #[test]
    fn times_are_read_as_they_are_printed_and_need_an_offset() {
        let moment: Timestamp = "2026-11-30T06:45:00Z".parse().unwrap();
        for text in [
            "2026-11-30T06:45:00Z",
            "2026-11-30T14:45:00+08:00",
            "2026-11-30 14:45:00 +08:00",
            " 2026-11-30 14:45 +08:00",
            "2026-11-30 03:45:00 -03:00",
            &local(moment),
        ] {
            assert_eq!(time(text), Ok(moment), "{text}");
        }
        for text in ["2026-11-30 06:45:00", "2026-11-30", "06:45Z", "yesterday", ""] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ages_change_their_unit() {
        assert_eq!(
            [age(0), age(119), age(120), age(7200), age(172_800)],
            ["0 s", "119 s", "2 min", "2 h", "2 d"]
        );
    }

    #[test]
    fn a_grid_aligns_and_leaves_no_blanks_behind() {
        let mut grid = Grid::new(&["NAME", ">COUNT"]);
        grid.row(["a", "1"]);
        grid.row(["long-name", "1000"]);
        assert_eq!(grid.finish(), "NAME       COUNT\na              1\nlong-name   1000\n");
    }

    #[test]
    fn an_empty_grid_shows_nothing() {
        assert_eq!(Grid::new(&["NAME"]).finish(), "");
    }
}
