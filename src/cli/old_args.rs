//! What may be typed of old tables and logs: `import`, `diff --against`, `coverage`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The old table: CSV, nginx geo, gdnsd nets, CZF, BIND ACL, HAProxy map, or an export of
    /// poolsync; packed by gzip or zstd or not; `-` reads standard input.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// Write the static file here; standard output where nothing is said.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Replace what stands there.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The table's format; told by its content where nothing is said.
    #[arg(short, long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// What the columns of a CSV hold, left to right: range, first, last, mask, length, bas,
    /// edges, name, space, and - for the others.
    #[arg(long, value_name = "COLUMN,...")]
    pub columns: Option<String>,
}

/// An old table beside the table.
#[derive(Debug, Args)]
pub struct AgainstArgs {
    /// An old table, in any format that `import` reads.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Its format; told by its content where nothing is said.
    #[arg(long, value_name = "FORMAT", requires = "against")]
    pub against_format: Option<String>,
    /// What the columns of a CSV hold, left to right: range, first, last, mask, length, bas,
    /// edges, name, space, and - for the others.
    #[arg(long, value_name = "COLUMN,...", requires = "against")]
    pub columns: Option<String>,
}

/// Which table is meant.
#[derive(Debug, Args)]
pub struct BasisArgs {
    /// The address space.
    #[arg(long, value_name = "NAME", default_value = "internet")]
    pub space: String,
    /// The service whose edges answer.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub service: String,
    /// Take what the routers list now, and commit and publish nothing. Without a table in the
    /// store that is done in any case.
    #[arg(long)]
    pub poll: bool,
}

/// Arguments of `coverage`.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// A log, packed by gzip or zstd or not: an address a line, a log that begins with it, or
    /// JSON a line; `-` reads standard input.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// The address is this field of a line, from 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub field: Option<u32>,
    /// What stands between fields; blanks where nothing is said.
    #[arg(long, value_name = "CHARACTER", requires = "field")]
    pub separator: Option<String>,
    /// The lines are JSON, and this key has the address; `.` leads into objects.
    #[arg(long, value_name = "KEY", conflicts_with = "field")]
    pub key: Option<String>,
    /// The key that has the time.
    #[arg(long, value_name = "KEY", requires = "key")]
    pub time_key: Option<String>,
    /// Known resolvers, counted apart: an address, a prefix or first-last a line, a name behind
    /// it or not.
    #[arg(long, value_name = "FILE")]
    pub resolvers: Option<PathBuf>,
    #[command(flatten)]
    pub old: AgainstArgs,
    /// How many lines of each list are shown, and how many prefixes with misses are told.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Draw a plot here: the share of misses over time, or requests by edge.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub basis: BasisArgs,
}
