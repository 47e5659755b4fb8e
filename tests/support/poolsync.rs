//! Runs the program under test.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::program::Program;
use super::{junose, site};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_poolsync");

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it gave.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Outcome {
    /// The outcome, where it ended with this code; else the test fails and shows all of it.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// What it gave, as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("no JSON ({e})\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr))
    }

    /// The outcome, where it said all of these.
    #[track_caller]
    pub fn said(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "it does not say {text:?}:\n{}", self.stderr);
        }
        self
    }
}

/// A command of the program, with nothing of the caller's environment that it reads.
pub fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).env("NO_COLOR", "1").env(site::COMMUNITY_ENV, junose::COMMUNITY);
    for variable in ["NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY", "JOURNAL_STREAM", "POOLSYNC_LOG"] {
        command.env_remove(variable);
    }
    command
}

/// Runs a command to its end.
pub fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Outcome {
    run_command(command(args))
}

/// Runs a command with a configuration file.
pub fn run_with(config: &Path, args: &[&str]) -> Outcome {
    let mut all = vec![OsStr::new("-c"), config.as_os_str()];
    all.extend(args.iter().map(OsStr::new));
    run(all)
}

/// Runs a prepared command to its end; one that does not end within two minutes is killed
/// and fails the test.
pub fn run_command(command: Command) -> Outcome {
    let output = assert_cmd::Command::from_std(command).timeout(Duration::from_secs(120)).output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts the daemon; its log goes to a file.
pub fn daemon(config: &Path, log: &Path) -> Program {
    Program::start(&mut command([OsStr::new("-c"), config.as_os_str(), OsStr::new("run")]), log)
}
