//! The names of an old table, and whether they mean what the table answers.

use std::collections::HashMap;

use super::known::{Known, Target};
use super::served::Answer;
use crate::table::Name;

/// The targets of an old table by number. That two names agree is found out once.
pub(super) struct Targets<'a> {
    known: &'a Known,
    numbers: HashMap<&'a Target, u32>,
    all: Vec<(&'a Target, Option<Target>)>,
    agreed: HashMap<(u32, u32), bool>,
    /// By target: the answer that it was held against last, and whether it means it.
    last: Vec<Option<(u32, bool)>>,
    /// Targets by where their names lie in memory: a table keeps each of them once.
    near: Vec<Option<(&'a Target, u32)>>,
}

/// How many targets are found without a search.
const NEAR: usize = 1024;

impl<'a> Targets<'a> {
    pub(super) fn new(known: &'a Known) -> Self {
        Self {
            known,
            numbers: HashMap::new(),
            all: Vec::new(),
            agreed: HashMap::new(),
            last: Vec::new(),
            near: vec![None; NEAR],
        }
    }

    /// The number of a target.
    pub(super) fn number(&mut self, target: &'a Target) -> u32 {
        let place = place(target);
        if let Some(Some((near, number))) = self.near.get(place)
            && *near == target
        {
            return *number;
        }
        let number = *self.numbers.entry(target).or_insert_with(|| {
            self.all.push((target, self.known.resolve(target)));
            self.all.len() as u32 - 1
        });
        if let Some(slot) = self.near.get_mut(place) {
            *slot = Some((target, number));
        }
        number
    }

    /// A target in one word.
    pub(super) fn label(&self, number: u32) -> Option<Name> {
        self.all.get(number as usize).map(|(target, _)| target.label())
    }

    /// Whether the configuration knows a target's names.
    pub(super) fn is_known(&self, number: u32) -> bool {
        self.all.get(number as usize).is_some_and(|(_, known)| known.is_some())
    }

    /// Whether a target means the answer of a number.
    pub(super) fn agrees(&mut self, target: u32, answer: u32, answers: &[Answer]) -> bool {
        if let Some(Some((last, agrees))) = self.last.get(target as usize)
            && *last == answer
        {
            return *agrees;
        }
        let agrees = match self.agreed.get(&(target, answer)) {
            Some(agrees) => *agrees,
            None => {
                let agrees = self.means(target, answer, answers);
                self.agreed.insert((target, answer), agrees);
                agrees
            }
        };
        self.last.resize(self.all.len().max(self.last.len()), None);
        if let Some(slot) = self.last.get_mut(target as usize) {
            *slot = Some((answer, agrees));
        }
        agrees
    }

    /// The same, found out anew.
    pub(super) fn means(&self, target: u32, answer: u32, answers: &[Answer]) -> bool {
        match (self.all.get(target as usize), answers.get(answer as usize)) {
            (Some((target, resolved)), Some(answer)) => {
                agrees(resolved.as_ref().unwrap_or(target), answer, self.known)
            }
            _ => false,
        }
    }
}

/// Where a target is looked for first: which it is, only its equal tells.
fn place(target: &Target) -> usize {
    let name = match target {
        Target::Bas(name) | Target::Named(name) => Some(name),
        Target::Edges(names) => names.first(),
    };
    name.map_or(0, |name| (name.as_str().as_ptr().addr() >> 4) % NEAR)
}

/// Whether a target means an answer: a BAS where it has the same owner, edges where the
/// nearest is the same. A word that is not known may be anything that the answer is called.
fn agrees(target: &Target, answer: &Answer, known: &Known) -> bool {
    let is_bas = |name: &Name| {
        answer.bas.as_ref() == Some(name)
            || answer.owner == *name
            || known.owner(name).is_some_and(|owner| *owner == answer.owner)
    };
    let is_edge = |name: &Name| answer.edge() == Some(name) || answer.token.as_ref() == Some(name);
    match target {
        Target::Bas(name) => is_bas(name),
        Target::Edges(names) => names.first().is_some_and(is_edge),
        Target::Named(name) => is_edge(name) || is_bas(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_agrees_by_owner_or_by_nearest_edge() {
        let mut known = Known::default();
        known.bas.extend(
            [("a", "pair"), ("b", "pair"), ("c", "c")].map(|(bas, owner)| (bas.into(), owner.into())),
        );
        let answer = Answer {
            owner: "pair".into(),
            bas: Some("a".into()),
            token: Some("g-1".into()),
            edges: vec!["e1".into(), "e2".into()],
            fill: false,
        };
        let bas = |name: &str| agrees(&Target::Bas(name.into()), &answer, &known);
        assert!(bas("a") && bas("b") && bas("pair") && !bas("c") && !bas("e1"));
        let edges = |names: &[&str]| {
            agrees(&Target::Edges(names.iter().map(|name| Name::from(*name)).collect()), &answer, &known)
        };
        assert!(edges(&["e1"]) && edges(&["e1", "e9"]) && edges(&["g-1"]));
        assert!(!edges(&["e2", "e1"]) && !edges(&[]) && !edges(&["a"]));
        let named = |name: &str| agrees(&Target::Named(name.into()), &answer, &known);
        assert!(named("a") && named("e1") && named("g-1") && named("pair") && !named("e2"));
    }
}
