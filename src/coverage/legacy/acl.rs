//! BIND's access lists, `acl NAME { prefix; !prefix; };`, and the views that match them.
//!
//! BIND takes the first view that matches, whatever the prefix lengths, and within a list
//! the first element that matches, which `!` turns into a refusal. Without views the lists
//! count in the order of the file.

use std::collections::HashMap;

use super::LegacyRow;
use super::collect::Collector;
use super::remark::RemarkKind;
use super::words::{Kind, Word, Words};
use crate::address::Range;
use crate::coverage::flat::{Rule, flatten};

pub(super) fn read(text: &str, out: &mut Collector) {
    let mut reader = Reader { words: Words::new(text), lists: Vec::new(), views: Vec::new(), out };
    while let Some(word) = reader.words.next() {
        match word.kind {
            Kind::Text("acl") => reader.acl(word.line),
            Kind::Text("view") => reader.view(word.line),
            Kind::Text(text) => reader.pass(word.line, text),
            _ => (),
        }
    }
    let Reader { lists, views, out, .. } = reader;
    rows(&lists, &views, out);
}

/// An element of a list.
struct Element {
    range: Range,
    not: bool,
    line: u64,
}

struct List<'t> {
    name: &'t str,
    elements: Vec<Element>,
    every: bool,
}

struct Reader<'t, 'o> {
    words: Words<'t>,
    lists: Vec<List<'t>>,
    views: Vec<&'t str>,
    out: &'o mut Collector,
}

impl<'t> Reader<'t, '_> {
    fn acl(&mut self, line: u64) {
        let name = match (self.words.next(), self.words.next()) {
            (Some(Word { kind: Kind::Text(name), .. }), Some(Word { kind: Kind::Open, .. })) => name,
            _ => return self.out.remark(line, RemarkKind::Syntax, "is no `acl NAME {`", "acl"),
        };
        let mut list = List { name, elements: Vec::new(), every: false };
        if !self.elements(&mut list) {
            self.out.remark(line, RemarkKind::Syntax, "this list is never closed", name);
        }
        self.lists.push(list);
    }

    /// The elements up to the closing brace; false where there is none.
    fn elements(&mut self, list: &mut List<'t>) -> bool {
        let mut not = false;
        let mut said: Vec<&'t str> = Vec::new();
        while let Some(word) = self.words.next() {
            match word.kind {
                Kind::Not => not = true,
                Kind::Text(text) if text.starts_with('!') => (not, said) = (true, vec![&text[1..]]),
                Kind::Text(text) => said.push(text),
                Kind::End => {
                    self.element(list, word.line, not, &std::mem::take(&mut said));
                    not = false;
                }
                Kind::Close => return true,
                _ => {
                    self.out.remark(word.line, RemarkKind::Syntax, "is no element of a list", &said.join(" "))
                }
            }
        }
        false
    }

    fn element(&mut self, list: &mut List<'t>, line: u64, not: bool, words: &[&'t str]) {
        let unsupported = "is no prefix, and what it stands for is not known";
        match words {
            [] | ["none"] => (),
            ["any"] if !not => list.every = true,
            [text] => match text.parse() {
                Ok(range) => list.elements.push(Element { range, not, line }),
                Err(_) if text.contains('/') || text.starts_with(|c: char| c.is_ascii_digit()) => {
                    let detail = format!("`{}` is no prefix", text.escape_debug());
                    self.out.remark(line, RemarkKind::NotARange, &detail, "");
                }
                Err(_) => match self.lists.iter().position(|other| other.name == *text).filter(|_| !not) {
                    Some(other) => self.nested(list, other, line),
                    None => self.out.remark(line, RemarkKind::Unsupported, unsupported, text),
                },
            },
            _ => self.out.remark(line, RemarkKind::Unsupported, unsupported, &words.join(" ")),
        }
    }

    /// A list within a list: it matches as a whole or not at all.
    fn nested(&mut self, list: &mut List<'t>, other: usize, line: u64) {
        let Some(other) = self.lists.get(other) else { return };
        list.every |= other.every;
        let matched = resolved(other);
        list.elements.extend(matched.into_iter().map(|(range, _)| Element { range, not: false, line }));
    }

    /// `view "x" { match-clients { a; b; }; ... }`: the lists it matches, in order.
    fn view(&mut self, line: u64) {
        let mut depth = 0u32;
        let mut matching = false;
        for word in self.words.by_ref() {
            match word.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth <= 1 => return,
                Kind::Close => (depth, matching) = (depth - 1, false),
                Kind::Text("match-clients") if depth == 1 => matching = true,
                Kind::Text(name) if matching && depth == 2 => self.views.push(name),
                Kind::End if depth == 0 => return,
                _ => (),
            }
        }
        self.out.remark(line, RemarkKind::Syntax, "this view is never closed", "view");
    }

    /// Another statement: options, zones, keys.
    fn pass(&mut self, line: u64, text: &'t str) {
        let mut depth = 0u32;
        if text == "include" {
            self.out.remark(line, RemarkKind::Unsupported, "includes a file, which is not read", text);
        }
        for word in self.words.by_ref() {
            match word.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::End if depth == 0 => return,
                _ => (),
            }
        }
        self.out.remark(line, RemarkKind::Syntax, "this statement is never closed", text);
    }
}

/// The addresses that a list matches, with the line of the element that decides.
fn resolved(list: &List<'_>) -> Vec<(Range, u64)> {
    if list.elements.iter().all(|element| !element.not) {
        return list.elements.iter().map(|element| (element.range, element.line)).collect();
    }
    let ranges: Vec<Range> = list.elements.iter().map(|element| element.range).collect();
    let pieces = flatten(&ranges, Rule::First).into_iter();
    pieces
        .filter_map(|piece| Some((piece.range, list.elements.get(piece.row)?)))
        .filter(|(_, element)| !element.not)
        .map(|(range, element)| (range, element.line))
        .collect()
}

fn rows(lists: &[List<'_>], views: &[&str], out: &mut Collector) {
    let by_name: HashMap<&str, &List<'_>> = lists.iter().map(|list| (list.name, list)).collect();
    let mut ordered: Vec<&List<'_>> = views.iter().filter_map(|view| by_name.get(view).copied()).collect();
    if ordered.is_empty() {
        ordered = lists.iter().collect();
    }
    for list in ordered {
        let target = out.named(list.name);
        for (range, line) in resolved(list) {
            out.take(LegacyRow { range, space: None, target: target.clone(), line });
        }
        if list.every && out.default.is_none() {
            out.default = Some(target);
        }
    }
}
