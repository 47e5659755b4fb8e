//! Loading a configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::bas::{Bas, Descriptor};
use super::context::{Context, Names};
use super::edge::{self, EdgeTraits};
use super::environment::Environment;
use super::error::{ConfigError, Problem, Report, reports};
use super::export::Export;
use super::feed::LoadCycle;
use super::guard::{Guard, Stale};
use super::node::{self, Entry, Node, Value};
use super::notifications::Notifications;
use super::place::{INTERNET, Space};
use super::poll::Poll;
use super::profile::Profile;
use super::region::Steer;
use super::section::{Section, named};
use super::service::{Control, Http, Log, Mib, Store};
use super::source::{Place, Sources};
use super::statics::StaticLine;
use super::value::{self, file, reference, wrong_kind};
use super::{Config, ROOT, cross, cross_steer, distance, inventory, words};
use crate::table::{Edge, Name};

/// A configuration and what there is to say about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What is not wrong, but deserves a word; the first hundred.
    pub warnings: Vec<Report>,
    /// The files that it was read from, secrets apart.
    pub files: Vec<PathBuf>,
    sources: Sources,
    descriptors: Vec<(Name, Place)>,
}

impl Loaded {
    /// Checks that the descriptors that `mib` keys name exist.
    ///
    /// # Errors
    /// Each `mib` that names none of `known`.
    pub fn check_descriptors(&self, known: &[&str]) -> Result<(), ConfigError> {
        let wrong = self.descriptors.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let problems = wrong.map(|(name, place)| {
            let choices = std::iter::once("auto").chain(known.iter().copied());
            let message = format!("there is no descriptor `{}`", name.escape_debug());
            Problem::new(*place, message).help(words::expected_near(name, choices))
        });
        ConfigError::unless_none(&self.sources, problems.collect())
    }
}

/// How a configuration is loaded.
#[derive(Clone, Debug)]
pub struct Loader {
    /// Where `{ env = }` and `{ credential = }` look.
    pub environment: Environment,
    /// Whether secrets are looked up. Commands that ask the daemon, or only read the store,
    /// need none, and may not be allowed to read them.
    pub secrets: bool,
}

impl Config {
    /// Loads a configuration, secrets included, in the environment of this process.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Loaded, ConfigError> {
        Loader { environment: Environment::of_process(), secrets: true }.load(path)
    }

    /// Loads a configuration and looks up no secret.
    ///
    /// # Errors
    /// Everything else that is wrong with it.
    pub fn load_without_secrets(path: &Path) -> Result<Loaded, ConfigError> {
        Loader { environment: Environment::default(), secrets: false }.load(path)
    }
}

impl Loader {
    /// Loads a configuration.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(self, path: &Path) -> Result<Loaded, ConfigError> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        let mut cx = Context::new(folder, self.environment, self.secrets);
        let root = match node::document(&mut cx.sources, path) {
            Ok(root) => root,
            Err(problem) => return Err(ConfigError::of(&cx.sources, vec![problem])),
        };
        match Reading::new(&mut cx, &root).and_then(|reading| reading.finish(&mut cx)) {
            Some((config, reading)) => Ok(reading.loaded(cx, config)),
            None => Err(ConfigError::of(&cx.sources, cx.problems)),
        }
    }
}

/// A configuration whose names are known and whose tables are still to be read.
struct Reading<'n> {
    root: Section<'n>,
    bas: Vec<Entry>,
}

impl<'n> Reading<'n> {
    /// Gathers the names that are given, so that uses can be checked as they are read.
    fn new(cx: &mut Context, root: &'n Node) -> Option<Self> {
        let root = Section::open(cx, root, "the configuration", ROOT)?;
        cx.profiles = names(cx, &root, "snmp");
        cx.edges = names(cx, &root, "edge");
        cx.spaces = names(cx, &root, "space");
        cx.spaces.entry(INTERNET.to_owned()).or_insert(root.place());
        names(cx, &root, "export");
        names(cx, &root, "steer");
        let mut bas = root.get("bas").map_or(&[][..], |node| named(cx, node, "bas")).to_vec();
        bas.extend(inventory::read(cx, root.get("inventory")));
        bas.retain(|entry| first_of_its_name(cx, entry));
        Some(Self { root, bas })
    }

    /// Reads every table. `None` where something was wrong.
    fn finish(self, cx: &mut Context) -> Option<(Config, Self)> {
        let root = &self.root;
        let default_edge =
            root.required(cx, "default-edge", |cx, n| reference(cx, n, "edge", |cx| &cx.edges));
        let store = table(cx, root, "store", Store::KEYS, Store::read).unwrap_or_default();
        let control = Control::of_store(&store.path);
        let control =
            table(cx, root, "control", Control::KEYS, |cx, s| Control::read(cx, s, control.clone()))
                .unwrap_or(control);
        let space_entries = entries(root, "space");
        let (edges, traits) = edges(cx, root);
        let bas = read_all(cx, &self.bas, Bas::read);
        let distance_file = root.read(cx, "distance-file", file);
        let named = root.get("distance-file").map(|node| node.place).zip(distance_file.as_ref());
        let matrix = named.map(|(place, path)| distance::matrix(cx, path, place)).unwrap_or_default();
        distance::check_owners(cx, &matrix, &bas);
        let config = Config {
            default_edge: default_edge.unwrap_or_default(),
            poll: table(cx, root, "poll", Poll::KEYS, Poll::read).unwrap_or_default(),
            guard: table(cx, root, "guard", Guard::KEYS, Guard::read).unwrap_or_default(),
            stale: table(cx, root, "stale", Stale::KEYS, Stale::read).unwrap_or_default(),
            snmp: read_all(cx, entries(root, "snmp"), Profile::read),
            spaces: Space::read_all(cx, space_entries),
            edges,
            traits,
            load: table(cx, root, "load", LoadCycle::KEYS, LoadCycle::read).unwrap_or_default(),
            steer: read_all(cx, entries(root, "steer"), Steer::read),
            distance_file,
            matrix: distance::distances(matrix),
            bas,
            statics: statics(cx, root),
            exports: read_all(cx, entries(root, "export"), Export::read),
            notifications: table(cx, root, "notifications", Notifications::KEYS, Notifications::read)
                .unwrap_or_default(),
            http: table(cx, root, "http", Http::KEYS, Http::read).unwrap_or_default(),
            mib: table(cx, root, "mib", Mib::KEYS, Mib::read).unwrap_or_default(),
            log: table(cx, root, "log", Log::KEYS, Log::read).unwrap_or_default(),
            store,
            control,
        };
        cross::check(cx, &config, &self.bas, entries(root, "export"));
        cross_steer::check(cx, &config, entries(root, "steer"), entries(root, "export"));
        cx.problems.is_empty().then_some((config, self))
    }

    fn loaded(self, cx: Context, config: Config) -> Loaded {
        let place = |entry: &Entry| entry.node.get("mib").map(|node| node.place);
        let descriptors =
            self.bas.iter().filter_map(|entry| match &config.bas.get(entry.key.as_str())?.mib {
                Descriptor::Named(name) => Some((name.clone(), place(entry)?)),
                Descriptor::Auto => None,
            });
        Loaded {
            descriptors: descriptors.collect(),
            warnings: reports(&cx.sources, cx.warnings),
            files: cx.sources.paths(),
            sources: cx.sources,
            config,
        }
    }
}

/// Whether a BAS is the first of its name; another one is noted.
fn first_of_its_name(cx: &mut Context, entry: &Entry) -> bool {
    let earlier = cx.bas.get(&entry.key).copied();
    match earlier {
        None => drop(cx.bas.insert(entry.key.clone(), entry.place)),
        Some(first) => {
            let message = format!("there are two BASes `{}`", entry.key.escape_debug());
            cx.wrong(Problem::new(entry.place, message).also("the first stands at", first));
        }
    }
    earlier.is_none()
}

/// The entries of a table of names.
fn entries<'n>(root: &Section<'n>, key: &'static str) -> &'n [Entry] {
    root.get(key).map_or(&[], Node::entries)
}

/// The names that a table gives. Here it is noted where it is no table, or a name is none.
fn names(cx: &mut Context, root: &Section<'_>, key: &'static str) -> Names {
    let entries = root.get(key).map_or(&[][..], |node| named(cx, node, key));
    for entry in entries {
        value::name(cx, &entry.key_node());
    }
    entries.iter().map(|entry| (entry.key.clone(), entry.place)).collect()
}

/// A table that may be missing.
fn table<T>(
    cx: &mut Context,
    root: &Section<'_>,
    key: &'static str,
    keys: &'static [&'static str],
    read: impl FnOnce(&mut Context, &Section<'_>) -> T,
) -> Option<T> {
    let section = Section::open(cx, root.get(key)?, &format!("[{key}]"), keys)?;
    Some(read(cx, &section))
}

/// The edges, and what steering has to know of them.
fn edges(cx: &mut Context, root: &Section<'_>) -> (BTreeMap<Name, Edge>, BTreeMap<Name, EdgeTraits>) {
    let both = read_all(cx, entries(root, "edge"), edge::read);
    both.into_iter().map(|(name, (edge, traits))| ((name.clone(), edge), (name, traits))).unzip()
}

/// Reads each entry of a table of names.
fn read_all<T>(
    cx: &mut Context,
    entries: &[Entry],
    read: fn(&mut Context, &Entry) -> Option<T>,
) -> BTreeMap<Name, T> {
    let mut all = BTreeMap::new();
    for entry in entries {
        if let Some(value) = read(cx, entry) {
            all.insert(entry.key.as_str().into(), value);
        }
    }
    all
}

/// The static lines of the file itself, then those of the static file.
fn statics(cx: &mut Context, root: &Section<'_>) -> Vec<StaticLine> {
    const EXPECTED: &str = "tables [[static]]";
    let own = root.read(cx, "static", |cx, node| match &node.value {
        Value::List(lines) => Some(lines.as_slice()),
        _ => wrong_kind(cx, node, EXPECTED),
    });
    let lines = root.read(cx, "static-file", |cx, node| {
        file(cx, node).map(|path| inventory::static_file(cx, &path, node.place))
    });
    let lines = lines.unwrap_or_default();
    let own = own.unwrap_or_default().iter().map(|line| (line, StaticLine::KEYS));
    let all = own.chain(lines.iter().map(|line| (line, super::statics::FILE_KEYS)));
    let read: Vec<(StaticLine, Place)> =
        all.filter_map(|(line, keys)| Some((StaticLine::read(cx, line, keys)?, line.place))).collect();
    super::statics::contradictions(cx, &read);
    read.into_iter().map(|(line, _)| line).collect()
}
