//! Where log lines go: standard error, as text for a terminal or the journal, or as JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text; without times where the journal adds its own.
    #[default]
    Text,
}

/// Sets the process's log up. `level` is used where `POOLSYNC_LOG` says nothing. A second
/// call changes nothing.
pub fn init(level: &str, format: LogFormat) {
    let filter = EnvFilter::try_from_env("POOLSYNC_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    let _already_set = match format {
        LogFormat::Json => lines.json().try_init(),
        LogFormat::Text if journal => lines.without_time().try_init(),
        LogFormat::Text => lines.try_init(),
    };
}
