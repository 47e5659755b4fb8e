//! Known resolvers: their requests stand for other people's, and are counted apart.

use std::io::Read;

use crate::address::Range;
use crate::coverage::legacy::{Legacy, LegacyError, ReadOptions, Remark};
use crate::coverage::{Rule, flat};
use crate::table::Name;

/// The addresses of known resolvers, by name where the list has names.
#[derive(Clone, Debug, Default)]
pub struct Resolvers {
    ranges: Vec<(Range, u32)>,
    names: Vec<Name>,
    /// What of the list could not be read.
    pub remarks: Vec<Remark>,
}

impl Resolvers {
    /// Reads a list: a prefix, an address or first-last a line, with a name behind it or not;
    /// or any table that [`Legacy`] reads.
    ///
    /// # Errors
    /// Where it is no such list.
    pub fn read<'r>(reader: impl Read + 'r) -> Result<Self, LegacyError> {
        let mut file = Vec::new();
        let mut input = crate::coverage::input::Input::open(reader)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = input.read(&mut buffer)?;
            file.extend_from_slice(buffer.get(..count).unwrap_or_default());
            if file.len() as u64 > Legacy::LIMIT_MIB << 20 {
                return Err(LegacyError::TooLarge(Legacy::LIMIT_MIB));
            }
            if count == 0 {
                break;
            }
        }
        let named = match bare(&file) {
            Some(list) => list,
            None => file,
        };
        let list = Legacy::read(named.as_slice(), &ReadOptions::default())?;
        Ok(Self::of(list))
    }

    /// Resolvers by name.
    pub fn new(list: impl IntoIterator<Item = (Range, Name)>) -> Self {
        let (ranges, names): (Vec<Range>, Vec<Name>) = list.into_iter().unzip();
        Self::numbered(&ranges, names)
    }

    /// The names; what is counted by resolver goes by their order.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The ranges in order, disjoint, with the number of their name.
    pub(super) fn ranges(&self) -> &[(Range, u32)] {
        &self.ranges
    }

    fn of(list: Legacy) -> Self {
        let (ranges, names): (Vec<Range>, Vec<Name>) =
            list.rows.iter().map(|row| (row.range, row.target.label())).unzip();
        Self { remarks: list.remarks, ..Self::numbered(&ranges, names) }
    }

    fn numbered(ranges: &[Range], all: Vec<Name>) -> Self {
        let mut names = all.clone();
        names.sort();
        names.dedup();
        let number =
            |row: usize| all.get(row).and_then(|name| names.binary_search(name).ok()).unwrap_or(0) as u32;
        let pieces = flat::flatten(ranges, Rule::Smallest);
        let ranges = pieces.into_iter().map(|piece| (piece.range, number(piece.row))).collect();
        Self { ranges, names, remarks: Vec::new() }
    }
}

/// A list of addresses alone, with a name put behind each.
fn bare(file: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(file).ok()?.trim_start_matches('\u{feff}');
    let said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let alone = |line: &str| line.split('#').next().unwrap_or_default().trim().parse::<Range>().is_ok();
    let mut lines = text.lines().filter(said).peekable();
    lines.peek()?;
    // One line with a name makes it a table.
    let named = |line: &str| line.split([',', ';', ' ', '\t']).filter(|cell| !cell.is_empty()).count() > 1;
    if lines.any(|line| named(line) && !alone(line)) {
        return None;
    }
    let rows = text.lines().map(|line| match said(&line) {
        true => format!("{},resolvers\n", line.split('#').next().unwrap_or_default().trim()),
        false => format!("{line}\n"),
    });
    Some(rows.collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let list = Resolvers::read(text.as_bytes()).unwrap();
        list.ranges().iter().map(|(r, n)| (r.to_string(), list.names()[*n as usize].to_string())).collect()
    }

    #[test]
    fn lists_with_names_and_without() {
        let pair = |range: &str, name: &str| (range.to_owned(), name.to_owned());
        let bare = "# public\n192.0.2.53\n198.51.100.0/24 # more\n192.0.2.60 - 192.0.2.61\n";
        assert_eq!(
            read(bare),
            [
                pair("192.0.2.53-192.0.2.53", "resolvers"),
                pair("192.0.2.60-192.0.2.61", "resolvers"),
                pair("198.51.100.0-198.51.100.255", "resolvers")
            ]
        );
        let named = "192.0.2.0/24,one\n192.0.2.128/25,two\n";
        assert_eq!(
            read(named),
            [pair("192.0.2.0-192.0.2.127", "one"), pair("192.0.2.128-192.0.2.255", "two")]
        );
        assert!(Resolvers::read(&b"nobody\n"[..]).is_err());
        let list = Resolvers::read(&b"192.0.2.0/24\n192.0.2.300\n"[..]).unwrap();
        assert_eq!((list.ranges().len(), list.remarks.len(), list.remarks[0].line), (1, 1, 2));
    }
}
