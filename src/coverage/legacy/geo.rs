//! nginx's `geo`: rows `prefix value;` or, behind `ranges;`, `first-last value;`.
//!
//! nginx takes a prefix with host bits for the one without them, and of two equal ones the
//! later.

use ipnet::IpNet;

use super::LegacyRow;
use super::collect::Collector;
use super::remark::RemarkKind;
use super::words::{Kind, Words};
use crate::address::Range;

pub(super) fn read(text: &str, out: &mut Collector) {
    let mut reader = Reader { blocks: 0, out };
    let mut statement: Vec<&str> = Vec::new();
    let mut line = 1;
    let mut broken = false;
    for word in Words::new(text) {
        if statement.is_empty() && !broken {
            line = word.line;
        }
        match word.kind {
            Kind::Text(text) => statement.push(text),
            Kind::End if broken => (broken, statement) = (false, Vec::new()),
            Kind::End => reader.statement(line, &std::mem::take(&mut statement)),
            Kind::Open => reader.open(line, &std::mem::take(&mut statement)),
            Kind::Close if statement.is_empty() => (),
            _ if broken => (),
            _ => {
                broken = true;
                reader.out.remark(line, RemarkKind::Syntax, "is no row of a geo block", &statement.join(" "));
            }
        }
    }
    if !statement.is_empty() && !broken {
        let text = statement.join(" ");
        reader.out.remark(line, RemarkKind::Syntax, "the file ends before the `;` of this row", &text);
    }
}

struct Reader<'o> {
    blocks: u32,
    out: &'o mut Collector,
}

impl Reader<'_> {
    fn open(&mut self, line: u64, words: &[&str]) {
        if words.first() == Some(&"geo") {
            self.blocks += 1;
            if self.blocks == 1 {
                return;
            }
        }
        self.out.remark(line, RemarkKind::Unsupported, "one geo block is read, not more", &words.join(" "));
    }

    fn statement(&mut self, line: u64, words: &[&str]) {
        let said = || words.join(" ");
        if self.blocks > 1 {
            return self.out.remark(line, RemarkKind::Unsupported, "stands in another geo block", &said());
        }
        match words {
            ["ranges" | "proxy_recursive" | "volatile"] | ["proxy", _] | [] => (),
            ["default", ""] => (),
            ["default", value] => self.out.default = Some(self.out.named(value)),
            ["include", _] => {
                self.out.remark(line, RemarkKind::Unsupported, "includes a file, which is not read", &said());
            }
            ["delete", _] => self.out.remark(line, RemarkKind::Unsupported, "takes rows away again", &said()),
            [addresses, value] => self.row(line, addresses, value),
            _ => self.out.remark(line, RemarkKind::Syntax, "is no row of a geo block", &said()),
        }
    }

    fn row(&mut self, line: u64, addresses: &str, value: &str) {
        let (range, written) = match range(addresses) {
            Ok(found) => found,
            Err(detail) => return self.out.remark(line, RemarkKind::NotARange, &detail, value),
        };
        if value.is_empty() || value.contains('\u{fffd}') || value.chars().any(char::is_control) {
            return self.out.remark(line, RemarkKind::NoTarget, "its value is no name", addresses);
        }
        if let Some(taken) = written {
            self.out.remark(
                line,
                RemarkKind::HostBits,
                &format!("is taken as {taken}, as nginx does"),
                addresses,
            );
        }
        let target = self.out.named(value);
        self.out.take(LegacyRow { range, space: None, target, line });
    }
}

/// The addresses, and the prefix that they are where another was written.
fn range(text: &str) -> Result<(Range, Option<IpNet>), String> {
    if let Ok(net) = text.parse::<IpNet>() {
        let taken = (net.addr() != net.network()).then(|| net.trunc());
        return Ok((net.into(), taken));
    }
    text.parse().map(|range| (range, None)).map_err(|e: crate::address::ParseRangeError| e.to_string())
}
