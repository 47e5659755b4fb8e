//! A plot of a report, as SVG 1.1: the share of misses over time, or requests by edge where
//! the log has no times.

use std::fmt::Write;

use super::report::{CoverageReport, TimeFigures};
use crate::coverage::figure::{grouped, percent};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// The most bars that are drawn.
const BARS: usize = 20;

pub(super) fn render(report: &CoverageReport) -> String {
    match report.times.as_ref().filter(|times| times.steps.len() > 1) {
        Some(times) => over_time(times, report),
        None => by_edge(report),
    }
}

fn open(height: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{}</text>\n",
        escaped(title)
    )
}

fn over_time(times: &TimeFigures, report: &CoverageReport) -> String {
    let title = format!(
        "Requests that no entry covers: {} of {}",
        percent(report.missed.share),
        grouped(report.requests.into())
    );
    let mut svg = open(HEIGHT, &title);
    let start = |at: usize| times.steps.get(at).map_or(0, |step| step.start.as_second());
    let (first, last) = (start(0), start(times.steps.len() - 1));
    let shares = |old: bool| {
        times.steps.iter().map(move |step| {
            let part = if old { step.old_missed } else { Some(step.missed) };
            (step.start.as_second(), part.and_then(|part| part.share).unwrap_or(0.0))
        })
    };
    let most = shares(false).chain(shares(true)).map(|(_, share)| share).fold(0.0, f64::max);
    let scale = Scale { first, span: (last - first).max(1) as f64, top: rounded_up(most) };
    scale.axes(&mut svg, times);
    if report.against.is_some() {
        scale.line(&mut svg, shares(true), "#c33", "the old table", 0);
    }
    scale.line(&mut svg, shares(false), "#26c", "this table", 1);
    svg.push_str("</svg>\n");
    svg
}

struct Scale {
    first: i64,
    span: f64,
    top: f64,
}

impl Scale {
    fn x(&self, second: i64) -> f64 {
        LEFT + (second - self.first) as f64 / self.span * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, share: f64) -> f64 {
        HEIGHT - BOTTOM - share / self.top * (HEIGHT - TOP - BOTTOM)
    }

    fn axes(&self, svg: &mut String, times: &TimeFigures) {
        for part in 0..=4 {
            let share = self.top * f64::from(part) / 4.0;
            let y = self.y(share);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.1} %</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                share * 100.0
            );
        }
        let ends = [(times.steps.first(), "start"), (times.steps.last(), "end")];
        for (step, anchor) in ends {
            if let Some(step) = step {
                let (x, y) = (self.x(step.start.as_second()), HEIGHT - BOTTOM + 22.0);
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
                    step.start
                );
            }
        }
    }

    fn line(
        &self,
        svg: &mut String,
        points: impl Iterator<Item = (i64, f64)>,
        colour: &str,
        name: &str,
        at: u8,
    ) {
        let points: Vec<String> =
            points.map(|(second, share)| format!("{:.1},{:.1}", self.x(second), self.y(share))).collect();
        let x = LEFT + f64::from(at) * 160.0;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
             <text x=\"{x}\" y=\"42\" fill=\"{colour}\">{name}</text>",
            points.join(" ")
        );
    }
}

/// A share that the axis may end at.
fn rounded_up(share: f64) -> f64 {
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|top| share <= *top).unwrap_or(1.0)
}

fn by_edge(report: &CoverageReport) -> String {
    let named = report.by_edge.iter().chain(report.by_bas.iter().filter(|_| report.by_edge.is_empty()));
    let mut bars: Vec<(&str, u64, Option<f64>, &str)> =
        named.map(|n| (n.name.as_str(), n.part.requests, n.part.share, "#26c")).collect();
    let more = bars.len().saturating_sub(BARS);
    bars.truncate(BARS);
    bars.push(("the default edge", report.missed.requests, report.missed.share, "#c33"));
    let title = match more {
        0 => format!("{} requests by edge", grouped(report.requests.into())),
        more => format!("{} requests by edge, {more} edges not shown", grouped(report.requests.into())),
    };
    let height = TOP + 24.0 * bars.len() as f64 + 10.0;
    let mut svg = open(height, &title);
    let most = bars.iter().map(|bar| bar.1).max().unwrap_or(1).max(1) as f64;
    const NAMES: f64 = 200.0;
    for (at, (name, requests, share, colour)) in bars.iter().enumerate() {
        let y = TOP + 24.0 * at as f64;
        let width = *requests as f64 / most * (WIDTH - NAMES - 200.0);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{NAMES}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"16\" fill=\"{colour}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\">{} ({})</text>",
            NAMES - 8.0,
            y + 13.0,
            escaped(name),
            NAMES + width + 8.0,
            y + 13.0,
            grouped((*requests).into()),
            escaped(&percent(*share)),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A text that cannot be taken for markup, nor holds what XML forbids.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}
