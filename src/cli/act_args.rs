//! What may be typed of acts of an operator.

use clap::{Args, Subcommand};
use jiff::SignedDuration;

/// Who does it, and why.
#[derive(Clone, Debug, Args)]
pub struct SignedArgs {
    /// Why; kept with what was done.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who says so, besides the user who runs this.
    #[arg(long, alias = "name", value_name = "NAME")]
    pub by: Option<String>,
}

/// The commands under `edge`.
#[derive(Debug, Subcommand)]
pub enum EdgeCommand {
    /// The edges, and which of them are drained.
    List,
    /// Take an edge out of every group; what has no other edge goes to the default one.
    Drain(DrainArgs),
    /// Take a drained edge up again.
    Undrain {
        /// Its name.
        name: String,
        #[command(flatten)]
        signed: SignedArgs,
    },
}

/// Arguments of `edge drain`.
#[derive(Debug, Args)]
pub struct DrainArgs {
    /// Its name.
    pub name: String,
    /// Why, for those who find it so.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Who says so, besides the user who runs this.
    #[arg(long, alias = "name", value_name = "NAME")]
    pub by: Option<String>,
}

/// Arguments of `rollback`.
#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// The generation whose ranges are to be published; `poolsync history` lists them.
    #[arg(value_name = "N", required_unless_present = "release")]
    pub generation: Option<u64>,
    /// Publish again what polls and approvals have come to.
    #[arg(long, conflicts_with_all = ["generation", "lasts"])]
    pub release: bool,
    #[command(flatten)]
    pub lasts: LastsArgs,
    #[command(flatten)]
    pub signed: SignedArgs,
}

/// Arguments of `freeze`.
#[derive(Debug, Args)]
pub struct FreezeArgs {
    #[command(flatten)]
    pub lasts: LastsArgs,
    #[command(flatten)]
    pub signed: SignedArgs,
}

/// For how long a pin holds.
#[derive(Debug, Args)]
pub struct LastsArgs {
    /// For how long, as 30m or 2h; 24 hours where nothing is said, and at most.
    #[arg(long = "for", id = "lasts", value_name = "DURATION")]
    pub lasts: Option<SignedDuration>,
}

impl LastsArgs {
    /// In seconds; a part of one counts as a whole.
    pub(super) fn seconds(&self) -> Option<u64> {
        let seconds = |lasts: SignedDuration| lasts.as_millis_f64().max(0.0) / 1000.0;
        self.lasts.map(|lasts| seconds(lasts).ceil() as u64)
    }
}
