//! Commands that an operator gave: a consumer's checker, its reload.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Failure, FailureReason};

/// How much of what a command said is kept: the end of it, which tells the error.
const KEPT_OUTPUT: usize = 4096;
/// For how long output is awaited after the command itself has ended: a child of its own
/// may hold the pipe open for ever.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// What stands for a path in arguments, and the path.
pub(super) type Placeholders = [(&'static str, PathBuf)];

/// What stands for the new table in a checker's arguments.
const FILE: &str = "{file}";

/// A program and its arguments; no shell reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argv(Vec<String>);

/// Why arguments make no command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgvError {
    /// There is no program.
    #[error("a command needs at least the program's name")]
    Empty,
    /// A checker that is not told which file to look at checks nothing.
    #[error("no argument of the checker holds `{{file}}`, which stands for the new file")]
    NoFile,
}

impl Argv {
    /// A command.
    ///
    /// # Errors
    /// Where there is no program.
    pub fn new(argv: Vec<String>) -> Result<Self, ArgvError> {
        if argv.first().is_none_or(String::is_empty) { Err(ArgvError::Empty) } else { Ok(Self(argv)) }
    }

    /// A checker: an argument of it must hold `{file}`.
    ///
    /// # Errors
    /// Where there is no program or no `{file}`.
    pub fn checker(argv: Vec<String>) -> Result<Self, ArgvError> {
        let argv = Self::new(argv)?;
        if argv.0.iter().skip(1).any(|a| a.contains(FILE)) { Ok(argv) } else { Err(ArgvError::NoFile) }
    }
}

/// How a command failed.
#[derive(Debug, Error)]
pub(super) enum CommandError {
    #[error("cannot run `{program}`: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("`{program}` did not end within {limit:?} and was killed{output}")]
    Timeout { program: String, limit: Duration, output: String },
    #[error("`{program}` ended with {status}{output}")]
    Exit { program: String, status: ExitStatus, output: String },
}

impl CommandError {
    pub(super) fn failure(&self, failed: FailureReason, late: FailureReason) -> Failure {
        let reason = if matches!(self, Self::Timeout { .. }) { late } else { failed };
        Failure::new(reason, self.to_string())
    }
}

/// Runs a command to its end. `placeholders` are replaced in each argument; input is empty;
/// the command has a process group of its own, so that a key pressed for the daemon does
/// not reach it.
pub(super) async fn run(
    argv: &Argv,
    placeholders: &Placeholders,
    directory: &Path,
    limit: Duration,
) -> Result<(), CommandError> {
    let program = argv.0.first().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    command
        .args(argv.0.iter().skip(1).map(|argument| fill(argument, placeholders)))
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let start = |source| CommandError::Start { program: program.clone(), source };
    let mut child = command.spawn().map_err(start)?;
    let output = Output::of(&mut child);
    match timeout(limit, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(CommandError::Exit { program, status, output: output.text().await }),
        Ok(Err(source)) => Err(start(source)),
        Err(_) => {
            // It may have ended just now; then there is nothing to kill.
            let _ = child.kill().await;
            Err(CommandError::Timeout { program, limit, output: output.text().await })
        }
    }
}

fn fill(argument: &str, placeholders: &Placeholders) -> String {
    placeholders
        .iter()
        .fold(argument.to_owned(), |text, (name, path)| text.replace(name, &path.display().to_string()))
}

/// The end of what a command says on both its outputs.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    readers: [JoinHandle<()>; 2],
}

impl Output {
    fn of(child: &mut Child) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let readers =
            [tokio::spawn(keep_end(out, Arc::clone(&kept))), tokio::spawn(keep_end(err, Arc::clone(&kept)))];
        Self { kept, readers }
    }

    /// The text, on one line, without control characters; empty where nothing was said.
    async fn text(mut self) -> String {
        for reader in &mut self.readers {
            if timeout(OUTPUT_GRACE, &mut *reader).await.is_err() {
                reader.abort();
            }
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let clean = lines.join(" | ").replace(char::is_control, " ");
        if clean.is_empty() { clean } else { format!(": {clean}") }
    }
}

/// Reads to the end, however much it is, and keeps the last of it.
async fn keep_end(source: Option<impl AsyncRead + Unpin>, kept: Arc<Mutex<Vec<u8>>>) {
    let Some(mut source) = source else { return };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let excess = kept.len().saturating_sub(KEPT_OUTPUT);
        kept.drain(..excess);
    }
}
