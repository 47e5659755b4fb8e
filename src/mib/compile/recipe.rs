//! The ways of making a range.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::super::descriptor::{RangeKind, Recipe};
use super::super::error::Problem;
use super::super::field::Kind;
use super::super::file::{KindSection, RangesSection, Word};
use super::ranges::Scope;

const PAIRS: &str = "a range is made of `start` and `end`, or `network` and `mask`, or `gateway` and `mask`, or `prefix` and `length`, or `first-prefix`, `last-prefix` and `length`: exactly one of these";

/// The ways that a section names: the one in it, or those of `kinds`.
pub(super) fn kinds(scope: Scope<'_>, section: &Spanned<RangesSection>) -> Result<Vec<RangeKind>, Problem> {
    let raw = section.get_ref();
    let keys = Keys {
        start: &raw.start,
        end: &raw.end,
        network: &raw.network,
        gateway: &raw.gateway,
        mask: &raw.mask,
        prefix: &raw.prefix,
        first_prefix: &raw.first_prefix,
        last_prefix: &raw.last_prefix,
        length: &raw.length,
    };
    let Some(kinds) = &raw.kinds else {
        return Ok(vec![RangeKind { only: Vec::new(), recipe: recipe(scope, &keys, section.span())? }]);
    };
    if let Some(word) = keys.first() {
        return Err(Problem::new(word.span(), "with `kinds` each kind says what its ranges are made of"));
    }
    if kinds.is_empty() {
        return Err(Problem::new(section.span(), "without a kind no range could be made"));
    }
    kinds.iter().map(|section| kind(scope, section)).collect()
}

fn kind(scope: Scope<'_>, section: &Spanned<KindSection>) -> Result<RangeKind, Problem> {
    let raw = section.get_ref();
    let keys = Keys {
        start: &raw.start,
        end: &raw.end,
        network: &raw.network,
        gateway: &raw.gateway,
        mask: &raw.mask,
        prefix: &raw.prefix,
        first_prefix: &raw.first_prefix,
        last_prefix: &raw.last_prefix,
        length: &raw.length,
    };
    Ok(RangeKind { only: scope.only(&raw.only)?, recipe: recipe(scope, &keys, section.span())? })
}

/// The keys that say what a range is made of.
struct Keys<'a> {
    start: &'a Option<Word>,
    end: &'a Option<Word>,
    network: &'a Option<Word>,
    gateway: &'a Option<Word>,
    mask: &'a Option<Word>,
    prefix: &'a Option<Word>,
    first_prefix: &'a Option<Word>,
    last_prefix: &'a Option<Word>,
    length: &'a Option<Word>,
}

impl<'a> Keys<'a> {
    /// The keys that are there, by name.
    fn given(&self) -> BTreeMap<&'static str, &'a Word> {
        let all = [
            ("start", self.start),
            ("end", self.end),
            ("network", self.network),
            ("gateway", self.gateway),
            ("mask", self.mask),
            ("prefix", self.prefix),
            ("first-prefix", self.first_prefix),
            ("last-prefix", self.last_prefix),
            ("length", self.length),
        ];
        all.into_iter().filter_map(|(name, word)| Some((name, word.as_ref()?))).collect()
    }

    fn first(&self) -> Option<&'a Word> {
        self.given().into_values().next()
    }
}

fn recipe(scope: Scope<'_>, keys: &Keys<'_>, span: Range<usize>) -> Result<Recipe, Problem> {
    let given: Vec<(&str, &Word)> = keys.given().into_iter().collect();
    let address = |word| scope.field(word, &[Kind::Address]);
    let number = |word| scope.field(word, &[Kind::Integer]);
    // In the order of the alphabet, as they are given.
    Ok(match given.as_slice() {
        [("end", end), ("start", start)] => Recipe::StartEnd(address(start)?, address(end)?),
        [("mask", mask), ("network", network)] => Recipe::NetworkMask(address(network)?, address(mask)?),
        [("gateway", gateway), ("mask", mask)] => Recipe::GatewayMask(address(gateway)?, address(mask)?),
        [("length", length), ("prefix", prefix)] => {
            Recipe::PrefixLength(scope.field(prefix, &[Kind::Address, Kind::Network])?, Some(number(length)?))
        }
        [("prefix", prefix)] if scope.field(prefix, &[Kind::Network]).is_ok() => {
            Recipe::PrefixLength(scope.field(prefix, &[Kind::Network])?, None)
        }
        [("first-prefix", first), ("last-prefix", last), ("length", length)] => {
            Recipe::PrefixRun(address(first)?, address(last)?, number(length)?)
        }
        _ => return Err(Problem::new(span, PAIRS)),
    })
}
