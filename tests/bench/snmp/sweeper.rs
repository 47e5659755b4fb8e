//! poolsync's own sweep, on the allocator that the program itself runs on; what it is measured
//! beside runs on the C library's. The bench `snmp` builds this one, and runs it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![allow(dead_code, reason = "what is not needed here is for agents and floor")]

mod options;
mod sweep;
mod usage;
mod user;
mod wire;

use options::Options;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match words.next().as_deref() {
        Some("sweep") => sweep::run(&Options::parse(words)),
        _ => println!("this is run by the bench `snmp`, with agents to sweep"),
    }
}
