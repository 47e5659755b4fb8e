//! The store, the listeners, the log: `[store]`, `[http]`, `[control]`, `[mib]`, `[log]`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::print::Writer;
use super::section::Section;
use super::value::{choice, duration, file, integer, list, parsed, path};

/// `[store]`: the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The SQLite file.
    pub path: PathBuf,
    /// How long history is kept.
    pub keep: Duration,
    /// How many generations are kept whatever their age.
    pub keep_at_least: u32,
}

const STORE_PATH: &str = "/var/lib/poolsync/poolsync.db";

impl Default for Store {
    fn default() -> Self {
        Self { path: STORE_PATH.into(), keep: Duration::from_secs(90 * 86_400), keep_at_least: 100 }
    }
}

impl Store {
    /// The keys of `[store]`.
    pub(super) const KEYS: &'static [&'static str] = &["path", "keep", "keep-at-least"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        let default = Self::default();
        Self {
            path: section.read_or(cx, "path", default.path, file),
            keep: section.read_or(cx, "keep", default.keep, |cx, n| duration(cx, n, Duration::from_secs(1))),
            keep_at_least: section.read_or(cx, "keep-at-least", default.keep_at_least, |cx, n| {
                integer(cx, n, 1..=i64::from(u32::MAX))
            }),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["store"]);
        out.path("path", &self.path);
        out.duration("keep", self.keep);
        out.raw("keep-at-least", self.keep_at_least);
    }
}

/// `[http]`: the API and the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// Where it listens; nowhere where this is empty. Port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
}

impl Http {
    /// The keys of `[http]`.
    pub(super) const KEYS: &'static [&'static str] = &["listen"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        const EXPECTED: &str = "a list of addresses with ports, as [\"127.0.0.1:8420\"]";
        Self { listen: section.read_or(cx, "listen", Vec::new(), |cx, n| list(cx, n, EXPECTED, parsed)) }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["http"]);
        out.strings("listen", &self.listen);
    }
}

/// `[control]`: how the command line reaches the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The unix socket.
    pub socket: PathBuf,
}

impl Control {
    /// The keys of `[control]`.
    pub(super) const KEYS: &'static [&'static str] = &["socket"];

    /// The socket that goes with a store: in the runtime directory for the store at its
    /// usual place, beside any other. Two daemons with two stores never share one.
    pub(super) fn of_store(store: &Path) -> Self {
        if store == Path::new(STORE_PATH) {
            return Self { socket: "/run/poolsync/control.sock".into() };
        }
        let mut socket = store.as_os_str().to_owned();
        socket.push(".sock");
        Self { socket: socket.into() }
    }

    /// The file that localised keys of SNMPv3 are kept in between runs, beside the socket: in
    /// the runtime directory, which is memory, with the store at its usual place.
    pub fn keys(&self) -> PathBuf {
        let mut keys = self.socket.as_os_str().to_owned();
        keys.push(".keys");
        keys.into()
    }

    pub(super) fn read(cx: &mut Context, section: &Section<'_>, default: Self) -> Self {
        Self { socket: section.read_or(cx, "socket", default.socket, file) }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["control"]);
        out.path("socket", &self.socket);
    }
}

/// `[mib]`: descriptors besides the built-in ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mib {
    /// A folder of descriptors that add to the built-in ones or replace them by name.
    pub folder: Option<PathBuf>,
}

impl Mib {
    /// The keys of `[mib]`.
    pub(super) const KEYS: &'static [&'static str] = &["folder"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        Self { folder: section.read(cx, "folder", path) }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        if let Some(folder) = &self.folder {
            out.table(&["mib"]);
            out.path("folder", folder);
        }
    }
}

/// `[log]`: what is written to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The least level that is written.
    pub level: LogLevel,
    /// Its form.
    pub format: LogFormat,
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

const LEVELS: [(&str, LogLevel); 5] = [
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

const FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];

impl LogLevel {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        word(&LEVELS, self)
    }
}

impl Log {
    /// The keys of `[log]`.
    pub(super) const KEYS: &'static [&'static str] = &["level", "format"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        Self {
            level: section.read_or(cx, "level", LogLevel::default(), |cx, n| choice(cx, n, &LEVELS)),
            format: section.read_or(cx, "format", LogFormat::default(), |cx, n| choice(cx, n, &FORMATS)),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["log"]);
        out.string("level", self.level.as_str());
        out.string("format", word(&FORMATS, self.format));
    }
}

/// The word of a choice.
pub(super) fn word<T: PartialEq>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |(word, _)| word)
}
