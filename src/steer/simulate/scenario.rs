//! What is simulated, apart from the policy.

use serde::{Deserialize, Serialize};

use super::network::Network;
use crate::steer::{Random, Ties};

/// Which of its own decisions a selector adds to the last report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counting {
    /// All of them.
    #[default]
    All,
    /// Those that found room.
    Accepted,
    /// None.
    None,
}

/// Network, traffic, and what selectors know.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The network.
    pub network: Network,
    /// How long a request is served, in the mean, in seconds.
    pub hold_s: f64,
    /// Between which means the time between two requests of a node is drawn, in seconds.
    pub gap_s: (f64, f64),
    /// How much more than the mean offered load a gateway holds.
    pub headroom: f64,
    /// The seconds between two reports of a gateway; 0: its load is always known.
    pub interval_s: f64,
    /// Whether gateways report one after the other, instead of all at once.
    pub staggered: bool,
    /// Which decisions are counted.
    pub counting: Counting,
    /// The mean time of service that selectors assume, in seconds, to let what they know fade;
    /// none: nothing fades until the next report.
    pub fading_s: Option<f64>,
    /// How many selectors there are, none of which knows what others decide.
    pub selectors: usize,
    /// What decides between equally loaded gateways.
    pub ties: Ties,
    /// Requests that are counted.
    pub calls: u64,
    /// The share of as many more before them that are not.
    pub warm_up: f64,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            network: Network::rings(),
            hold_s: 120.0,
            gap_s: (10.0, 50.0),
            headroom: 1.2,
            interval_s: 10.0,
            staggered: false,
            counting: Counting::All,
            fading_s: None,
            selectors: 1,
            ties: Ties::Place,
            calls: 200_000,
            warm_up: 0.1,
        }
    }
}

/// The traffic of one seed.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// Requests per second by node.
    pub(super) rates: Vec<f64>,
    /// What each gateway can hold.
    pub(super) capacities: Vec<u32>,
    /// All of it, in erlangs.
    pub(super) offered: f64,
}

/// The purposes that chance serves; each has a stream of its own, so that two policies meet
/// the same requests.
pub(super) mod purpose {
    pub(in super::super) const RATES: u64 = 1;
    pub(in super::super) const ARRIVALS: u64 = 2;
    pub(in super::super) const HOLDING: u64 = 3;
    pub(in super::super) const CHOICE: u64 = 4;
}

impl Scenario {
    pub(super) fn traffic(&self, seed: u64) -> Traffic {
        let mut random = Random::new(seed, purpose::RATES);
        let (least, most) = self.gap_s;
        let mut drawn = || 1.0 / (least + (most - least) * random.uniform());
        let nodes = self.network.distances.len();
        let rates = self.network.arrivals.clone().unwrap_or_else(|| (0..nodes).map(|_| drawn()).collect());
        let offered = rates.iter().sum::<f64>() * self.hold_s;
        let gateways = self.network.gateways.len();
        let each = (self.headroom * offered / gateways.max(1) as f64).ceil() as u32;
        let capacities = self.network.capacities.clone().unwrap_or_else(|| vec![each; gateways]);
        Traffic { rates, capacities, offered }
    }
}
