//! What a process has used.

use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

/// What a program has used, and what it did with that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// In seconds.
    pub(crate) wall: f64,
    /// Processor time in seconds.
    pub(crate) cpu: f64,
    /// The most memory in MB; 0 where nobody looked.
    pub(crate) rss: f64,
    /// Cells, or ranges, that it came to.
    pub(crate) values: f64,
    /// Requests that it sent; 0 where nobody counted.
    pub(crate) requests: f64,
}

/// A measurement that runs.
pub(crate) struct Meter {
    begun: Instant,
    cpu: f64,
}

/// Processor time so far, in seconds.
fn cpu_of(who: UsageWho) -> f64 {
    let usage = getrusage(who).unwrap();
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { begun: Instant::now(), cpu: cpu_of(UsageWho::RUSAGE_SELF) }
    }

    /// Prints what it came to, as `scenarios` reads it: seconds, seconds, MB, and what was
    /// done for it.
    pub(crate) fn tell(&self, name: &str, values: u64, requests: u64) {
        let (wall, cpu) = (self.begun.elapsed().as_secs_f64(), cpu_of(UsageWho::RUSAGE_SELF) - self.cpu);
        let peak = getrusage(UsageWho::RUSAGE_SELF).unwrap().max_rss() as f64 / 1024.0;
        println!("{name} wall {wall:.5} cpu {cpu:.5} rss {peak:.1} values {values} requests {requests}");
    }
}

/// Processor time of the processes that this one has waited for, in seconds.
pub(crate) fn children() -> f64 {
    cpu_of(UsageWho::RUSAGE_CHILDREN)
}
