//! The commands: arguments in, a report and an exit code out.

mod args;
mod exit;
mod output;
mod reports;
mod text;

pub use args::Cli;
pub use exit::Exit;
