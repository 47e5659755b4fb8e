//! Fleets and legacy tables in files of their own: `[inventory]`, `bas.d`, `static-file`.

use std::path::{Path, PathBuf};

use super::bas::Bas;
use super::context::Context;
use super::error::Problem;
use super::node::{self, Entry, Node, Value};
use super::rows::{self, Cell};
use super::section::{Section, unknown};
use super::source::Place;
use super::statics::FILE_KEYS;
use super::value::{file, path};
use super::words;

/// The keys of `[inventory]`.
pub(super) const KEYS: &[&str] = &["file", "folder"];

/// The folder that is read without being named, where it is there.
const FOLDER: &str = "bas.d";

/// The column that holds a BAS's name.
const NAME: &str = "name";

/// The BASes of the files that `[inventory]` names, in the order of the files.
pub(super) fn read(cx: &mut Context, table: Option<&Node>) -> Vec<Entry> {
    let section = table.and_then(|node| Section::open(cx, node, "[inventory]", KEYS));
    let get = |key| section.as_ref().and_then(|section| section.get(key));
    let mut all = match get("folder") {
        Some(node) => path(cx, node).map(|folder| fragments(cx, &folder, node.place)).unwrap_or_default(),
        None => implied(cx),
    };
    if let Some(node) = get("file") {
        all.extend(file(cx, node).map(|path| inventory(cx, &path, node.place)).unwrap_or_default());
    }
    all
}

/// The BASes of the folder that needs no naming.
fn implied(cx: &mut Context) -> Vec<Entry> {
    let folder = cx.folder.join(FOLDER);
    if folder.is_dir() { fragments(cx, &folder, Place::new(0, 0..0)) } else { Vec::new() }
}

/// The lines of a static file, which is named at a place.
pub(super) fn static_file(cx: &mut Context, path: &Path, named: Place) -> Vec<Node> {
    let Some((header, lines)) = table(cx, path, named) else { return Vec::new() };
    if !columns(cx, &header, FILE_KEYS, "a static file") {
        return Vec::new();
    }
    lines
}

/// `*.toml` of a folder, by name: tables `[bas.NAME]`.
fn fragments(cx: &mut Context, folder: &Path, named: Place) -> Vec<Entry> {
    let paths = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>()
    });
    let mut paths = match paths {
        Ok(paths) => paths,
        Err(e) => {
            cx.wrong(Problem::new(named, format!("{}: this folder cannot be read: {e}", folder.display())));
            return Vec::new();
        }
    };
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml") && !hidden(path));
    paths.sort();
    paths.iter().flat_map(|path| fragment(cx, path)).collect()
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn fragment(cx: &mut Context, path: &Path) -> Vec<Entry> {
    let root = match node::document(&mut cx.sources, path) {
        Ok(root) => root,
        Err(problem) => {
            cx.wrong(problem);
            return Vec::new();
        }
    };
    let mut all = Vec::new();
    for entry in root.entries() {
        match entry.key.as_str() {
            "bas" => all.extend(super::section::named(cx, &entry.node, "bas").iter().cloned()),
            _ => cx.wrong(unknown(entry, "a file of BASes", &["bas"])),
        }
    }
    all
}

/// The rows of the inventory as `[bas.NAME]` would have them.
fn inventory(cx: &mut Context, path: &Path, named: Place) -> Vec<Entry> {
    let Some((header, lines)) = table(cx, path, named) else { return Vec::new() };
    let mut keys = vec![NAME];
    keys.extend(Bas::KEYS);
    if !columns(cx, &header, &keys, "an inventory") {
        return Vec::new();
    }
    if !header.iter().any(|cell| cell.text == NAME) {
        let Some(first) = header.first() else { return Vec::new() };
        cx.wrong(
            Problem::new(first.place, "no column holds the names")
                .help(format!("expected a column `{NAME}`")),
        );
        return Vec::new();
    }
    lines.into_iter().filter_map(|line| bas(cx, line)).collect()
}

fn bas(cx: &mut Context, line: Node) -> Option<Entry> {
    let place = line.place;
    let Value::Table(cells) = line.value else { return None };
    let (names, cells): (Vec<Entry>, Vec<Entry>) = cells.into_iter().partition(|cell| cell.key == NAME);
    let Some(Node { value: Value::Cell(key), place: at }) = names.into_iter().next().map(|cell| cell.node)
    else {
        cx.wrong(
            Problem::new(place, "this line names no BAS")
                .help(format!("expected a name in the column `{NAME}`")),
        );
        return None;
    };
    let node = Node { place, value: Value::Table(nested(cells)) };
    Some(Entry { key, place: at, node })
}

/// Columns such as `edges.iptv`, `pools.include` and `distance.gz-01` as tables.
fn nested(cells: Vec<Entry>) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for mut cell in cells {
        let Some((outer, inner)) = cell.key.split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())) else {
            all.push(cell);
            continue;
        };
        cell.key = inner;
        match all.iter_mut().find(|entry| entry.key == outer) {
            Some(Entry { node: Node { value: Value::Table(cells), .. }, .. }) => cells.push(cell),
            _ => {
                let place = cell.place;
                let node = Node { place, value: Value::Table(vec![cell]) };
                all.push(Entry { key: outer, place, node });
            }
        }
    }
    all
}

fn table(cx: &mut Context, path: &Path, named: Place) -> Option<(Vec<Cell>, Vec<Node>)> {
    match rows::rows(&mut cx.sources, path) {
        Ok(table) => Some(table),
        Err(problems) => {
            cx.problems.extend(problems.into_iter().map(|problem| problem.named_at(named)));
            None
        }
    }
}

/// Whether every column is known and stands there once.
fn columns(cx: &mut Context, header: &[Cell], keys: &[&str], title: &str) -> bool {
    let before = cx.problems.len();
    for (i, cell) in header.iter().enumerate() {
        let earlier = header.iter().take(i);
        let key = match cell.text.split_once('.') {
            Some((key @ ("edges" | "pools" | "distance"), _)) => key,
            _ => &cell.text,
        };
        if !keys.contains(&key) {
            let problem =
                Problem::new(cell.place, format!("{title} has no column `{}`", cell.text.escape_debug()));
            cx.wrong(problem.help(words::expected_near(key, keys.iter().copied())));
        } else if earlier.clone().any(|other| clash(&other.text, &cell.text)) {
            cx.wrong(Problem::new(cell.place, format!("the column `{}` stands here twice", key)));
        }
    }
    cx.problems.len() == before
}

/// Whether two columns say the same: the same key, or a key and a part of it.
fn clash(a: &str, b: &str) -> bool {
    let within =
        |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    within(a, b) || within(b, a)
}
