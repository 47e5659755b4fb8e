//! The words of `explain`: pure text out of what was found.

use jiff::Timestamp;

use super::explain::{ClaimShape, ExplainShape, RefusedShape};
use super::state::State;
use crate::steer::Policy;
use crate::table::{Decision, Entry};

/// What led to the answer, a sentence each.
pub(super) fn causes(
    shape: &ExplainShape,
    decision: &Decision,
    state: &State,
    now: Timestamp,
) -> Vec<String> {
    let mut told = vec![answer(shape)];
    if let Some(pin) = &shape.pin {
        told.push(format!(
            "The ranges of generation {} are published, whatever polls find ({} by {}, {}); beneath, the address is {}.",
            pin.generation,
            pin.kind,
            pin.by,
            ago(pin.since, now),
            owners(shape.owner.as_deref())
        ));
    }
    told.extend(shape.claims.iter().map(|of| claim(of, now)));
    if shape.claims.is_empty() {
        told.push("No router and no static line claims it.".to_owned());
    }
    told.extend(polls(shape, state, now));
    told.extend(decision.stale.iter().map(|stale| {
        let what = match (stale.poller_isolated, stale.taken_over) {
            (true, _) => {
                "it fell silent together with a large part of the fleet, so nothing is taken from it"
            }
            (false, true) => "that is so long ago that any other BAS may take its addresses",
            (false, false) => "another BAS that begins to list its addresses takes them",
        };
        let read = ago(stale.last_complete, now);
        format!("{} is stale (table {}, last read {read}): {what}.", stale.bas, stale.table)
    }));
    told.extend(rule(shape));
    told.extend(shape.refused.iter().map(refusal));
    if let Some(held) = &shape.held {
        told.push(format!(
            "By the claims it would be {}; the guard holds that back as change {} ({}, {}, {}){}: it stays published as it is.",
            owners(shape.built.as_deref()),
            held.id,
            held.kind,
            held.reason,
            ago(held.since, now),
            if held.rejected { ", rejected by a person" } else { "" }
        ));
    }
    told.extend(steered(shape, state, now));
    told.extend(shed(shape, state));
    told.extend(shape.drained.iter().map(|drain| {
        let when = ago(drain.since, now);
        format!("Edge {} was drained {when} by {}: {}.", drain.edge, drain.by, drain.reason)
    }));
    if let Some(pool) = &shape.pool {
        told.push(format!(
            "Of its pool {} of {} addresses were in use {}; at most {} that day.",
            pool.used,
            pool.size,
            ago(pool.at, now),
            pool.peak
        ));
    }
    if !state.snapshot.filled {
        told.push("Nothing is published yet: not enough of the fleet has been read.".to_owned());
    }
    told
}

/// That the edges and weights of its list come from a policy and the loads.
fn steered(shape: &ExplainShape, state: &State, now: Timestamp) -> Option<String> {
    let region = state.config.regions().remove(&published(shape, state)?.owner)?;
    let policy = state.config.steer.get(&region)?.policy;
    if matches!(policy, Policy::Fixed) {
        return None;
    }
    let all: u32 = shape.answer.weights.iter().sum();
    let share = |(edge, weight): (&String, &u32)| {
        format!("{edge} {:.0} %", f64::from(*weight) * 100.0 / f64::from(all.max(1)))
    };
    let shares: Vec<String> = shape.answer.edges.iter().zip(&shape.answer.weights).map(share).collect();
    let read = state.steering.read.map_or_else(
        || "no load is known since the start".to_owned(),
        |read| format!("loads read {}", ago(read, now)),
    );
    Some(format!(
        "Region {region} is steered by {} ({read}): {} of its requests.",
        policy.name(),
        shares.join(", ")
    ))
}

/// The entry that answers.
fn published<'a>(shape: &ExplainShape, state: &'a State) -> Option<&'a Entry> {
    let ip = shape.answer.ip.parse::<std::net::IpAddr>().ok()?;
    state.snapshot.table.lookup(&shape.answer.space, ip.to_canonical())
}

/// That its edge hands a part of the owner's entries on, and this is one of them.
fn shed(shape: &ExplainShape, state: &State) -> Option<String> {
    let entry = published(shape, state)?;
    let groups = &state.snapshot.groups;
    let services = groups.shed.keys().filter(|(owner, _)| *owner == entry.owner).map(|(_, service)| service);
    let parts =
        services.filter_map(|service| Some((service, groups.part(&entry.owner, service)?.of(entry)?)));
    let mut ours = parts.filter(|(_, (_, token))| token.as_str() == shape.answer.group);
    let (service, (edge, _)) = ours.next()?;
    let own = groups.of(&entry.owner, service)?.edges.first()?;
    Some(format!(
        "Edge {} is too slow and hands a part of {}'s entries on: this one goes to {edge}.",
        own.name, entry.owner
    ))
}

/// What the last polls of the BASes concerned have to do with it.
fn polls(shape: &ExplainShape, state: &State, now: Timestamp) -> Vec<String> {
    let polled = shape.answer.entry.as_ref().filter(|entry| entry.origin == "polled");
    let owner = polled.and_then(|entry| entry.bas.as_deref());
    let claiming = |bas: &str| {
        shape.claims.iter().any(|claim| claim.standing.is_some() && claim.bas.as_deref() == Some(bas))
    };
    let mut concerned: Vec<&str> = shape.claims.iter().filter_map(|claim| claim.bas.as_deref()).collect();
    concerned.extend(owner);
    concerned.sort_unstable();
    concerned.dedup();
    let mut told = Vec::new();
    for bas in concerned {
        let Some(memory) = state.memories.get(bas) else { continue };
        let failed = memory.tried && memory.state.as_str() != "complete";
        if let Some(at) = memory.last_attempt.filter(|_| failed) {
            told.push(format!(
                "The last poll of {bas}, {}, did not read it to its end ({}): what it listed before stays.",
                ago(at, now),
                if memory.reason.is_empty() { &memory.state } else { &memory.reason }
            ));
        }
        if let Some(at) = memory.last_complete.filter(|_| owner == Some(bas) && !claiming(bas)) {
            told.push(format!("{bas} was read to its end {}, and does not list it any more.", ago(at, now)));
        }
    }
    told
}

fn answer(shape: &ExplainShape) -> String {
    let answer = &shape.answer;
    let edges = answer.edges.join(", ");
    match &answer.entry {
        None => format!(
            "{} lies in no entry of space {}: the default group {} answers, with {edges}.",
            answer.ip, answer.space, answer.group
        ),
        Some(entry) => format!(
            "{} lies in {}-{} of {}: group {} answers, with {edges}.",
            answer.ip,
            entry.first,
            entry.last,
            match &entry.bas {
                Some(bas) if entry.origin == "polled" => format!("{bas}, pool {}", quoted(&entry.pool)),
                Some(bas) => format!("a static line for {bas}"),
                None => "a static line".to_owned(),
            },
            answer.group
        ),
    }
}

/// How long ago something was, for people: times themselves are for JSON.
fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", span(now.duration_since(at).as_secs().max(0)))
}

fn span(seconds: i64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn quoted(pool: &str) -> String {
    if pool.is_empty() { "without a name".to_owned() } else { format!("\"{pool}\"") }
}

fn owners(owner: Option<&str>) -> String {
    owner.map_or_else(|| "nobody's".to_owned(), |owner| format!("{owner}'s"))
}

fn claim(claim: &ClaimShape, now: Timestamp) -> String {
    let range = format!("{}-{}", claim.first, claim.last);
    let Some(standing) = &claim.standing else {
        let whose = claim.bas.as_ref().unwrap_or(&claim.owner);
        return match claim.class.as_str() {
            "override" => format!("A static line gives {range} to {whose}, before every router."),
            _ => format!("A static line gives {range} to {whose}, where no router claims it."),
        };
    };
    let bas = claim.bas.as_deref().unwrap_or_default();
    let pool = quoted(&claim.pool);
    let read = match claim.last_complete {
        Some(at) => format!("last read {}", ago(at, now)),
        None => "never read to its end".to_owned(),
    };
    let standing = match standing.as_str() {
        "listed" => "lists",
        _ => "listed before, and may still list (its row could not be read),",
    };
    let class = match claim.class.as_str() {
        "kept" => {
            "; it is stale and another BAS has begun to list it, so it only keeps what nobody else claims"
        }
        _ => "",
    };
    format!("{bas} {standing} {range} in pool {pool} ({read}, priority {}){class}.", claim.priority)
}

fn rule(shape: &ExplainShape) -> Option<String> {
    let winner = owners(shape.built.as_deref());
    Some(match shape.rule.as_deref()? {
        "class" => format!("It is {winner}: its claim is of a higher class than the others."),
        "nested" => format!("It is {winner}: its range lies within the others and is at most half as large."),
        "private" => "It is nobody's: these are private addresses, and two owners claim them.".to_owned(),
        "priority" => format!("It is {winner}: its priority is the highest."),
        "previous" => format!("It is {winner}: nothing else decides, and it had the address before."),
        _ => format!("It is {winner}: nothing else decides, and its name comes first."),
    })
}

fn refusal(refused: &RefusedShape) -> String {
    let who = match &refused.bas {
        Some(bas) => format!("{bas} lists it in pool {}", quoted(&refused.pool)),
        None => "a static line names it".to_owned(),
    };
    let why = match refused.reason.as_str() {
        "too-large" => "in a range larger than `max-range` allows: refused".to_owned(),
        "never-published" => "but such addresses are never published".to_owned(),
        "private-skipped" => "but its space leaves private addresses out (`private = \"skip\"`)".to_owned(),
        _ => {
            let vrf = refused.vrf.as_deref().unwrap_or_default();
            match &refused.space {
                Some(space) => format!("but its VRF \"{vrf}\" belongs to space {space}"),
                None => format!("but its VRF \"{vrf}\" belongs to no space"),
            }
        }
    };
    format!("{who}, {why}.")
}

/// What would change the answer.
pub(super) fn remedies(shape: &ExplainShape, decision: &Decision, now: Timestamp) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(pin) = &shape.pin {
        let left = span(pin.expires.duration_since(now).as_secs().max(0));
        told.push(format!("`poolsync unfreeze`; in {left} the pin ends by itself."));
    }
    if let Some(held) = &shape.held {
        told.push(format!(
            "`poolsync held approve {}` makes it {}.",
            held.id,
            owners(shape.built.as_deref())
        ));
    }
    for drain in &shape.drained {
        told.push(format!("`poolsync edge undrain {}` brings that edge back.", drain.edge));
    }
    if let Some(remedy) = shape.rule.as_deref().map(contest) {
        told.push(remedy.to_owned());
    }
    for refused in shape.refused.iter().filter(|refused| refused.reason == "other-space") {
        let vrf = refused.vrf.as_deref().unwrap_or_default();
        let space = &shape.answer.space;
        told.push(format!("VRF \"{vrf}\" among the `vrfs` of [space.{space}], where it belongs there."));
    }
    let winner = shape.claims.iter().find(|claim| claim.wins);
    told.push(match winner {
        None if decision.claims.is_empty() => "A router that lists it, or a `[[static]]` line.".to_owned(),
        None => "A `[[static]]` line with `mode = \"override\"`.".to_owned(),
        Some(claim) if claim.standing.is_none() => "The static line taken away, or changed.".to_owned(),
        Some(claim) => format!(
            "{} ceasing to list it (a large loss waits for a person), other `edges` for it, or a `[[static]]` line with `mode = \"override\"`.",
            claim.bas.as_deref().unwrap_or(&claim.owner)
        ),
    });
    told
}

fn contest(rule: &str) -> &'static str {
    match rule {
        "class" => "The better claim going away: the others are there to take it.",
        "nested" => "The smaller pool going away: the larger one around it would have it.",
        "private" => "One `pair` for the two owners, or a space for each of their VRFs.",
        "priority" => "A higher `priority` for the other BAS.",
        _ => "A `priority` for one of the BASes that claim it, or a `pair` for both.",
    }
}
