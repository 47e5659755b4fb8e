//! The report for people.

use std::fmt::Write;

use super::report::{AgainstRequests, CoverageReport, LogFigures, NameRequests, Part};
use crate::coverage::figure::{grouped, percent};
use crate::coverage::grid::Grid;
use crate::coverage::input::Packing;

pub(super) fn render(report: &CoverageReport, top: usize) -> String {
    let mut text = head(report);
    families(&mut text, report);
    if let Some(against) = &report.against {
        beside(&mut text, against);
    }
    names(&mut text, "By BAS", "BAS", &report.by_bas, top);
    names(&mut text, "By edge", "EDGE", &report.by_edge, top);
    if let Some(against) = &report.against {
        names(&mut text, "By name in the old table", "NAME", &against.by_old, top);
    }
    prefixes(&mut text, report, top);
    others(&mut text, report, top);
    log(&mut text, &report.log);
    text
}

/// The figure that was asked for.
fn head(report: &CoverageReport) -> String {
    let mut text = format!(
        "{} requests: {} are covered by an entry of {}, {} go to the default edge\n",
        count(report.requests),
        percent(report.covered.share),
        report.space,
        percent(report.missed.share),
    );
    if let Some(against) = &report.against {
        let _ = writeln!(
            text,
            "{} went to the default edge by the old table, {} go there by this one",
            percent(against.old_missed.share),
            percent(report.missed.share)
        );
    }
    text
}

fn families(text: &mut String, report: &CoverageReport) {
    let mut grid = Grid::new(&["FAMILY", ">REQUESTS", ">COVERED", ">MISSED", ">SHARE MISSED"]);
    for family in &report.families {
        grid.row([
            format!("IPv{}", family.family.number()),
            count(family.requests),
            count(family.covered.requests),
            count(family.missed.requests),
            percent(family.missed.share),
        ]);
    }
    let _ = write!(text, "\n{}", grid.finish());
}

fn beside(text: &mut String, against: &AgainstRequests) {
    let mut grid = Grid::new(&["THE OLD TABLE BESIDE THIS ONE", ">REQUESTS", ">SHARE"]);
    for (name, part) in [
        ("both say the same", against.agreed),
        ("they say different things", against.differing),
        ("only this one has an entry", against.only_table),
        ("only the old one has a row", against.only_old),
        ("neither has", against.neither),
    ] {
        grid.row(cells(name, part));
    }
    let _ = write!(text, "\n{}", grid.finish());
}

fn names(text: &mut String, title: &str, heading: &str, all: &[NameRequests], top: usize) {
    if all.is_empty() {
        return;
    }
    let mut grid = Grid::new(&[heading, ">REQUESTS", ">SHARE"]);
    all.iter().take(top).for_each(|named| grid.row(cells(&named.name, named.part)));
    let _ = write!(text, "\n{title}\n{}", grid.finish());
    if all.len() > top {
        let _ = writeln!(text, "and {} more", count((all.len() - top) as u64));
    }
}

fn prefixes(text: &mut String, report: &CoverageReport, top: usize) {
    let misses = &report.misses;
    if misses.prefixes.is_empty() {
        return;
    }
    let mut grid = Grid::new(&["PREFIX", ">REQUESTS", ">SHARE"]);
    for prefix in misses.prefixes.iter().take(top) {
        let name =
            if prefix.rest { format!("{} (the rest of it)", prefix.prefix) } else { prefix.prefix.clone() };
        grid.row(cells(&name, prefix.part));
    }
    let _ = write!(text, "\nMissed, by prefix\n{}", grid.finish());
    let hidden = misses.prefixes.get(top..).unwrap_or_default();
    let more = misses.more_prefixes + hidden.len() as u64;
    let requests = misses.more_requests + hidden.iter().map(|prefix| prefix.part.requests).sum::<u64>();
    if more > 0 || requests > 0 {
        let _ = writeln!(text, "and {} more with {} requests", count(more), count(requests));
    }
    if misses.capped {
        text.push_str("There were too many prefixes of IPv6 to count each: some are counted in their /32.\n");
    }
}

fn others(text: &mut String, report: &CoverageReport, top: usize) {
    if let Some(resolvers) = &report.resolvers {
        let _ = writeln!(
            text,
            "\nKnown resolvers, not counted above: {} requests, {} of all; {} of these are covered",
            count(resolvers.all.requests),
            percent(resolvers.all.share),
            percent(resolvers.covered.share),
        );
        let mut grid = Grid::new(&["RESOLVER", ">REQUESTS", ">SHARE"]);
        resolvers.by_name.iter().take(top).for_each(|named| grid.row(cells(&named.name, named.part)));
        text.push_str(&grid.finish());
    }
    let forms = &report.forms;
    for (requests, what) in [
        (forms.mapped, "IPv4-mapped addresses, counted as IPv4"),
        (forms.nat64, "NAT64 addresses, counted as the IPv4 addresses they stand for"),
        (forms.teredo, "Teredo addresses, counted as the IPv6 addresses they are"),
        (forms.six_to_four, "6to4 addresses, counted as the IPv6 addresses they are"),
    ] {
        if requests > 0 {
            let _ = writeln!(text, "{} requests from {what}", count(requests));
        }
    }
    if let Some(times) = &report.times {
        let (first, last) = (times.steps.first(), times.steps.last());
        if let (Some(first), Some(last)) = (first, last) {
            let _ =
                writeln!(text, "\nFrom {} to {}, in steps of {} s", first.start, last.start, times.step_s);
        }
        if times.untimed > 0 {
            let _ = writeln!(text, "{} requests have no time that can be read", count(times.untimed));
        }
    }
}

fn log(text: &mut String, log: &LogFigures) {
    let packing = match log.packing {
        Packing::Plain => "",
        Packing::Gzip => "gzip, ",
        Packing::Zstd => "zstd, ",
    };
    let name = log.name.as_deref().unwrap_or("the log");
    let lines = count(log.lines);
    let _ = writeln!(
        text,
        "\n{name} ({packing}{}): {lines} lines, {} with an address",
        log.shape,
        count(log.requests)
    );
    for (lines, what) in [
        (log.unreadable, "have none where it should be"),
        (log.too_long, "are too long"),
        (log.comments, "are comments"),
        (log.empty, "are empty"),
    ] {
        if lines > 0 {
            let _ = writeln!(text, "  {} {what}", count(lines));
        }
    }
    for example in &log.unreadable_examples {
        let _ = writeln!(text, "  line {}: {}", example.line, example.text);
    }
    for note in log.detail.iter().chain(&log.notes) {
        let _ = writeln!(text, "  {note}");
    }
    if log.detail.is_some() {
        text.push_str("  The figures are those of what came before.\n");
    }
}

fn cells(name: &str, part: Part) -> [String; 3] {
    [name.to_owned(), count(part.requests), percent(part.share)]
}

fn count(number: u64) -> String {
    grouped(number.into())
}
