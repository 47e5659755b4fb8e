//! How fast fleets are swept, beside the least that it can cost. Run it with
//! `cargo bench --bench snmp` (all of it), or `cargo bench --bench snmp -- NAME` for one of
//! the scenarios listed by `-- help`.
//!
//! Agents, the floor and poolsync are processes of their own on the same machine; poolsync's
//! is another program, `sweep`, which is built when it is needed. Programs are run in turn, five
//! to fifteen rounds, each with a ratio of its own: on a shared machine only what followed each
//! other can be compared.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod codec;
mod floor;
mod options;
mod peers;
mod scenarios;
mod sealed;
mod usage;
mod user;
mod wire;

use options::Options;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match words.next().as_deref() {
        Some("agents") => agents::serve(&Options::parse(words)),
        Some("sealed") => sealed::serve(&Options::parse(words)),
        Some("floor") => floor::run(&Options::parse(words)),
        Some("codec") => codec::run(&Options::parse(words)),
        Some("help") => println!("{}", scenarios::NAMES.join("\n")),
        scenario => scenarios::run(scenario),
    }
}
