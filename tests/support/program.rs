//! A running program: started with a log, waited for by asking it, ended by its process id.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take to be ready or to end. Generous: the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often a condition is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// A program that a test started.
pub struct Program {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Starts a program whose output goes to a log file.
    pub fn start(command: &mut Command, log: &Path) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let out = File::create(log).unwrap();
        let err = out.try_clone().unwrap();
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        let child = child.unwrap_or_else(|e| panic!("{name} does not start: {e}"));
        Self { name, child, log: log.to_owned() }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Waits until `ready` says so; panics with the log where the program ends before, or
    /// patience does.
    pub fn wait_ready(&mut self, what: &str, mut ready: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !ready() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{} ended ({status}) before {what}; its log:\n{}", self.name, self.log());
            }
            assert!(
                Instant::now() < end,
                "{}: waited in vain for {what}; its log:\n{}",
                self.name,
                self.log()
            );
            thread::sleep(LOOK);
        }
    }

    /// Sends a signal by its name (`TERM`, `HUP`).
    pub fn signal(&self, signal: &str) {
        send_signal(self.pid(), signal);
    }

    /// Waits for its end, or panics with the log.
    pub fn wait_end(&mut self, limit: Duration) -> ExitStatus {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "{} does not end; its log:\n{}", self.name, self.log());
            thread::sleep(LOOK);
        }
    }

    /// SIGKILL, and the end of it.
    pub fn kill(&mut self) -> ExitStatus {
        // An error means that it has ended already.
        let _ = self.child.kill();
        self.child.wait().unwrap()
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Program {
    /// SIGTERM first, so that a program with workers takes them along, then SIGKILL.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.pid())]).status();
            let end = Instant::now() + Duration::from_secs(5);
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
                thread::sleep(LOOK);
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- log of {}\n{}\n---", self.name, self.log());
        }
    }
}

/// Sends a signal to a process that the test started.
pub fn send_signal(pid: u32, signal: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{signal} {pid}")]).status().unwrap();
    assert!(status.success(), "no signal {signal} to {pid}");
}

/// Waits for a condition that is no program's start.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(LOOK);
    }
}
