//! Line charts as SVG: just what the simulation needs.

use std::fmt::Write as _;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// One chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What stands over it.
    pub title: String,
    /// What its horizontal axis is.
    pub x: String,
    /// What its vertical axis is.
    pub y: String,
    /// Whether the horizontal axis is logarithmic; points at or below 0 are then left out.
    pub log: bool,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 48.0;
/// Colours that are told apart also by those who see few.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"];
/// Lines beyond the colours are dashed.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// The charts side by side, two in a row, as an SVG file.
pub fn svg(charts: &[Chart]) -> String {
    let columns = charts.len().clamp(1, 2);
    let rows = charts.len().div_ceil(2).max(1);
    let (width, height) = (WIDTH * columns as f64, HEIGHT * rows as f64);
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">"#
    );
    let _ = writeln!(out, r#"<rect width="{width}" height="{height}" fill="white"/>"#);
    for (place, chart) in charts.iter().enumerate() {
        let (x, y) = ((place % 2) as f64 * WIDTH, (place / 2) as f64 * HEIGHT);
        let _ = writeln!(out, r#"<g transform="translate({x} {y})">"#);
        chart.draw(&mut out);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// From values to places.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>, log: bool, from_zero: bool) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if from_zero {
            low = low.min(0.0);
        }
        if !low.is_finite() {
            // Nothing is shown, but axes are.
            (low, high) = (1.0, 10.0);
        } else if low >= high {
            high = low + 1.0;
        }
        Self { low, high, log }
    }

    /// From 0 to 1.
    fn at(&self, value: f64) -> f64 {
        match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let first = self.low.log10().floor() as i32;
            let steps = (first..=self.high.log10().ceil() as i32)
                .flat_map(|power| [1.0, 3.0].map(|digit| digit * 10_f64.powi(power)));
            return steps.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..first + 8)
            .map(|n| n as f64 * step)
            .take_while(|tick| *tick <= self.high * (1.0 + 1e-9))
            .collect()
    }
}

impl Chart {
    fn draw(&self, out: &mut String) {
        let shown =
            |point: &&(f64, f64)| (!self.log || point.0 > 0.0) && point.0.is_finite() && point.1.is_finite();
        let points = || self.series.iter().flat_map(|series| &series.points).filter(shown);
        let x = Scale::of(points().map(|point| point.0), self.log, false);
        let y = Scale::of(points().map(|point| point.1), false, true);
        let across = |value: f64| LEFT + x.at(value) * (WIDTH - LEFT - RIGHT);
        let up = |value: f64| HEIGHT - BOTTOM - y.at(value) * (HEIGHT - TOP - BOTTOM);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let _ = writeln!(out, r#"<text x="{LEFT}" y="20" font-size="14">{}</text>"#, text(&self.title));
        for tick in y.ticks() {
            let at = up(tick);
            let _ = writeln!(out, r##"<path d="M{LEFT} {at:.1}H{right}" stroke="#dddddd"/>"##);
            let _ = writeln!(
                out,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                LEFT - 6.0,
                at + 4.0,
                tidy(tick)
            );
        }
        for tick in x.ticks() {
            let at = across(tick);
            let _ = writeln!(out, r##"<path d="M{at:.1} {bottom}v5" stroke="#444444"/>"##);
            let _ = writeln!(
                out,
                r#"<text x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                bottom + 18.0,
                tidy(tick)
            );
        }
        let _ = writeln!(out, r##"<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#444444"/>"##);
        let middle = f64::midpoint(LEFT, right);
        let _ = writeln!(
            out,
            r#"<text x="{middle}" y="{:.1}" text-anchor="middle">{}</text>"#,
            bottom + 36.0,
            text(&self.x)
        );
        let middle = f64::midpoint(TOP, bottom);
        let _ = writeln!(
            out,
            r#"<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{}</text>"#,
            text(&self.y)
        );
        for (place, series) in self.series.iter().enumerate() {
            let places: Vec<String> = series
                .points
                .iter()
                .filter(shown)
                .map(|point| format!("{:.1},{:.1}", across(point.0), up(point.1)))
                .collect();
            line(out, place, &series.name, &places);
        }
    }
}

/// A line, its points, and its name in the legend.
fn line(out: &mut String, place: usize, name: &str, points: &[String]) {
    let colour = COLOURS.get(place % COLOURS.len()).copied().unwrap_or("#000000");
    let dash = DASHES.get(place / COLOURS.len() % DASHES.len()).copied().unwrap_or("");
    let style = format!(r#"fill="none" stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dash}""#);
    let style = style.replace(r#" stroke-dasharray="""#, "");
    let _ = writeln!(out, r#"<polyline points="{}" {style}/>"#, points.join(" "));
    for point in points {
        if let Some((x, y)) = point.split_once(',') {
            let _ = writeln!(out, r#"<circle cx="{x}" cy="{y}" r="2.2" fill="{colour}"/>"#);
        }
    }
    let (x, y) = (WIDTH - RIGHT + 14.0, TOP + 14.0 + 16.0 * place as f64);
    let _ = writeln!(out, r#"<path d="M{x} {:.1}h18" {style}/>"#, y - 4.0);
    let _ = writeln!(out, r#"<text x="{}" y="{y:.1}">{}</text>"#, x + 24.0, text(name));
}

/// A number without needless digits.
fn tidy(value: f64) -> String {
    let rounded = format!("{value:.3}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
