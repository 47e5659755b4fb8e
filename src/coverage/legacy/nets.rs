//! gdnsd's nets: `net => datacenter` or `net => [ datacenter, ... ]`, in a file of their own
//! or within the configuration's `nets => { }`.

use super::LegacyRow;
use super::collect::Collector;
use super::remark::RemarkKind;
use super::words::{Kind, Word, Words};
use crate::address::Range;
use crate::coverage::Target;

pub(super) fn read(text: &str, out: &mut Collector) {
    let mut words = Words::new(text).peekable();
    while let Some(word) = words.next() {
        match word.kind {
            Kind::Text(key) if key.starts_with("$include") => {
                out.remark(word.line, RemarkKind::Unsupported, "includes a file, which is not read", key);
            }
            Kind::Text(key) if words.next_if(|w| w.kind == Kind::Arrow).is_some() => {
                entry(word.line, key, &mut words, out);
            }
            Kind::Text(text) => out.remark(word.line, RemarkKind::Syntax, "is no `net => datacenter`", text),
            Kind::Unclosed(text) => out.remark(word.line, RemarkKind::Syntax, "a quote is not closed", text),
            // Between entries a comma may stand; braces belong to what is around the nets.
            _ => (),
        }
    }
}

fn entry<'t>(
    line: u64,
    key: &str,
    words: &mut std::iter::Peekable<impl Iterator<Item = Word<'t>>>,
    out: &mut Collector,
) {
    if words.next_if(|w| w.kind == Kind::Open).is_some() {
        return;
    }
    let Some(targets) = targets(words) else {
        return out.remark(line, RemarkKind::NoTarget, "names no datacenter", key);
    };
    let range: Range = match key.parse() {
        Ok(range) => range,
        Err(_) if !key.contains(['.', ':', '/']) => {
            return out.remark(line, RemarkKind::Unsupported, "is an option, not a net", key);
        }
        Err(e) => return out.remark(line, RemarkKind::NotARange, &format!("{e}"), ""),
    };
    let target = match targets.as_slice() {
        [name] => out.named(name),
        names => Target::Edges(names.iter().map(|name| out.name(name)).collect()),
    };
    out.take(LegacyRow { range, space: None, target, line });
}

/// The datacenters of an entry; none where there is none, or the list is not closed.
fn targets<'t>(words: &mut std::iter::Peekable<impl Iterator<Item = Word<'t>>>) -> Option<Vec<&'t str>> {
    let name = |kind| match kind {
        Kind::Text(name) if !name.is_empty() && !name.contains('\u{fffd}') => Some(name),
        _ => None,
    };
    // A net where a datacenter should be is the next entry's key, and is not used up.
    let name = |kind| name(kind).filter(|name| name.parse::<Range>().is_err());
    if words.next_if(|w| w.kind == Kind::ListOpen).is_none() {
        let word = words.next_if(|w| name(w.kind).is_some())?;
        return name(word.kind).map(|name| vec![name]);
    }
    let mut names = Vec::new();
    loop {
        let word =
            words.next_if(|w| matches!(w.kind, Kind::Comma | Kind::ListClose) || name(w.kind).is_some())?;
        match word.kind {
            Kind::Comma => (),
            Kind::ListClose => return Some(names).filter(|names| !names.is_empty()),
            kind => names.push(name(kind)?),
        }
    }
}
