//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::act_args::{EdgeCommand, FreezeArgs, RollbackArgs, SignedArgs};
use super::old_args::{AgainstArgs, BasisArgs, CoverageArgs, ImportArgs};
use super::steer_args::{PlanArgs, SimulateArgs, StructureArgs};

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
    /// Say in words why an address is answered as it is, and what would change that.
    Explain(ExplainArgs),
    /// List the addresses that are claimed more than once, and which rule decided.
    Conflicts,
    /// List the generations; what became of addresses or of a BAS.
    History(HistoryArgs),
    /// Compare two generations, or an old table with this one; exit 4 where they differ.
    Diff(DiffArgs),
    /// Say how many viewers of a log an entry covers, and who the others are.
    Coverage(CoverageArgs),
    /// Make a static file of an old table, and name each line that cannot be read.
    Import(ImportArgs),
    /// Show the table's state, BAS by BAS and export by export.
    Status(StatusArgs),
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
    /// Copy the store to a file, also while the service runs.
    Backup(FileArgs),
    /// Put a copy in the place of the store; the service has to be stopped.
    Restore(FileArgs),
    /// Take the configuration up anew; a broken one changes nothing.
    Reload(ReloadArgs),
    /// Plan the edges of each region for the least mean delay, beside what is in force; publishes
    /// nothing. Exit 3 where some traffic has no place.
    Plan(PlanArgs),
    /// Propose capacities to rent for a problem given by hand. Exit 3 where some traffic has no
    /// place.
    Structure(StructureArgs),
    /// Simulate policies on a network: how often a request is blocked, and how far it goes.
    Simulate(SimulateArgs),
    /// List, show and check the descriptors of vendors' tables.
    #[command(subcommand)]
    Mib(MibCommand),
    /// Show the whole way on an embedded example; needs no network, no root, no files.
    Demo(DemoArgs),
    /// Make what a package ships: manual pages, completions, the service's unit.
    #[command(subcommand)]
    Generate(GenerateCommand),
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Print the configuration as it takes effect, with secrets masked.
    #[arg(long)]
    pub print: bool,
    /// Say a first word to every BAS: who answers, and what is the matter with the others; exit
    /// 3 where some are not ready, 1 where none is.
    #[arg(long, conflicts_with = "print")]
    pub connect: bool,
    /// Say what it would do to the table, and what would be held; exit 4 where it does anything.
    #[arg(long, conflicts_with = "print")]
    pub against_store: bool,
}

/// Arguments of `backup` and `restore`.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The copy.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Arguments of `reload`.
#[derive(Debug, Args)]
pub struct ReloadArgs {
    /// Let through what it does, if that is still what `check --against-store` showed under this
    /// digest.
    #[arg(long, value_name = "DIGEST")]
    pub accept: Option<String>,
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
    /// Forget first by which descriptor the named BASes are read and which of their tables ever
    /// had rows: for a router whose tables have changed for good.
    #[arg(long, requires = "bas", conflicts_with = "dry_run")]
    pub forget: bool,
    /// Why it is forgotten; kept with what was done.
    #[arg(long, value_name = "TEXT", requires = "forget")]
    pub reason: Option<String>,
    /// Who says so, besides the user who runs this.
    #[arg(long, alias = "name", value_name = "NAME", requires = "forget")]
    pub by: Option<String>,
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
    /// The lines of `-f template`: one that is built in (unbound, dnsdist, pdns-yaml,
    /// f5-topology, plain), or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub template: Option<String>,
    /// What the template's {name} stands for: the domain name that is answered for.
    #[arg(long, value_name = "DOMAIN", requires = "template")]
    pub name: Option<String>,
    /// What the template's {ttl} stands for, in seconds.
    #[arg(long, value_name = "SECONDS", requires = "template", default_value = "30")]
    pub ttl: u32,
    /// What the template's {nameserver} stands for.
    #[arg(long, value_name = "HOST", requires = "template")]
    pub nameserver: Option<String>,
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
    /// As it was published then: 2026-11-30T06:45:00Z or "2026-11-30 14:45:00 +08:00".
    #[arg(long, value_name = "TIME", conflicts_with = "generation")]
    pub at: Option<String>,
    /// As it was published at this generation.
    #[arg(long, value_name = "N")]
    pub generation: Option<u64>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The address.
    #[arg(value_name = "IP")]
    pub address: String,
    /// The address space.
    #[arg(long, value_name = "NAME", default_value = "internet")]
    pub space: String,
    /// The service whose edges answer.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub service: String,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// An address, a prefix, first-last, a BAS or an owner; the generations where none is named.
    #[arg(value_name = "PREFIX|BAS")]
    pub of: Option<String>,
    /// How many generations, the newest first.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub limit: u32,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The one generation; that before the other where none is named.
    #[arg(value_name = "A", conflicts_with = "against")]
    pub from: Option<u64>,
    /// The other; the newest where none is named.
    #[arg(value_name = "B")]
    pub to: Option<u64>,
    #[command(flatten)]
    pub old: AgainstArgs,
    /// Print what is found about an old table as CSV, a line each.
    #[arg(long, requires = "against", conflicts_with = "json")]
    pub csv: bool,
    /// How many lines of each list are shown of an old table.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    #[command(flatten)]
    pub basis: BasisArgs,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Show it again every two seconds, until interrupted.
    #[arg(long)]
    pub watch: bool,
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
        /// Its name, or a file.
        #[arg(value_name = "NAME|FILE")]
        name: String,
    },
    /// Check a descriptor file; with a recording, show row by row what comes of it.
    Check {
        /// The file.
        file: PathBuf,
        /// Replay this recording through it.
        #[arg(long, value_name = "FILE")]
        walk: Option<PathBuf>,
        /// The encoding of the recording's texts that are not UTF-8, as `gbk`.
        #[arg(long, value_name = "NAME", requires = "walk")]
        encoding: Option<String>,
    },
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where to write the store and the exports; a new folder under the temporary one if not given.
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// The commands under `generate`.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// The manual page of the program.
    Man {
        /// Write the pages of all commands to this folder instead.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// A script that completes commands and options.
    Completions {
        /// The shell.
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// The unit for systemd, with this program and the configuration in their places.
    Unit,
}
