//! How far edges are from routers: pairs, a matrix in a file, places.

use std::collections::BTreeMap;
use std::path::Path;

use super::context::Context;
use super::error::Problem;
use super::node::{Node, Value};
use super::print::{self, Writer};
use super::rows::{self, Cell};
use super::source;
use super::value::{amount, list, name, number, reference, wrong_kind};
use super::{Bas, words};
use crate::steer::{Amount, Distances, Place};
use crate::table::Name;

/// The rows of a matrix: distances by edge, by BAS or owner, each with its place in the file.
pub(super) type Matrix = BTreeMap<Name, (source::Place, BTreeMap<Name, Amount>)>;

/// Reads `place`: latitude and longitude in degrees.
pub(super) fn place(cx: &mut Context, node: &Node) -> Option<Place> {
    const EXPECTED: &str = "latitude and longitude in degrees, as [23.13, 113.26]";
    let degrees = list(cx, node, EXPECTED, |cx, n| number(cx, n, -180.0..=180.0, EXPECTED))?;
    let place = match degrees.as_slice() {
        [latitude, longitude] => Place::new(*latitude, *longitude),
        _ => None,
    };
    if place.is_none() {
        cx.wrong(Problem::new(node.place, "this is no place").help(format!("expected {EXPECTED}")));
    }
    place
}

pub(super) fn write_place(place: Option<Place>, out: &mut Writer) {
    if let Some(place) = place {
        out.raw("place", format_args!("[{}, {}]", place.latitude(), place.longitude()));
    }
}

/// Reads the `distance` of a BAS: a table of edges.
pub(super) fn pairs(cx: &mut Context, node: &Node) -> Option<BTreeMap<Name, Amount>> {
    let Value::Table(entries) = &node.value else {
        return wrong_kind(cx, node, "distances by edge, as { gz-01 = 3, gz-02 = 12 }");
    };
    let mut pairs = BTreeMap::new();
    for entry in entries {
        let edge = reference(cx, &entry.key_node(), "edge", |cx| &cx.edges);
        let distance = amount(cx, &entry.node);
        pairs.extend(edge.zip(distance));
    }
    Some(pairs)
}

pub(super) fn write_pairs(pairs: &BTreeMap<Name, Amount>, out: &mut Writer) {
    if !pairs.is_empty() {
        let all: Vec<String> =
            pairs.iter().map(|(edge, far)| format!("{} = {}", print::key(edge), far.get())).collect();
        out.raw("distance", format_args!("{{ {} }}", all.join(", ")));
    }
}

/// Reads a matrix: the first line names the edges, each other one a BAS or an owner.
pub(super) fn matrix(cx: &mut Context, path: &Path, named: source::Place) -> Matrix {
    let (header, lines) = match rows::rows(&mut cx.sources, path) {
        Ok(table) => table,
        Err(problems) => {
            cx.problems.extend(problems.into_iter().map(|problem| problem.named_at(named)));
            return Matrix::new();
        }
    };
    let Some((first, edges)) = header.split_first() else { return Matrix::new() };
    check_edges(cx, first, edges);
    let mut matrix = Matrix::new();
    for line in lines {
        row(cx, first, &line, &mut matrix);
    }
    matrix
}

fn check_edges(cx: &mut Context, first: &Cell, edges: &[Cell]) {
    if edges.is_empty() {
        let problem = Problem::new(first.place, "this line names no edges");
        cx.wrong(problem.help("expected `bas` and the names of edges"));
    }
    for (at, cell) in edges.iter().enumerate() {
        let node = Node { place: cell.place, value: Value::Cell(cell.text.clone()) };
        reference(cx, &node, "edge", |cx| &cx.edges);
        if edges.iter().take(at).chain([first]).any(|other| other.text == cell.text) {
            cx.wrong(Problem::new(cell.place, format!("the column `{}` stands here twice", cell.text)));
        }
    }
}

fn row(cx: &mut Context, first: &Cell, line: &Node, matrix: &mut Matrix) {
    let Some(owner) = line.get(&first.text) else {
        let problem = Problem::new(line.place, "this line names no BAS");
        cx.wrong(problem.help(format!("expected a name in the column `{}`", first.text)));
        return;
    };
    let Some(name) = name(cx, owner) else { return };
    let cells = line.entries().iter().filter(|cell| cell.key != first.text);
    let mut distances = BTreeMap::new();
    for cell in cells {
        distances.extend(amount(cx, &cell.node).map(|far| (Name::from(cell.key.as_str()), far)));
    }
    if let Some((earlier, _)) = matrix.get(&name) {
        let problem = Problem::new(owner.place, format!("`{name}` has a line already"));
        cx.wrong(problem.also("it stands at", *earlier));
        return;
    }
    matrix.insert(name, (owner.place, distances));
}

/// Notes lines of a matrix that are of nobody.
pub(super) fn check_owners(cx: &mut Context, matrix: &Matrix, bas: &BTreeMap<Name, Bas>) {
    let mut known: Vec<&str> =
        bas.values().flat_map(|bas| [bas.name.as_str(), bas.owner().as_str()]).collect();
    known.sort_unstable();
    known.dedup();
    for (name, (place, _)) in matrix.iter().filter(|(name, _)| known.binary_search(&name.as_str()).is_err()) {
        let problem = Problem::new(*place, format!("there is no BAS `{}`", name.escape_debug()));
        cx.warn(problem.help(words::expected_near(name, known.iter().copied())));
    }
}

/// The distances of a matrix.
pub(super) fn distances(matrix: Matrix) -> Distances {
    let mut all = Distances::default();
    for (owner, (_, row)) in matrix {
        for (edge, distance) in row {
            all.set(owner.clone(), edge, distance);
        }
    }
    all
}
