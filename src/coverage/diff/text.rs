//! The report for people.

use std::fmt::Write;

use super::{AgainstReport, FamilyFigures, Figure, Finding, FindingKind, NameFigures};
use crate::address::{Family, Range, prefixes};
use crate::coverage::figure::{grouped, percent};
use crate::coverage::grid::Grid;

pub(super) fn render(report: &AgainstReport, top: usize) -> String {
    let mut text = String::new();
    let old = &report.old;
    let rows = grouped(old.rows.into());
    let _ =
        writeln!(text, "The old table ({}, {rows} rows) against the table of {}", old.format, report.space);
    if old.left_out > 0 {
        let were = if old.left_out == 1 { "was" } else { "were" };
        let _ = writeln!(text, "{} of its lines {were} left out", grouped(old.left_out.into()));
    }
    for family in &report.families {
        text.push('\n');
        text.push_str(&figures(family));
    }
    for (kind, title) in [
        (FindingKind::Hole, "Holes: served, and in no row of the old table"),
        (FindingKind::WrongOwner, "Wrong owners: served, and given to another by the old table"),
        (FindingKind::Dead, "Dead rows: in the old table, and served by nobody"),
    ] {
        let all: Vec<&Finding> = report.findings.iter().filter(|finding| finding.kind == kind).collect();
        section(&mut text, title, all.len(), top, || findings(&all, top));
    }
    let names = |all: &[NameFigures], heading: &str| names(all, heading, top);
    section(&mut text, "By BAS", report.by_bas.len(), top, || names(&report.by_bas, "BAS"));
    section(&mut text, "By edge", report.by_edge.len(), top, || names(&report.by_edge, "EDGE"));
    section(&mut text, "By name in the old table", report.by_old.len(), top, || by_old(report, top));
    text
}

fn section(text: &mut String, title: &str, count: usize, top: usize, grid: impl FnOnce() -> String) {
    if count == 0 {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    text.push_str(&grid());
    if count > top {
        let _ = writeln!(text, "and {} more", grouped((count - top) as u128));
    }
}

fn figures(family: &FamilyFigures) -> String {
    let of = family.family;
    let mut grid = Grid::new(&[&format!("IPV{}", of.number()), ">ADDRESSES", ">SHARE", "OF"]);
    let all = Figure { addresses: family.served, share: family.served.share_of(family.served) };
    let mut row = |name: &str, figure: Figure, whole: &str| {
        grid.row([name, &figure.addresses.text(of), &percent(figure.share), whole]);
    };
    row("served", all, "");
    row("agreed", family.agreed, "served");
    row("holes", family.holes, "served");
    row("wrong owner", family.wrong, "served");
    row("dead", family.dead, "the old table");
    grid.finish()
}

fn findings(all: &[&Finding], top: usize) -> String {
    let dead = all.first().is_some_and(|finding| finding.kind == FindingKind::Dead);
    let served: &[&str] = if dead { &[] } else { &["BAS", "EDGE"] };
    let headings = [&["RANGE", ">ADDRESSES", ">SHARE"], served, &["OLD", ">LINE"]].concat();
    let mut grid = Grid::new(&headings);
    for finding in all.iter().take(top) {
        let name = |name: &Option<crate::table::Name>| name.as_deref().unwrap_or("-").to_owned();
        let line = if finding.line == 0 { "-".to_owned() } else { finding.line.to_string() };
        let (range, share) = (written(finding.range), percent(finding.share));
        let mut cells = vec![range, finding.addresses.text(finding.range.family()), share];
        if !dead {
            cells.extend([name(&finding.bas), name(&finding.edge)]);
        }
        cells.extend([name(&finding.old), line]);
        grid.row(cells);
    }
    grid.finish()
}

fn names(all: &[NameFigures], heading: &str, top: usize) -> String {
    let mut grid = Grid::new(&[heading, "FAMILY", ">SERVED", ">AGREED", ">HOLES", ">WRONG OWNER"]);
    for figures in all.iter().take(top) {
        let (family, part) = (figures.family, |f: Figure| amount(f, figures.family));
        grid.row([
            figures.name.to_string(),
            family_name(family),
            figures.served.text(family),
            part(figures.agreed),
            part(figures.holes),
            part(figures.wrong),
        ]);
    }
    grid.finish()
}

fn by_old(report: &AgainstReport, top: usize) -> String {
    let mut grid = Grid::new(&["NAME", "FAMILY", ">ADDRESSES", ">AGREED", ">WRONG OWNER", ">DEAD", "KNOWN"]);
    for figures in report.by_old.iter().take(top) {
        let (family, part) = (figures.family, |f: Figure| amount(f, figures.family));
        grid.row([
            figures.name.to_string(),
            family_name(family),
            figures.old.text(family),
            part(figures.agreed),
            part(figures.wrong),
            part(figures.dead),
            if figures.known { "yes" } else { "no" }.to_owned(),
        ]);
    }
    grid.finish()
}

fn amount(figure: Figure, family: Family) -> String {
    match figure.addresses.0 {
        0 => "-".to_owned(),
        _ => format!("{} ({})", figure.addresses.text(family), percent(figure.share)),
    }
}

fn family_name(family: Family) -> String {
    format!("IPv{}", family.number())
}

/// A range as a prefix where it is one.
fn written(range: Range) -> String {
    let mut list = prefixes(range);
    match (list.next(), list.next()) {
        (Some(only), None) => only.to_string(),
        _ => range.to_string(),
    }
}
