//! What the columns of a table of cells hold.

use std::borrow::Cow;
use std::str::FromStr;

use super::LegacyError;
use super::cells::{Record, range};
use crate::coverage::{Known, Target};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// A prefix, an address, or first-last.
    Range,
    /// The first address.
    First,
    /// The last address.
    Last,
    /// The mask of the network whose first address stands in [`Column::First`].
    Mask,
    /// The prefix length of that network.
    Length,
    /// A BAS.
    Bas,
    /// Edges.
    Edges,
    /// A BAS or an edge.
    Name,
    /// The address space.
    Space,
    /// Nothing of interest.
    Other,
}

impl FromStr for Column {
    type Err = String;

    /// The column by one of the words that headers use; `-` for one of no interest.
    fn from_str(word: &str) -> Result<Self, String> {
        if matches!(word, "-" | "") {
            return Ok(Self::Other);
        }
        by_word(word).ok_or_else(|| {
            format!(
                "`{}` is no column: range, first, last, mask, length, bas, edges, name, space, -",
                word.escape_debug()
            )
        })
    }
}

const WORDS: [(Column, &[&str]); 9] = [
    (
        Column::Range,
        &[
            "range",
            "prefix",
            "network",
            "net",
            "subnet",
            "cidr",
            "ip",
            "address",
            "addresses",
            "pool",
            "iprange",
            "ipprefix",
            "ipsubnet",
            "ipaddress",
            "block",
            "segment",
            "地址段",
            "网段",
            "地址",
        ],
    ),
    (
        Column::First,
        &[
            "first",
            "start",
            "from",
            "begin",
            "low",
            "lower",
            "firstip",
            "startip",
            "ipstart",
            "起始地址",
            "起始",
        ],
    ),
    (
        Column::Last,
        &["last", "end", "to", "stop", "high", "upper", "lastip", "endip", "ipend", "终止地址", "结束地址"],
    ),
    (Column::Mask, &["mask", "netmask", "subnetmask", "掩码", "子网掩码"]),
    (Column::Length, &["length", "prefixlen", "prefixlength", "masklen", "bits"]),
    (Column::Bas, &["bas", "bras", "bng", "nas", "router", "device", "sr", "basname", "设备"]),
    (Column::Edges, &["edge", "edges", "pop", "cache", "datacenter", "dc", "节点"]),
    (Column::Name, &["name", "group", "target", "owner", "node", "location", "answer", "value"]),
    (Column::Space, &["space"]),
];

fn by_word(word: &str) -> Option<Column> {
    let plain: String =
        word.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.')).flat_map(char::to_lowercase).collect();
    WORDS.iter().find(|(_, words)| words.contains(&plain.as_str())).map(|(column, _)| *column)
}

/// Where the addresses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In one cell.
    One(usize),
    /// First and last.
    Ends(usize, usize),
    /// Network and mask.
    Mask(usize, usize),
    /// Network and length.
    Length(usize, usize),
}

/// Which cell says what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Where the addresses are.
    pub(super) place: Place,
    /// Where it stands whose they are: the first cell that is not empty counts.
    pub(super) targets: Vec<(usize, Column)>,
    /// Where the space is.
    pub(super) space: Option<usize>,
}

impl Layout {
    /// The layout by what the columns are said to hold.
    pub(super) fn of_columns(columns: &[Column], line: u64) -> Result<Self, LegacyError> {
        let wrong = |detail: &str| LegacyError::Columns { line, detail: detail.to_owned() };
        let place = place_by(columns).ok_or_else(|| wrong("no column holds the addresses"))?;
        let targets = targets_by(columns);
        if targets.is_empty() {
            return Err(wrong("no column holds a BAS or edges"));
        }
        Ok(Self { place, targets, space: find(columns, Column::Space) })
    }

    /// The layout by a header, as far as its words are known, and by the first lines.
    pub(super) fn found(
        header: Option<&Record<'_>>,
        sample: &[Record<'_>],
        known: &Known,
    ) -> Result<Self, LegacyError> {
        let cells = header.map_or(&[][..], |header| &header.cells);
        let columns: Vec<Option<Column>> = cells.iter().map(|cell| by_word(cell)).collect();
        let said: Vec<Column> = columns.iter().map(|column| column.unwrap_or(Column::Other)).collect();
        let line = header.or(sample.first()).map_or(1, |record| record.line);
        let wrong = |detail: String| LegacyError::Columns { line, detail };
        let place = match (place_by(&said), sample.first()) {
            (Some(place), _) => place,
            (None, Some(record)) => guess(&record.cells).map_err(wrong)?,
            (None, None) => return Err(wrong("there is no line with addresses".to_owned())),
        };
        let mut targets = targets_by(&said);
        if targets.is_empty() {
            let free =
                |at: &usize| !place.holds(*at) && columns.get(*at).copied().flatten() != Some(Column::Space);
            targets = guess_targets(free, sample, known).map_err(wrong)?;
        }
        Ok(Self { place, targets, space: find(&said, Column::Space) })
    }
}

/// How many words of a header are known.
pub(super) fn known_words(record: &Record<'_>) -> usize {
    record.cells.iter().filter(|cell| by_word(cell).is_some()).count()
}

fn find(columns: &[Column], wanted: Column) -> Option<usize> {
    columns.iter().position(|column| *column == wanted)
}

fn place_by(columns: &[Column]) -> Option<Place> {
    let first = find(columns, Column::First);
    let range = find(columns, Column::Range);
    match (
        first.or(range),
        find(columns, Column::Last),
        find(columns, Column::Mask),
        find(columns, Column::Length),
    ) {
        (Some(first), Some(last), ..) => Some(Place::Ends(first, last)),
        (Some(first), None, Some(mask), _) => Some(Place::Mask(first, mask)),
        (Some(first), None, None, Some(length)) => Some(Place::Length(first, length)),
        _ => range.map(Place::One),
    }
}

fn targets_by(columns: &[Column]) -> Vec<(usize, Column)> {
    let of = |wanted| columns.iter().enumerate().filter(move |(_, c)| **c == wanted).map(|(at, c)| (at, *c));
    [Column::Bas, Column::Edges, Column::Name].into_iter().flat_map(of).collect()
}

impl Place {
    fn holds(self, at: usize) -> bool {
        match self {
            Self::One(one) => at == one,
            Self::Ends(a, b) | Self::Mask(a, b) | Self::Length(a, b) => at == a || at == b,
        }
    }
}

/// Where the addresses of a line are, by its cells.
fn guess(cells: &[Cow<'_, str>]) -> Result<Place, String> {
    let is_address = |cell: &str| cell.parse::<std::net::IpAddr>().is_ok();
    let Some((at, cell)) = cells.iter().enumerate().find(|(_, cell)| range(cell).is_some()) else {
        return Err("no cell holds addresses".to_owned());
    };
    match cells.get(at + 1).filter(|_| is_address(cell)) {
        // Nobody has addresses of 240/4, but everybody has masks that look like them.
        Some(next) if is_address(next) && next.starts_with("255.") => Ok(Place::Mask(at, at + 1)),
        Some(next) if is_address(next) => Ok(Place::Ends(at, at + 1)),
        Some(next) if next.parse::<u32>().is_ok() => {
            Err(format!("`{next}` behind `{cell}` may be a prefix length or a number of addresses"))
        }
        _ => Ok(Place::One(at)),
    }
}

/// Where it stands whose the addresses are, by the cells.
fn guess_targets(
    free: impl Fn(&usize) -> bool,
    sample: &[Record<'_>],
    known: &Known,
) -> Result<Vec<(usize, Column)>, String> {
    let width = sample.iter().map(|record| record.cells.len()).max().unwrap_or(0);
    let filled = |at: &usize| sample.iter().any(|r| r.cells.get(*at).is_some_and(|cell| !cell.is_empty()));
    let candidates: Vec<usize> = (0..width).filter(|at| free(at)).filter(filled).collect();
    let knows = |at: usize, bas: bool| {
        let fits = |record: &&Record<'_>| {
            let name = record.cells.get(at).map(|cell| Target::Named(cell.as_ref().into()));
            match name.and_then(|name| known.resolve(&name)) {
                Some(Target::Bas(_)) => bas,
                Some(_) => !bas,
                None => false,
            }
        };
        sample.iter().filter(fits).count() * 2 > sample.len()
    };
    let mut targets: Vec<(usize, Column)> = Vec::new();
    for (bas, column) in [(true, Column::Bas), (false, Column::Edges)] {
        targets.extend(candidates.iter().filter(|at| knows(**at, bas)).map(|at| (*at, column)));
    }
    match (targets.is_empty(), candidates.as_slice()) {
        (false, _) => Ok(targets),
        (true, [only]) => Ok(vec![(*only, Column::Name)]),
        (true, []) => Err("no column says whose the addresses are".to_owned()),
        (true, several) => {
            Err(format!("which of the {} columns says whose the addresses are", several.len()))
        }
    }
}
