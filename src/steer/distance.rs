//! How far edges are from the owners of addresses.

use std::collections::BTreeMap;

use thiserror::Error;

use super::Amount;
use crate::table::Name;

/// Radius of the earth, in km.
const EARTH_KM: f64 = 6371.0;
/// Light in fibre: km in one ms, one way.
const KM_PER_MS: f64 = 200.0;

/// Where something stands, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    latitude: f64,
    longitude: f64,
}

impl Place {
    /// A place of the earth, where the degrees are those of one.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let legal = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        legal.then_some(Self { latitude, longitude })
    }

    /// Degrees north of the equator.
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east of Greenwich.
    pub const fn longitude(self) -> f64 {
        self.longitude
    }

    /// [`Place::delay_ms`] as a distance.
    pub fn delay(self, other: Self) -> Option<Amount> {
        Amount::new(self.delay_ms(other))
    }

    /// The round trip over the shortest way in fibre, in ms: no real path is shorter.
    pub fn delay_ms(self, other: Self) -> f64 {
        let [a, b] = [self.latitude.to_radians(), other.latitude.to_radians()];
        let half = |difference: f64| (difference / 2.0).sin().powi(2);
        let turn = (other.longitude - self.longitude).to_radians();
        let arc = half(b - a) + a.cos() * b.cos() * half(turn);
        let km = 2.0 * EARTH_KM * arc.clamp(0.0, 1.0).sqrt().asin();
        2.0 * km / KM_PER_MS
    }
}

/// Why a matrix of distances cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DistanceError {
    /// The text is no CSV.
    #[error("line {line}: {detail}")]
    Csv {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// There is no heading.
    #[error("the first line must name the edges, after one cell for the owners' column")]
    NoHeading,
    /// A heading or a row's name is empty or comes twice.
    #[error("line {line}: the name `{name}` is empty or comes twice")]
    Name {
        /// The line, from 1.
        line: u64,
        /// The name.
        name: String,
    },
    /// A cell is no distance.
    #[error(
        "line {line}: `{cell}` for edge {edge} is no distance: a number that is not negative, or nothing"
    )]
    Cell {
        /// The line, from 1.
        line: u64,
        /// The edge of its column.
        edge: String,
        /// The cell.
        cell: String,
    },
}

/// Distances of pairs of an owner (or a BAS) and an edge: delay in ms, or hops, but one unit
/// for all. A pair that is not there has no known distance, and ranks behind those that have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distances {
    pairs: BTreeMap<Name, BTreeMap<Name, Amount>>,
}

impl Distances {
    /// Sets the distance of a pair.
    pub fn set(&mut self, owner: Name, edge: Name, distance: Amount) {
        self.pairs.entry(owner).or_default().insert(edge, distance);
    }

    /// The distance of a pair as it was set, where it is known.
    pub fn amount(&self, owner: &Name, edge: &Name) -> Option<Amount> {
        self.pairs.get(owner)?.get(edge).copied()
    }

    /// The distance of a pair, where it is known.
    pub fn of(&self, owner: &Name, edge: &Name) -> Option<f64> {
        self.amount(owner, edge).map(Amount::get)
    }

    /// Whether anything is known of an owner.
    pub fn knows(&self, owner: &Name) -> bool {
        self.pairs.contains_key(owner)
    }

    /// These, and where they say nothing, the others.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        for (owner, edges) in others.pairs {
            let known = self.pairs.entry(owner).or_default();
            for (edge, distance) in edges {
                known.entry(edge).or_insert(distance);
            }
        }
        self
    }

    /// Delays between places, over the shortest way in fibre.
    pub fn between(owners: &BTreeMap<Name, Place>, edges: &BTreeMap<Name, Place>) -> Self {
        let mut all = Self::default();
        for (owner, from) in owners {
            for (edge, to) in edges {
                if let Some(delay) = Amount::new(from.delay_ms(*to)) {
                    all.set(owner.clone(), edge.clone(), delay);
                }
            }
        }
        all
    }

    /// A matrix as CSV: the first line names the edges, each further line an owner and its
    /// distances. An empty cell is no known distance.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn from_csv(text: &str) -> Result<Self, DistanceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let heading = match records.next() {
            Some(heading) => heading.map_err(|error| csv_error(&error))?,
            None => return Err(DistanceError::NoHeading),
        };
        let edges: Vec<Name> = heading.iter().skip(1).map(Name::from).collect();
        check_names(&edges, &heading)?;
        let mut all = Self::default();
        for record in records {
            all.add_row(&edges, &record.map_err(|error| csv_error(&error))?)?;
        }
        Ok(all)
    }

    fn add_row(&mut self, edges: &[Name], record: &csv::StringRecord) -> Result<(), DistanceError> {
        let line = line_of(record);
        let mut cells = record.iter();
        let owner = cells.next().unwrap_or_default();
        if owner.is_empty() || self.pairs.contains_key(owner) {
            return Err(DistanceError::Name { line, name: owner.to_owned() });
        }
        let mut row = BTreeMap::new();
        for (edge, cell) in edges.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            let distance = cell.parse().ok().and_then(Amount::new).ok_or_else(|| DistanceError::Cell {
                line,
                edge: edge.to_string(),
                cell: cell.to_owned(),
            })?;
            row.insert(edge.clone(), distance);
        }
        self.pairs.insert(owner.into(), row);
        Ok(())
    }
}

fn check_names(edges: &[Name], heading: &csv::StringRecord) -> Result<(), DistanceError> {
    if edges.is_empty() {
        return Err(DistanceError::NoHeading);
    }
    let wrong = edges
        .iter()
        .enumerate()
        .find(|(place, name)| name.is_empty() || edges.iter().take(*place).any(|before| before == *name));
    match wrong {
        Some((_, name)) => Err(DistanceError::Name { line: line_of(heading), name: name.to_string() }),
        None => Ok(()),
    }
}

fn line_of(record: &csv::StringRecord) -> u64 {
    record.position().map_or(1, csv::Position::line)
}

fn csv_error(error: &csv::Error) -> DistanceError {
    let line = error.position().map_or(1, csv::Position::line);
    DistanceError::Csv { line, detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_matrix_is_read_with_its_gaps() {
        let text = "bas,e1,e2\n# two sites\ngz-1, 1.5 ,\ngz-2,3,0\n";
        let all = Distances::from_csv(text).unwrap();
        let of = |owner: &str, edge: &str| all.of(&owner.into(), &edge.into());
        assert_eq!((of("gz-1", "e1"), of("gz-1", "e2")), (Some(1.5), None));
        assert_eq!((of("gz-2", "e1"), of("gz-2", "e2")), (Some(3.0), Some(0.0)));
        assert!(all.knows(&"gz-1".into()) && !all.knows(&"gz-3".into()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let error = |text: &str| Distances::from_csv(text).unwrap_err();
        assert_eq!(error(""), DistanceError::NoHeading);
        assert_eq!(error("bas\n"), DistanceError::NoHeading);
        assert_eq!(error("bas,e1,e1\n"), DistanceError::Name { line: 1, name: "e1".into() });
        assert_eq!(error("bas,e1\na,1\na,2\n"), DistanceError::Name { line: 3, name: "a".into() });
        let cell = |line, cell: &str| DistanceError::Cell { line, edge: "e1".into(), cell: cell.into() };
        assert_eq!(error("bas,e1\na,-1\n"), cell(2, "-1"));
        assert_eq!(error("bas,e1\na,far\n"), cell(2, "far"));
        assert_eq!(error("bas,e1\na,NaN\n"), cell(2, "NaN"));
        assert!(matches!(error("bas,e1\na,1\nb,1,2\n"), DistanceError::Csv { line: 3, .. }));
    }

    #[test]
    fn a_quarter_of_the_equator_is_a_hundred_milliseconds() {
        let place = |latitude, longitude| Place::new(latitude, longitude).unwrap();
        // pi / 2 * 6371 km = 10,007.5 km; there and back at 200 km in a ms.
        assert!((place(0.0, 0.0).delay_ms(place(0.0, 90.0)) - 100.075).abs() < 0.01);
        assert!((place(90.0, 0.0).delay_ms(place(0.0, 33.0)) - 100.075).abs() < 0.01);
        assert_eq!(place(23.1, 113.3).delay_ms(place(23.1, 113.3)), 0.0);
        assert_eq!(Place::new(90.1, 0.0), None);
        assert_eq!(Place::new(f64::NAN, 0.0), None);
    }

    #[test]
    fn configured_distances_go_before_others() {
        let mut configured = Distances::default();
        configured.set("a".into(), "e1".into(), Amount::new(7.0).unwrap());
        let all = configured.or(Distances::from_csv("bas,e1,e2\na,1,2\n").unwrap());
        assert_eq!(all.of(&"a".into(), &"e1".into()), Some(7.0));
        assert_eq!(all.of(&"a".into(), &"e2".into()), Some(2.0));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[ -~\n\r\"é]{0,200}") {
            let _ = Distances::from_csv(&text);
        }
    }
}
