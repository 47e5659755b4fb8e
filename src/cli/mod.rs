//! The commands: arguments in, a report and an exit code out.

mod args;
mod exit;
mod mib;
mod output;
mod reports;
mod site;
mod stop;
mod text;
mod walk;

pub use args::Cli;
pub use exit::Exit;
