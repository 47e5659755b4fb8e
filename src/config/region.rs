//! How regions are steered: `[steer.REGION]`.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::context::Context;
use super::error::Problem;
use super::node::{Entry, Node};
use super::poll::share;
use super::print::{self, Writer};
use super::quantity::Share;
use super::section::Section;
use super::service::word;
use super::value::{boolean, choice, duration, integer, number, some};
use crate::steer::plan::{Model, Weighing};
use crate::steer::shed::{Mode, Receiving, Rules};
use crate::steer::{Damping, PlanRules, Policy};

/// `[steer.REGION]`: how the lists of edges of a region are steered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steer {
    /// The policy, with all that belongs to it.
    pub policy: Policy,
    /// When weights move, and how far.
    pub damping: Damping,
    /// How long a session lasts, in the mean; unknown where nothing is said.
    pub session: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fixed,
    Nearest,
    RoundRobin,
    Weighted,
    Statistics,
    Greedy,
    LoadNear,
    NearLoad,
    Plan,
    Shed,
}

const POLICIES: [(&str, Kind); 10] = [
    ("fixed", Kind::Fixed),
    ("nearest", Kind::Nearest),
    ("round-robin", Kind::RoundRobin),
    ("weighted", Kind::Weighted),
    ("statistics", Kind::Statistics),
    ("greedy", Kind::Greedy),
    ("loadnear", Kind::LoadNear),
    ("nearload", Kind::NearLoad),
    ("plan", Kind::Plan),
    ("shed", Kind::Shed),
];
const MODELS: [(&str, Model); 2] = [("aggregate", Model::Aggregate), ("per-flow", Model::PerFlow)];
const MODES: [(&str, Mode); 4] = [
    ("sending", Mode::Sending),
    ("receiving", Mode::Receiving),
    ("fixed", Mode::Fixed),
    ("variable", Mode::Variable),
];
const WEIGHT: &str = "a number from 0 to 1000000";

/// Which keys belong to which policies.
const OWN_KEYS: [(&[&str], &[Kind], &str); 5] = [
    (&["d"], &[Kind::LoadNear, Kind::NearLoad], "belongs to the policies `loadnear` and `nearload`"),
    (
        &["min-move", "step"],
        &[Kind::Statistics, Kind::Greedy, Kind::LoadNear, Kind::NearLoad, Kind::Plan],
        "belongs to policies by load",
    ),
    (
        &["min-gain", "model", "candidates", "own-first", "w1", "w2", "w3", "delay-unit"],
        &[Kind::Plan],
        "belongs to the policy `plan`",
    ),
    (&["bound"], &[Kind::Plan, Kind::Shed], "belongs to the policies `plan` and `shed`"),
    (
        &["mode", "threshold", "cap", "receiving", "levels", "smoothing", "gain", "least", "decay", "lag"],
        &[Kind::Shed],
        "belongs to the policy `shed`",
    ),
];

impl Steer {
    /// The keys of `[steer.REGION]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "policy",
        "session",
        "d",
        "min-move",
        "step",
        "min-gain",
        "model",
        "bound",
        "candidates",
        "own-first",
        "w1",
        "w2",
        "w3",
        "delay-unit",
        "mode",
        "threshold",
        "cap",
        "receiving",
        "levels",
        "smoothing",
        "gain",
        "least",
        "decay",
        "lag",
    ];
    /// The keys of `receiving`.
    pub(super) const RECEIVING_KEYS: &'static [&'static str] = &["high", "low", "fixed"];

    pub(super) fn read(cx: &mut Context, entry: &Entry) -> Option<Self> {
        let title = format!("[steer.{}]", print::key(&entry.key));
        let section = Section::open(cx, &entry.node, &title, Self::KEYS)?;
        let kind = section.required(cx, "policy", |cx, n| choice(cx, n, &POLICIES))?;
        for (keys, _, why) in OWN_KEYS.iter().filter(|(_, kinds, _)| !kinds.contains(&kind)) {
            for key in *keys {
                section.refuse(cx, key, why);
            }
        }
        let default = Damping::default();
        let damping = Damping {
            min_move: part(cx, &section, "min-move", default.min_move),
            step: positive(cx, &section, "step", default.step),
            min_gain: part(cx, &section, "min-gain", default.min_gain),
        };
        let session = section.read(cx, "session", |cx, n| duration(cx, n, Duration::from_secs(1)));
        let policy = match kind {
            Kind::Fixed => Policy::Fixed,
            Kind::Nearest => Policy::Nearest,
            Kind::RoundRobin => Policy::RoundRobin,
            Kind::Weighted => Policy::Weighted,
            Kind::Statistics => Policy::Statistics,
            Kind::Greedy => Policy::Greedy,
            Kind::LoadNear => Policy::LoadNear(section.required(cx, "d", count)?),
            Kind::NearLoad => Policy::NearLoad(section.required(cx, "d", count)?),
            Kind::Plan => Policy::Plan(plan(cx, &section)),
            Kind::Shed => Policy::Shed(shed(cx, &section)),
        };
        Some(Self { policy, damping, session })
    }

    pub(super) fn write(&self, region: &str, out: &mut Writer) {
        out.table(&["steer", region]);
        out.string("policy", self.policy.name());
        out.optional("session", self.session.map(super::duration::show));
        let by_load = matches!(
            self.policy,
            Policy::Statistics | Policy::Greedy | Policy::LoadNear(_) | Policy::NearLoad(_) | Policy::Plan(_)
        );
        if by_load {
            write_share("min-move", self.damping.min_move, out);
            write_share("step", self.damping.step, out);
        }
        match &self.policy {
            Policy::LoadNear(d) | Policy::NearLoad(d) => out.raw("d", d),
            Policy::Plan(rules) => {
                write_share("min-gain", self.damping.min_gain, out);
                write_plan(rules, out);
            }
            Policy::Shed(rules) => write_shed(rules, out),
            _ => {}
        }
    }
}

fn plan(cx: &mut Context, section: &Section<'_>) -> PlanRules {
    let default = PlanRules::default();
    let w1 = weight(cx, section, "w1");
    let queue = w1.unwrap_or(default.weighing.queue);
    PlanRules {
        model: section.read_or(cx, "model", default.model, |cx, n| choice(cx, n, &MODELS)),
        weighing: Weighing {
            queue,
            // The two are shares of one, unless both are given.
            delay: weight(cx, section, "w2").unwrap_or((1.0 - queue).max(0.0)),
            cost: weight(cx, section, "w3").unwrap_or(default.weighing.cost),
            bound: positive(cx, section, "bound", default.weighing.bound),
        },
        candidates: section.read_or(cx, "candidates", default.candidates, count),
        own_first: section.read_or(cx, "own-first", default.own_first, boolean),
        delay_unit: section
            .read_or(cx, "delay-unit", default.delay_unit, |cx, n| number(cx, n, 0.0..=1e6, WEIGHT)),
    }
}

fn weight(cx: &mut Context, section: &Section<'_>, key: &'static str) -> Option<f64> {
    section.read(cx, key, |cx, n| number(cx, n, 0.0..=1e6, WEIGHT))
}

fn write_plan(rules: &PlanRules, out: &mut Writer) {
    out.string("model", word(&MODELS, rules.model));
    write_share("bound", rules.weighing.bound, out);
    out.raw("candidates", rules.candidates);
    out.raw("own-first", rules.own_first);
    out.raw("w1", rules.weighing.queue);
    out.raw("w2", rules.weighing.delay);
    out.raw("w3", rules.weighing.cost);
    out.raw("delay-unit", rules.delay_unit);
}

fn shed(cx: &mut Context, section: &Section<'_>) -> Rules {
    let default = Rules::default();
    let threshold = |cx: &mut Context, n: &Node| duration(cx, n, Duration::from_millis(1));
    let threshold = section.read(cx, "threshold", threshold);
    Rules {
        mode: section.read_or(cx, "mode", default.mode, |cx, n| choice(cx, n, &MODES)),
        threshold_ms: threshold.map_or(default.threshold_ms, |time| time.as_micros() as f64 / 1000.0),
        cap: positive(cx, section, "cap", default.cap),
        receiving: section.read_or(cx, "receiving", default.receiving, receiving),
        levels: section.read_or(cx, "levels", default.levels, levels),
        smoothing: positive(cx, section, "smoothing", default.smoothing),
        gain: part(cx, section, "gain", default.gain),
        least: part(cx, section, "least", default.least),
        decay: positive(cx, section, "decay", default.decay),
        bound: positive(cx, section, "bound", default.bound),
        lag: section
            .read_or(cx, "lag", default.lag, |cx, n| integer::<u32>(cx, n, 0..=100).map(|n| n as usize)),
    }
}

fn receiving(cx: &mut Context, node: &Node) -> Option<Receiving> {
    let section = Section::open(cx, node, "`receiving`", Steer::RECEIVING_KEYS)?;
    let default = Receiving::default();
    Some(Receiving {
        high: part(cx, &section, "high", default.high),
        low: part(cx, &section, "low", default.low),
        fixed: part(cx, &section, "fixed", default.fixed),
    })
}

fn levels(cx: &mut Context, node: &Node) -> Option<[f64; 4]> {
    const EXPECTED: &str = "four shares, as [\"10%\", \"20%\", \"30%\", \"40%\"]";
    let shares = some(cx, node, EXPECTED, |cx, n| share(cx, n).map(Share::fraction))?;
    let four = <[f64; 4]>::try_from(shares).ok().filter(|four| four.is_sorted());
    if four.is_none() {
        let problem = Problem::new(node.place, "these are not four shares, the smallest first");
        cx.wrong(problem.help(format!("expected {EXPECTED}")));
    }
    four
}

fn write_shed(rules: &Rules, out: &mut Writer) {
    out.string("mode", word(&MODES, rules.mode));
    let micros = (rules.threshold_ms * 1000.0).round() as u64;
    out.duration("threshold", Duration::from_micros(micros));
    write_share("cap", rules.cap, out);
    let shown = |fraction: f64| print::quote(Share::of_fraction(fraction));
    let Receiving { high, low, fixed } = rules.receiving;
    let line = [("high", high), ("low", low), ("fixed", fixed)];
    let line: Vec<String> = line.iter().map(|(key, value)| format!("{key} = {}", shown(*value))).collect();
    out.raw("receiving", format_args!("{{ {} }}", line.join(", ")));
    out.strings("levels", rules.levels.map(Share::of_fraction));
    for (key, value) in [
        ("smoothing", rules.smoothing),
        ("gain", rules.gain),
        ("least", rules.least),
        ("decay", rules.decay),
        ("bound", rules.bound),
    ] {
        write_share(key, value, out);
    }
    out.raw("lag", rules.lag);
}

fn count(cx: &mut Context, node: &Node) -> Option<NonZeroUsize> {
    integer::<u32>(cx, node, 1..=1000).and_then(|count| NonZeroUsize::new(count as usize))
}

/// A share of a whole, as a fraction.
fn part(cx: &mut Context, section: &Section<'_>, key: &'static str, default: f64) -> f64 {
    section.read(cx, key, share).map_or(default, Share::fraction)
}

/// The same, and more than nothing.
fn positive(cx: &mut Context, section: &Section<'_>, key: &'static str, default: f64) -> f64 {
    let read = |cx: &mut Context, node: &Node| {
        let share = share(cx, node)?;
        if share.millionths() == 0 {
            cx.wrong(
                Problem::new(node.place, "this is nothing").help("expected a share of more than \"0%\""),
            );
            return None;
        }
        Some(share.fraction())
    };
    section.read_or(cx, key, default, read)
}

fn write_share(key: &str, fraction: f64, out: &mut Writer) {
    out.string(key, Share::of_fraction(fraction));
}
