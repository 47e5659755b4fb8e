//! How a gateway is chosen in the simulation.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use thiserror::Error;

use crate::steer::plan::Weighing;
use crate::steer::select::{Ratio, SmoothWeighted, bounded, two_choices, weighted_random};
use crate::steer::shed;
use crate::steer::{Candidate, PlanRules, Policy, Random, Ranking, Ties};

/// A policy, as the simulation can run it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By chance.
    Uniform,
    /// One after the other.
    RoundRobin,
    /// By distance and load, for each request.
    Ranked(Ranking),
    /// The gateway with the least traffic, own decisions not counted.
    Statistics,
    /// Smooth weighted round robin by the static weights.
    SmoothWeighted,
    /// By chance and the static weights.
    WeightedRandom,
    /// A shuffled list by the static weights.
    Ratio,
    /// The same with the faults that it was published with.
    RatioAsPublished,
    /// The less loaded of two drawn by chance, of all or of the `d` nearest.
    TwoChoices(Option<NonZeroUsize>),
    /// The nearest that the request does not bring over this share of its capacity.
    Bounded(f64),
    /// A live policy: weights published at each report, and chance by them in between.
    Table(Policy),
}

/// What a hop is in the objective of a plan, beside the mean number in a queue.
const HOP: f64 = 0.1;

/// A method that there is not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no policy that can be simulated; there are uniform, round-robin, nearest, greedy, loadnear:D, nearload:D, statistics, smooth-weighted, weighted-random, ratio, ratio-as-published, p2c, p2c:D, bounded:SHARE, and table:POLICY for nearest, round-robin, weighted, statistics, greedy, loadnear:D, nearload:D, plan and shed:MODE"
)]
pub struct UnknownMethod(pub String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, UnknownMethod> {
        let unknown = || UnknownMethod(text.to_owned());
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let d = || parameter.and_then(|d| d.parse().ok()).ok_or_else(unknown);
        let method = match (name, parameter) {
            ("table", Some(policy)) => Self::Table(table(policy).ok_or_else(unknown)?),
            ("loadnear", Some(_)) => Self::Ranked(Ranking::LoadNear(d()?)),
            ("nearload", Some(_)) => Self::Ranked(Ranking::NearLoad(d()?)),
            ("p2c", Some(_)) => Self::TwoChoices(Some(d()?)),
            ("bounded", Some(share)) => {
                let share = share.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
                Self::Bounded(share.ok_or_else(unknown)?)
            }
            (_, Some(_)) => return Err(unknown()),
            ("uniform", None) => Self::Uniform,
            ("round-robin", None) => Self::RoundRobin,
            ("nearest", None) => Self::Ranked(Ranking::Nearest),
            ("greedy", None) => Self::Ranked(Ranking::Greedy),
            ("statistics", None) => Self::Statistics,
            ("smooth-weighted", None) => Self::SmoothWeighted,
            ("weighted-random", None) => Self::WeightedRandom,
            ("ratio", None) => Self::Ratio,
            ("ratio-as-published", None) => Self::RatioAsPublished,
            ("p2c", None) => Self::TwoChoices(None),
            _ => return Err(unknown()),
        };
        Ok(method)
    }
}

fn table(text: &str) -> Option<Policy> {
    let (name, parameter) = text.split_once(':').map_or((text, None), |(name, p)| (name, Some(p)));
    let d = || parameter.and_then(|d| d.parse().ok());
    match (name, parameter) {
        ("loadnear", Some(_)) => Some(Policy::LoadNear(d()?)),
        ("nearload", Some(_)) => Some(Policy::NearLoad(d()?)),
        ("shed", Some(mode)) => {
            let mode = match mode {
                "sending" => shed::Mode::Sending,
                "receiving" => shed::Mode::Receiving,
                "fixed" => shed::Mode::Fixed,
                "variable" => shed::Mode::Variable,
                _ => return None,
            };
            Some(Policy::Shed(shed::Rules { mode, ..shed::Rules::default() }))
        }
        (_, Some(_)) => None,
        ("nearest", None) => Some(Policy::Nearest),
        ("round-robin", None) => Some(Policy::RoundRobin),
        ("weighted", None) => Some(Policy::Weighted),
        ("statistics", None) => Some(Policy::Statistics),
        ("greedy", None) => Some(Policy::Greedy),
        ("plan", None) => Some(Policy::Plan(PlanRules {
            // Gateways are loaded to five sixths of what they hold; and their distances are hops.
            weighing: Weighing { bound: 0.95, ..Weighing::default() },
            delay_unit: HOP,
            ..PlanRules::default()
        })),
        _ => None,
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::RoundRobin => f.write_str("round-robin"),
            Self::Ranked(Ranking::Nearest) => f.write_str("nearest"),
            Self::Ranked(Ranking::Greedy) => f.write_str("greedy"),
            Self::Ranked(Ranking::LoadNear(d)) => write!(f, "loadnear:{d}"),
            Self::Ranked(Ranking::NearLoad(d)) => write!(f, "nearload:{d}"),
            Self::Statistics => f.write_str("statistics"),
            Self::SmoothWeighted => f.write_str("smooth-weighted"),
            Self::WeightedRandom => f.write_str("weighted-random"),
            Self::Ratio => f.write_str("ratio"),
            Self::RatioAsPublished => f.write_str("ratio-as-published"),
            Self::TwoChoices(None) => f.write_str("p2c"),
            Self::TwoChoices(Some(d)) => write!(f, "p2c:{d}"),
            Self::Bounded(share) => write!(f, "bounded:{share}"),
            Self::Table(Policy::LoadNear(d)) => write!(f, "table:loadnear:{d}"),
            Self::Table(Policy::NearLoad(d)) => write!(f, "table:nearload:{d}"),
            Self::Table(Policy::Shed(rules)) => {
                write!(f, "table:shed:{}", format!("{:?}", rules.mode).to_lowercase())
            }
            Self::Table(policy) => write!(f, "table:{}", policy.name()),
        }
    }
}

impl Method {
    /// Without its `d`, and that.
    pub(super) fn family(&self) -> (String, Option<usize>) {
        match self {
            Self::Ranked(Ranking::LoadNear(d)) => ("loadnear".to_owned(), Some(d.get())),
            Self::Ranked(Ranking::NearLoad(d)) => ("nearload".to_owned(), Some(d.get())),
            Self::Table(Policy::LoadNear(d)) => ("table:loadnear".to_owned(), Some(d.get())),
            Self::Table(Policy::NearLoad(d)) => ("table:nearload".to_owned(), Some(d.get())),
            Self::TwoChoices(Some(d)) => ("p2c".to_owned(), Some(d.get())),
            other => (other.to_string(), None),
        }
    }
}

/// One selector at work.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    method: Method,
    turn: usize,
    smooth: SmoothWeighted,
    ratio: Ratio,
    weights: Vec<u32>,
    scratch: Vec<(usize, Candidate)>,
}

impl Selector {
    pub(super) fn new(method: Method, weights: &[u32], random: &mut Random) -> Self {
        let stream = Random::new(random.bits(), 0);
        let ratio = match method {
            Method::RatioAsPublished => Ratio::as_published(weights, stream),
            _ => Ratio::new(weights, stream),
        };
        Self {
            method,
            turn: 0,
            smooth: SmoothWeighted::new(weights),
            ratio,
            weights: weights.to_vec(),
            scratch: Vec::new(),
        }
    }

    /// The gateway for a request; none where the method gives none.
    pub(super) fn choose(
        &mut self,
        candidates: &[Candidate],
        ties: Ties,
        random: &mut Random,
    ) -> Option<usize> {
        match self.method {
            Method::Uniform => Some(random.below(candidates.len())),
            Method::RoundRobin => {
                let place = self.turn;
                self.turn = (place + 1) % candidates.len().max(1);
                Some(place)
            }
            Method::Ranked(ranking) => ranking.choose_with(candidates, ties, &mut self.scratch),
            Method::Statistics => Ranking::Greedy.choose(candidates, ties),
            Method::SmoothWeighted => self.smooth.choose(),
            Method::WeightedRandom => {
                let sum: u32 = self.weights.iter().sum();
                weighted_random(&self.weights, random.below(sum as usize) as u32)
            }
            Method::Ratio | Method::RatioAsPublished => self.ratio.choose(),
            Method::TwoChoices(d) => two_choices(candidates, d, random),
            Method::Bounded(share) => bounded(candidates, share),
            // The table's weights are its own.
            Method::Table(_) => None,
        }
    }
}
