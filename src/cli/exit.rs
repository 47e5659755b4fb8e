//! Exit codes.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Ok,
    /// 1: not done.
    Failed,
    /// 2: it was asked for wrongly.
    Usage,
    /// 3: done, but something could not be read or published.
    Incomplete,
    /// 4: something is held, or differs; goes before 3.
    Held,
    /// 78: the configuration is broken.
    Config,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Incomplete => 3,
            Exit::Held => 4,
            Exit::Config => 78,
        })
    }
}
