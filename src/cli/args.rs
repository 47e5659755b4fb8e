//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::act_args::{EdgeCommand, FreezeArgs, RollbackArgs, SignedArgs};

/// Keeps a CDN's routing table true by reading address pools from broadband routers.
#[derive(Debug, Parser)]
#[command(name = "poolsync", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// The configuration file.
    #[arg(short, long, global = true, value_name = "FILE", default_value = "/etc/poolsync/config.toml")]
    pub config: PathBuf,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run as a service: poll on schedule, keep the table, publish it.
    Run,
    /// Check the configuration and say what it leads to.
    Check(CheckArgs),
    /// Walk one BAS once and show its ranges; changes nothing.
    Walk(WalkArgs),
    /// Poll BASes now, commit and publish what comes of it.
    Poll(PollArgs),
    /// Write the table in a format.
    Export(ExportArgs),
    /// Say which entry and which edges answer an address.
    Lookup(LookupArgs),
    /// Show the table's state, BAS by BAS and export by export.
    Status,
    /// Show, approve and reject changes that the guard keeps back.
    #[command(subcommand)]
    Held(HeldCommand),
    /// List the edges, drain one, take one up again.
    #[command(subcommand)]
    Edge(EdgeCommand),
    /// Publish the ranges of an earlier generation, until that is released.
    Rollback(RollbackArgs),
    /// Keep what is published as it is, whatever polls find.
    Freeze(FreezeArgs),
    /// Publish again what polls and approvals have come to.
    Unfreeze(SignedArgs),
    /// Have the running service read its configuration anew; a broken one changes nothing.
    Reload,
    /// List, show and check the descriptors of vendors' tables.
    #[command(subcommand)]
    Mib(MibCommand),
    /// Show the whole way on an embedded example; needs no network, no root, no files.
    Demo(DemoArgs),
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Print the configuration as it takes effect, with secrets masked.
    #[arg(long)]
    pub print: bool,
}

/// Arguments of `walk`.
#[derive(Debug, Args)]
pub struct WalkArgs {
    /// A configured BAS, or an address: 192.0.2.9, 192.0.2.9:1161, [2001:db8::1]:161.
    #[arg(value_name = "BAS|ADDRESS", required_unless_present = "replay")]
    pub target: Option<String>,
    /// Speak to the address as this `[snmp.NAME]` of the configuration says.
    #[arg(long, value_name = "NAME", conflicts_with = "community_env")]
    pub snmp: Option<String>,
    /// Speak SNMPv2c with the community in this environment variable; needs no configuration.
    #[arg(long, value_name = "VAR")]
    pub community_env: Option<String>,
    /// Read it by this descriptor: a name, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub mib: Option<String>,
    /// Print every object of the descriptor's tables as received.
    #[arg(long)]
    pub raw: bool,
    /// Write what is received to a recording that `--replay` reads.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Walk this recording instead of a router.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["snmp", "community_env", "save"])]
    pub replay: Option<PathBuf>,
}

/// Arguments of `poll`.
#[derive(Debug, Args)]
pub struct PollArgs {
    /// The BASes; all where none is named.
    #[arg(value_name = "BAS")]
    pub bas: Vec<String>,
    /// Poll and judge, but commit and publish nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Publish although not enough of the fleet has been read.
    #[arg(long)]
    pub publish: bool,
    /// Poll also BASes that are backing off after failures.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The format.
    #[arg(short, long, default_value = "json")]
    pub format: String,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Only this address space.
    #[arg(long, value_name = "NAME")]
    pub space: Option<String>,
    /// The service whose edges answer.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub service: String,
    /// The table as it was at this generation.
    #[arg(long, value_name = "N")]
    pub generation: Option<u64>,
}

/// Arguments of `lookup`.
#[derive(Debug, Args)]
pub struct LookupArgs {
    /// Addresses; `-` reads them from standard input, one a line.
    #[arg(value_name = "IP|-", required = true)]
    pub addresses: Vec<String>,
    /// The address space.
    #[arg(long, value_name = "NAME", default_value = "internet")]
    pub space: String,
    /// The service whose edges answer.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub service: String,
}

/// The commands under `held`.
#[derive(Debug, Subcommand)]
pub enum HeldCommand {
    /// What waits for a person.
    List,
    /// One held change, address by address.
    Show {
        /// Its number.
        id: u64,
    },
    /// Let held changes through.
    Approve(ApproveArgs),
    /// Keep held changes held: polls do not confirm them any more.
    Reject(ApproveArgs),
}

/// Arguments of `held approve` and `held reject`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The numbers of held changes.
    #[arg(value_name = "ID", required_unless_present_any = ["incident", "bas"])]
    pub ids: Vec<u64>,
    /// All that belongs to this incident.
    #[arg(long, value_name = "N")]
    pub incident: Option<u64>,
    /// All of the BASes whose name matches; `*` and `?` as in a shell.
    #[arg(long, value_name = "GLOB")]
    pub bas: Option<String>,
    /// Only if it still is what had this digest.
    #[arg(long, value_name = "HEX")]
    pub digest: Option<String>,
    #[command(flatten)]
    pub signed: SignedArgs,
}

/// The commands under `mib`.
#[derive(Debug, Subcommand)]
pub enum MibCommand {
    /// The descriptors that are known.
    List,
    /// What a descriptor reads from a box, in words.
    Show {
        /// Its name.
        name: String,
    },
    /// Check a descriptor file.
    Check {
        /// The file.
        file: PathBuf,
    },
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where to write the store and the exports; a new folder under the temporary one if not given.
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
