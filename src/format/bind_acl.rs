//! `bind-acl`: an address match list of BIND for each group, for
//! `view "gz-01" { match-clients { "gz-01"; }; ... };`.
//!
//! BIND takes the first view that matches, not the one with the longest prefix: it is safe
//! because rows never overlap. BIND looks at the packet's source and at no client subnet.
//! The default group's view stands last, with `match-clients { any; };`.
//!
//! Names of lists are compared without regard to case. `any`, `none`, `localhost` and
//! `localnets` are BIND's own: a group of such a name gets a dot in front, which no token
//! has.

use memchr::memmem;

use super::groups::case_clash;
use super::lines::{Reader, behind_head, head, prefix, push};
use super::parts::Parts;
use super::readback::Collector;
use super::rest::Rest;
use super::text::push_prefix;
use super::{Format, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View, by_group, one_space};
use crate::address::{Range, prefixes};
use crate::table::Token;

const OWN: [&str; 4] = ["any", "none", "localhost", "localnets"];
/// BIND wants a list to say something.
const NOBODY: &str = "  none;";

/// See the module.
#[derive(Debug)]
pub(super) struct BindAcl;

impl Format for BindAcl {
    fn name(&self) -> &'static str {
        "bind-acl"
    }

    fn about(&self) -> &'static str {
        "address match lists of BIND, one a group"
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        one_space(self.name(), view)?;
        let groups = by_group(view);
        if let Some((first, second)) = case_clash(groups.keys().copied()) {
            return Err(RenderError::CaseClash { format: self.name(), first, second });
        }
        let mut body = format!("# default {}\n", view.default_group().token);
        let mut rows = 0;
        for (token, ranges) in groups {
            push(&mut body, format_args!("acl \"{}{token}\" {{\n", dot(token.as_str())));
            for prefix in ranges.iter().copied().flat_map(prefixes) {
                body.push_str("  ");
                push_prefix(&mut body, prefix);
                body.push_str(";\n");
                rows += 1;
            }
            if ranges.is_empty() {
                push(&mut body, format_args!("{NOBODY}\n"));
            }
            body.push_str("};\n");
        }
        push(&mut body, format_args!("# end {rows}\n"));
        let head = head(self.name(), stamp).into_bytes();
        Ok(Rendered { head, body: body.into_bytes(), tail: vec![], rows })
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        self.agrees(file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let mut collector = Collector::default();
        let default = lines.tagged("# default ")?;
        let default = collector.token(default).map_err(|e| lines.error(e))?;
        let mut rows = Vec::new();
        let mut last: Option<Token> = None;
        loop {
            let line = lines.line()?;
            if let Some(count) = line.strip_prefix("# end ") {
                if count != rows.len().to_string() {
                    return Err(lines.error(format!("it ends after {} rows and says {count}", rows.len())));
                }
                lines.end()?;
                collector.push_all(rows).map_err(|e| lines.error(e))?;
                return Ok(collector.finish(Some(default)));
            }
            let token = list(line).map_err(|e| lines.error(e))?;
            if last.as_ref().is_some_and(|last| *last >= token) {
                return Err(lines.error(format!("list {token} is not behind the one before")));
            }
            members(&mut lines, &token, &mut rows)?;
            last = Some(token);
        }
    }
}

impl BindAcl {
    /// Whether the file says what the view says: each answer is looked for where the list of its
    /// group goes on. See [`Format::proves`].
    fn agrees(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        let mut rest = behind_head(file, self.name(), view)?;
        let mut lists = Parts::new();
        let mut before = None;
        while rest.0.starts_with(b"acl ") {
            let token = name(str::from_utf8(rest.line()?).ok()?)?;
            if before.is_some_and(|before| before >= token) {
                return None;
            }
            let (rows, behind) = rest.0.split_at_checked(memmem::find(rest.0, b"};\n")?)?;
            rest = Rest(behind);
            rest.text("};\n")?;
            let rows = if rows.strip_suffix(b"\n") == Some(NOBODY.as_bytes()) { &[] } else { rows };
            lists.add(token, [rows])?;
            before = Some(token);
        }
        let mut rows: u64 = 0;
        for answer in view.answers() {
            let [list] = lists.of(answer.token)?;
            rows += list.rows(answer.range, |list| {
                list.text("  ")?;
                let addresses = list.prefix()?;
                list.text(";\n")?;
                Some(addresses)
            })?;
        }
        rest.text(&format!("# end {rows}\n"))?;
        (rest.is_empty() && lists.are_done()).then_some(())
    }
}

fn dot(name: &str) -> &'static str {
    if OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) { "." } else { "" }
}

/// The token of the line that begins a list.
fn list(line: &str) -> Result<Token, String> {
    let refuse = || format!("`{}` begins no list", line.escape_debug());
    Token::new(name(line).ok_or_else(refuse)?).ok_or_else(refuse)
}

/// The text of that token.
fn name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("acl \"")?.strip_suffix("\" {")?;
    let plain = name.strip_prefix('.').unwrap_or(name);
    (name.starts_with('.') != dot(plain).is_empty()).then_some(plain)
}

/// The lines until the end of a list.
fn members(lines: &mut Reader<'_>, token: &Token, rows: &mut Vec<(Range, Token)>) -> Result<(), ReadError> {
    let before = rows.len();
    loop {
        let line = lines.line()?;
        match line {
            "};" if rows.len() > before => return Ok(()),
            NOBODY if rows.len() == before => {
                return match lines.line()? {
                    "};" => Ok(()),
                    _ => Err(lines.error("the list does not end".to_owned())),
                };
            }
            _ => {}
        }
        let row = line.strip_prefix("  ").and_then(|l| l.strip_suffix(';'));
        let row = row.ok_or_else(|| lines.error(format!("`{}` is no row", line.escape_debug())))?;
        rows.push((prefix(row).map_err(|e| lines.error(e))?, token.clone()));
    }
}
