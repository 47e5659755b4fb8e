//! Reading a table key by key.

use super::context::Context;
use super::error::Problem;
use super::mask;
use super::node::{Entry, Node, Value};
use super::source::Place;
use super::words;

/// A table whose keys are known. Unknown ones were reported when it was opened.
#[derive(Debug)]
pub(super) struct Section<'n> {
    node: &'n Node,
    keys: &'static [&'static str],
    title: String,
}

impl<'n> Section<'n> {
    /// Opens a table; `title` is how messages call it (`[store]`).
    pub(super) fn open(
        cx: &mut Context,
        node: &'n Node,
        title: &str,
        keys: &'static [&'static str],
    ) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            let help = format!("expected a table with the keys {}", ticked(keys.iter().copied()));
            cx.wrong(Problem::new(node.place, format!("{title} is {}", node.kind())).help(help));
            return None;
        };
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            cx.wrong(unknown(entry, title, keys));
        }
        Some(Self { node, keys, title: title.to_owned() })
    }

    /// The place of the table; of its header where it has one.
    pub(super) const fn place(&self) -> Place {
        self.node.place
    }

    /// How messages call it.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Whether it may have a key.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.keys.contains(&key)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &'static str) -> Option<&'n Node> {
        debug_assert!(self.knows(key), "`{key}` is not among the keys of {}", self.title);
        self.node.get(key)
    }

    /// Reads a key that may be missing. `None` where it is, or where it is faulty (which is
    /// then noted).
    pub(super) fn read<T>(
        &self,
        cx: &mut Context,
        key: &'static str,
        reader: impl FnOnce(&mut Context, &'n Node) -> Option<T>,
    ) -> Option<T> {
        self.get(key).and_then(|node| reader(cx, node))
    }

    /// Reads a key that has a default.
    pub(super) fn read_or<T>(
        &self,
        cx: &mut Context,
        key: &'static str,
        default: T,
        reader: impl FnOnce(&mut Context, &'n Node) -> Option<T>,
    ) -> T {
        self.read(cx, key, reader).unwrap_or(default)
    }

    /// Reads a key that must be there.
    pub(super) fn required<T>(
        &self,
        cx: &mut Context,
        key: &'static str,
        reader: impl FnOnce(&mut Context, &'n Node) -> Option<T>,
    ) -> Option<T> {
        if self.get(key).is_none() {
            let present: Vec<&str> = self.node.entries().iter().map(|entry| entry.key.as_str()).collect();
            let missing = self.keys.iter().copied().filter(|key| !present.contains(key));
            let problem = Problem::new(self.place(), format!("{} lacks the key `{key}`", self.title));
            cx.wrong(match missing.clone().count() {
                0 | 1 => problem,
                _ => problem.help(format!("keys that may stand here: {}", ticked(missing))),
            });
            return None;
        }
        self.read(cx, key, reader)
    }

    /// Notes a key that must not be there.
    pub(super) fn refuse(&self, cx: &mut Context, key: &'static str, why: &str) {
        if let Some(entry) = self.node.entries().iter().find(|entry| entry.key == key) {
            cx.wrong(Problem::new(entry.place, format!("`{key}` {why}")));
        }
    }
}

/// The entries of a table whose keys are names (`[bas.NAME]`).
pub(super) fn named<'n>(cx: &mut Context, node: &'n Node, what: &str) -> &'n [Entry] {
    let Value::Table(entries) = &node.value else {
        let help = format!("expected tables with names, as [{what}.NAME]");
        cx.wrong(Problem::new(node.place, format!("[{what}] is {}", node.kind())).help(help));
        return &[];
    };
    entries
}

/// An entry whose key nobody knows. Its strings are shown only where it is clear that a key
/// was meant that holds no secret: a misspelt `community` would else stand in the log.
pub(super) fn unknown(entry: &Entry, title: &str, keys: &[&'static str]) -> Problem {
    let word = entry.key.as_str();
    let problem = Problem::new(entry.place, format!("{title} has no key `{}`", word.escape_debug()));
    let near = words::nearest(word, keys.iter().copied());
    let elsewhere = super::KEYS.iter().find(|(_, keys)| keys.contains(&word));
    let help = match (near, elsewhere) {
        (None, Some((section, _))) => {
            format!("`{word}` is a key of {section}; {}", words::expected(keys.iter().copied()))
        }
        _ => words::expected_near(word, keys.iter().copied()),
    };
    let meant = near.or(elsewhere.map(|_| word));
    let harmless = meant.is_some_and(|meant| !mask::KEYS.contains(&meant)) && keys != super::secret::KEYS;
    problem.help(help).hide(if harmless { Vec::new() } else { entry.node.strings() })
}

fn ticked<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
