//! What may be typed of plans and simulations.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::steer::Ties;
use crate::steer::simulate::Counting;

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Solve this problem instead of planning the configured regions: JSON with `surplus`,
    /// `capacity` and `delay`, and where wanted `model`, `bound`, `w1`, `w2`, `cost` and `w3`.
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// Only these regions.
    #[arg(long = "region", value_name = "NAME", conflicts_with = "problem")]
    pub regions: Vec<String>,
}

/// Arguments of `structure`.
#[derive(Debug, Args)]
pub struct StructureArgs {
    /// The problem: as for `plan`, with what each node costs as `cost` and its weight `w3`. The
    /// capacities are what can be had at most.
    #[arg(long, value_name = "FILE")]
    pub problem: PathBuf,
    /// How much to rent for one unit of load.
    #[arg(long, value_name = "FACTOR", default_value_t = crate::steer::plan::RESERVE)]
    pub reserve: f64,
}

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The policies: uniform, round-robin, nearest, greedy, loadnear:D, nearload:D, statistics,
    /// smooth-weighted, weighted-random, ratio, ratio-as-published, p2c, p2c:D, bounded:SHARE, and
    /// table:POLICY for weights as they are published.
    #[arg(
        long = "policy",
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "nearest,uniform,round-robin,nearload:3,loadnear:10,greedy"
    )]
    pub policies: Vec<String>,
    /// Runs `loadnear`, `nearload` and `p2c` without a parameter with each of these.
    #[arg(long, value_name = "D,...", value_delimiter = ',')]
    pub d: Vec<usize>,
    /// Seconds between two reports of a gateway; 0: its load is always known.
    #[arg(long, value_name = "S,...", value_delimiter = ',', default_value = "10,60,300")]
    pub interval: Vec<f64>,
    /// A network of your own: JSON with `links` as pairs of names and the names of `gateways`, and
    /// where wanted `arrivals`, `capacity` and `weight` by name. Built in: 84 nodes in rings.
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
    /// The first seed. The same arguments give the same figures.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many seeds are run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Requests that are counted for each policy, interval and seed.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub calls: u64,
    /// How long a request is served, in the mean, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120.0)]
    pub hold: f64,
    /// How much more than the mean offered load a gateway holds.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.2)]
    pub headroom: f64,
    /// Gateways report one after the other, instead of all at once.
    #[arg(long)]
    pub staggered: bool,
    /// Let what selectors know fade with this mean, in seconds, until the next report.
    #[arg(long, value_name = "S")]
    pub fading: Option<f64>,
    /// Which of its own decisions a selector adds to the last report.
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub counting: CountingArg,
    /// How many selectors there are, none of which knows what others decide.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub selectors: u16,
    /// What decides between equally loaded gateways.
    #[arg(long, value_name = "WHAT", default_value = "place")]
    pub ties: TiesArg,
    /// Draw blocking and path length, by interval and by d, to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Which decisions are counted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CountingArg {
    /// All.
    All,
    /// Those that found room.
    Accepted,
    /// None.
    None,
}

/// What decides between equals.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TiesArg {
    /// The order of the gateways.
    Place,
    /// The distance.
    Distance,
}

impl From<CountingArg> for Counting {
    fn from(arg: CountingArg) -> Self {
        match arg {
            CountingArg::All => Self::All,
            CountingArg::Accepted => Self::Accepted,
            CountingArg::None => Self::None,
        }
    }
}

impl From<TiesArg> for Ties {
    fn from(arg: TiesArg) -> Self {
        match arg {
            TiesArg::Place => Self::Place,
            TiesArg::Distance => Self::Distance,
        }
    }
}
