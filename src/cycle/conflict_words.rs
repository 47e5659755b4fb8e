//! The words of `conflicts`: why a rule decided as it did, and what to do about it.

use crate::table::{Class, Conflict, Rule};

/// Why a conflict came out as it did.
pub(super) fn because(conflict: &Conflict) -> &'static str {
    match conflict.rule {
        Rule::Class => match highest(conflict) {
            Class::Override => "a static line that overrides goes before every router",
            Class::Fresh => {
                "what a router lists goes before what a stale one listed, and before static lines that fill"
            }
            _ => "what a stale router listed goes before static lines that fill",
        },
        Rule::Nested => {
            "the range that lies within the others, and is at most half as large, goes before them"
        }
        Rule::Private => "private addresses that two owners claim go to the default edge",
        Rule::Priority => "the BAS with the highest `priority` goes before the others",
        Rule::Previous => "nothing else decides: who had the addresses before keeps them",
        Rule::Name => {
            "nothing else decides, and nobody had the addresses before: the first name goes before the others"
        }
    }
}

/// What a person should do about it.
pub(super) fn to_do(conflict: &Conflict) -> String {
    let one = conflict.claims.iter().all(|claim| Some(&claim.owner) == conflict.owner.as_ref());
    if one && conflict.more == 0 && conflict.rule != Rule::Class {
        return "nothing urgent: the answer is the same either way; take the range out of one of the pools"
            .to_owned();
    }
    let has = |class: Class| conflict.claims.iter().any(|claim| claim.class == class);
    match conflict.rule {
        Rule::Class if has(Class::Override) => {
            "nothing, while the override is meant; take its line out when it has served".to_owned()
        }
        Rule::Class if has(Class::Kept) => {
            "nothing, if the pool has moved; take the stale router out of the configuration if it is gone"
                .to_owned()
        }
        Rule::Class => "nothing; the static line that fills can be taken out".to_owned(),
        Rule::Nested => {
            "nothing, if the large pool is meant to have the small one within; else take the range out of one router"
                .to_owned()
        }
        Rule::Private => {
            "give the owners one `pair`, or their VRFs a space each (`[space.NAME] vrfs`)".to_owned()
        }
        Rule::Priority => {
            "nothing, if the `priority` is meant; else take the range out of the other router".to_owned()
        }
        Rule::Previous | Rule::Name => format!(
            "take the range out of the router that should not have it; or say who is right: `priority` for one of {}, `pair` if they stand in for each other",
            names(conflict)
        ),
    }
}

fn highest(conflict: &Conflict) -> Class {
    conflict.claims.iter().map(|claim| claim.class).max().unwrap_or(Class::Fresh)
}

fn names(conflict: &Conflict) -> String {
    let mut names: Vec<&str> =
        conflict.claims.iter().map(|claim| claim.bas.as_ref().unwrap_or(&claim.owner).as_str()).collect();
    names.dedup();
    names.join(", ")
}
