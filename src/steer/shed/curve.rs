//! The share that is forwarded, as a function of delays.

use serde::{Deserialize, Serialize};

/// Which delays the share follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The sender's.
    #[default]
    Sending,
    /// The receiver's, on a line.
    Receiving,
    /// The receiver's, in four levels.
    Fixed,
    /// Half of each.
    Variable,
}

/// The line of the receiving mode. Its ends are not told by what was published; these fit it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Receiving {
    /// The share for a receiver without delay.
    pub high: f64,
    /// The share at half the threshold, where the line ends.
    pub low: f64,
    /// The share from there up to the threshold.
    pub fixed: f64,
}

impl Default for Receiving {
    fn default() -> Self {
        Self { high: 1.0, low: 0.4, fixed: 0.1 }
    }
}

/// How shares are made. The delays of all curves stand in fixed proportions to the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Which delays the share follows.
    pub mode: Mode,
    /// The delay, in ms, over which an edge sheds and from which it receives nothing.
    pub threshold_ms: f64,
    /// The largest share that is shed.
    pub cap: f64,
    /// The line of the receiving mode.
    pub receiving: Receiving,
    /// The shares of the four levels of readiness of the fixed mode.
    pub levels: [f64; 4],
    /// The weight of the newest delay in the smoothed one.
    pub smoothing: f64,
    /// The part of the level by which the share grows in one cycle.
    pub gain: f64,
    /// What it grows by in any case.
    pub least: f64,
    /// What it shrinks by in one cycle.
    pub decay: f64,
    /// How much of its capacity a receiver may be brought to.
    pub bound: f64,
    /// After how many cycles what was shed shows in the receiver's load.
    pub lag: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            threshold_ms: 140.0,
            cap: 0.4,
            receiving: Receiving::default(),
            levels: [0.1, 0.2, 0.3, 0.4],
            smoothing: 0.3,
            gain: 0.25,
            least: 0.005,
            decay: 0.01,
            bound: 0.8,
            lag: 2,
        }
    }
}

/// Where the sender's curve bends, in thresholds; it gains a quarter on each line.
const BENDS: [f64; 5] = [1.0, 230.0 / 140.0, 440.0 / 140.0, 850.0 / 140.0, 1600.0 / 140.0];
/// The borders of readiness, in thresholds below the threshold.
const BORDERS: [f64; 3] = [0.125, 0.25, 0.5];
/// Under which part of the threshold an edge no longer sheds.
const LEAVE: f64 = 100.0 / 140.0;

impl Rules {
    /// Under which delay, in ms, the share shrinks.
    pub fn leave_ms(&self) -> f64 {
        self.threshold_ms * LEAVE
    }

    /// How urgent a sender's delay is: 0 up to the threshold, 1 from the last bend on.
    pub fn urgency(&self, sender_ms: f64) -> f64 {
        let delay = sender_ms / self.threshold_ms;
        let lines = BENDS.iter().zip(BENDS.iter().skip(1));
        lines.map(|(from, to)| 0.25 * ((delay - from) / (to - from)).clamp(0.0, 1.0)).sum()
    }

    /// How ready a receiver is, from 0 (at the threshold or over it) to 4. A border belongs to
    /// the lower level.
    pub fn readiness(&self, receiver_ms: f64) -> usize {
        let below = 1.0 - receiver_ms / self.threshold_ms;
        if below <= 0.0 { 0 } else { 1 + BORDERS.iter().filter(|border| below > **border).count() }
    }

    /// What a receiver's delay lets it take.
    pub fn welcome(&self, receiver_ms: f64) -> f64 {
        let delay = receiver_ms / self.threshold_ms;
        let line = self.receiving;
        if delay >= 1.0 {
            0.0
        } else if delay > 0.5 {
            line.fixed
        } else {
            line.high + (line.low - line.high) * delay / 0.5
        }
    }

    /// The share that the mode sets for two delays, in ms, without memory: nought unless the
    /// sender is over the threshold and the receiver under it. The cap is not applied, except
    /// that the sending mode is a part of it.
    pub fn level(&self, sender_ms: f64, receiver_ms: f64) -> f64 {
        if sender_ms <= self.threshold_ms || receiver_ms >= self.threshold_ms {
            return 0.0;
        }
        match self.mode {
            Mode::Sending => self.urgency(sender_ms) * self.cap,
            Mode::Receiving => self.welcome(receiver_ms),
            Mode::Fixed => {
                let level = self.readiness(receiver_ms);
                level.checked_sub(1).and_then(|place| self.levels.get(place)).copied().unwrap_or(0.0)
            }
            Mode::Variable => 0.5 * self.urgency(sender_ms) + 0.5 * self.welcome(receiver_ms),
        }
    }
}
