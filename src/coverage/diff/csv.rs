//! Findings as CSV (RFC 4180, LF line ends).

use super::{Finding, FindingKind};
use crate::address::prefixes;

const HEADER: &str = "kind,family,first,last,prefixes,addresses,share,bas,edge,old,line\n";

pub(super) fn render(findings: &[Finding]) -> String {
    let mut csv = String::from(HEADER);
    for finding in findings {
        let kind = match finding.kind {
            FindingKind::Hole => "hole",
            FindingKind::WrongOwner => "wrong-owner",
            FindingKind::Dead => "dead",
        };
        let list: Vec<String> = prefixes(finding.range).map(|prefix| prefix.to_string()).collect();
        let name = |name: &Option<crate::table::Name>| cell(name.as_deref().unwrap_or_default());
        let cells = [
            kind.to_owned(),
            finding.range.family().number().to_string(),
            finding.range.first().to_string(),
            finding.range.last().to_string(),
            list.join(" "),
            finding.addresses.0.to_string(),
            finding.share.map(|share| format!("{share:.9}")).unwrap_or_default(),
            name(&finding.bas),
            name(&finding.edge),
            name(&finding.old),
            finding.line.to_string(),
        ];
        csv.push_str(&cells.join(","));
        csv.push('\n');
    }
    csv
}

/// A cell that no spreadsheet takes for a formula, in quotes where it needs them.
fn cell(text: &str) -> String {
    let guard =
        if text.starts_with(['=', '+', '-', '@', '\'', '＝', '＋', '－', '＠']) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}
