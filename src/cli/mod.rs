//! The commands: arguments in, a report and an exit code out.

mod act_args;
mod act_reports;
mod acts;
mod against;
mod args;
mod basis;
mod check;
mod connect;
mod coverage;
mod demo;
mod exit;
mod export_reports;
mod generate;
mod held;
mod keep;
mod mib;
mod old_args;
mod old_table;
mod output;
mod owner;
mod past;
mod past_reports;
mod poll;
mod read;
mod recordings;
mod reports;
mod run;
mod site;
mod steer;
mod steer_args;
mod steer_reports;
mod stop;
mod text;
mod walk;
mod walk_report;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Command, HeldCommand};
use stop::Stop;

pub use args::Cli;
pub use exit::Exit;

/// Runs what the process's arguments say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            output::complain(&format!("poolsync: no runtime: {e}"));
            return Exit::Failed.into();
        }
    };
    match runtime.block_on(dispatch(&cli)) {
        Ok(exit) => exit.into(),
        Err(Stop { exit, message }) => {
            output::complain(&format!("poolsync: {}", message.trim_end()));
            exit.into()
        }
    }
}

async fn dispatch(cli: &Cli) -> Result<Exit, Stop> {
    let (config, json) = (cli.config.as_path(), cli.json);
    if !matches!(cli.command, Command::Run) {
        crate::logging::init("error", crate::logging::LogFormat::Text);
    }
    match &cli.command {
        Command::Backup(args) => keep::backup(args, config, json).await,
        Command::Restore(args) => keep::restore(args, config, json).await,
        Command::Check(args) => check::run(args, config, json).await,
        Command::Edge(command) => acts::edge(command, config, json).await,
        Command::Freeze(args) => acts::freeze(args, config, json).await,
        Command::Rollback(args) => acts::rollback(args, config, json).await,
        Command::Unfreeze(signed) => acts::unfreeze(signed, config, json).await,
        Command::Export(args) => read::export(args, config).await,
        Command::Held(HeldCommand::Approve(args)) => held::approve(args, config, json).await,
        Command::Held(HeldCommand::Reject(args)) => held::reject(args, config, json).await,
        Command::Held(HeldCommand::List) => read::held_list(config, json).await,
        Command::Held(HeldCommand::Show { id }) => read::held_show(*id, config, json).await,
        Command::Lookup(args) => read::lookup(args, config, json).await,
        Command::Mib(command) => mib::run(command, config, json),
        Command::Poll(args) => poll::run(args, config, json).await,
        Command::Conflicts => past::conflicts(config, json).await,
        Command::Coverage(args) => coverage::run(args, config, json).await,
        Command::Import(args) => old_table::import(args, config, json),
        Command::Diff(args) if args.old.against.is_some() => against::run(args, config, json).await,
        Command::Diff(args) => past::diff(args, config, json).await,
        Command::Explain(args) => past::explain(args, config, json).await,
        Command::History(args) => past::history(args, config, json).await,
        Command::Status(args) => past::status(args, config, json).await,
        Command::Walk(args) => walk::run(args, config, json).await,
        Command::Plan(args) => steer::plan(args, config, json).await,
        Command::Structure(args) => steer::structure(args, json),
        Command::Simulate(args) => steer::simulate(args, json).await,
        Command::Run => run::run(config).await,
        Command::Reload(args) => run::reload(args, config, json).await,
        Command::Demo(args) => demo::run(args, json).await,
        Command::Generate(command) => generate::run(command, config, json),
    }
}
