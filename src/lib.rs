//! poolsync keeps a CDN's routing table true by reading address pools from broadband
//! routers over SNMP. This page is the tour of the code.
//!
//! # The way of an address
//! A subscriber dials in and gets an address of a *pool* on its *BAS* (a broadband router:
//! BRAS, BNG). A *GSLB* server that is asked for content looks the subscriber's address up
//! in a table and answers with the *edge* that stands by that BAS; an address in no *entry*
//! gets the default edge. poolsync makes that table:
//!
//! ```text
//! collect -> build -> steer -> compare -> judge -> commit -> publish
//! poll       table    table    table      table    store     publish
//! ```
//!
//! [`cycle`] is that sentence as a function; each verb is a module.
//!
//! # The words
//! | word | meaning |
//! |---|---|
//! | BAS | the polled router; BASes of one `pair` are one *owner* |
//! | pool, range | a named pool on a BAS; each of its closed address intervals |
//! | space | an address space that lookups happen in; a VRF belongs to one, or to none |
//! | claim | what one BAS, or a static line, says about one range, with its *class* |
//! | entry | one disjoint range of the built table, with its owner |
//! | group | what an entry is answered with: edges in order; named by a *token* in files |
//! | generation | one committed state of the table: a number that only grows, in a *session* |
//! | held | a change that the guard keeps back: the addresses stay published as they are |
//! | stale | a BAS whose last complete poll is too long ago |
//! | filled | enough of the fleet has been read for the table to be published at all |
//! | consumer | a GSLB server that takes the table |
//! | descriptor | a TOML file that tells how one vendor's pool tables are laid out |
//!
//! # The layers
//! A module uses only what stands to its left; `tests/layers.rs` holds them to it.
//!
//! `address` <- `table` <- {`format`, `store`, `steer`, `snmp`} <- `mib` <- {`poll`, `load`,
//! `trap`, `publish`, `coverage`} <- `config` <- `cycle` <- `http` <- `daemon` <- `cli`
//!
//! * [`address`]: closed ranges, minimal prefix lists, sets. Pure.
//! * [`table`]: claims to entries (the rules of ownership), the difference of two tables, the
//!   guard that judges it, groups, and what is remembered per BAS. Pure: the clock comes in
//!   as an argument.
//! * [`snmp`]: the walk engine on our own UDP transport; a table is read to its end or it has
//!   failed, there is nothing between. And the agent that replays recorded walks.
//! * [`mib`]: descriptors, and rows decoded by them.
//! * [`poll`]: one poll of one BAS; its failure is data.
//! * [`trap`]: which BAS is polled because of a notification, and how often at most.
//! * [`steer`]: which group answers for which owner, with which edges and weights; the plan,
//!   shedding, and the simulation of all policies. Pure.
//! * [`load`]: what edges say of themselves, one snapshot a cycle.
//! * [`store`]: SQLite, one owner, generations by validity intervals.
//! * [`format`] and [`publish`]: a table as each consumer wants it, put in its place whole.
//! * [`coverage`]: a hand-kept table and a log of viewers held against the table.
//! * [`cycle`] joins them; [`http`] is the control socket, [`daemon`] the service, [`cli`] the
//!   commands.

pub mod address;
pub mod cli;
pub mod config;
pub mod coverage;
pub mod cycle;
pub mod daemon;
pub mod format;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../tests/fuzz/targets.rs"]
pub mod fuzz;
pub mod http;
pub mod load;
pub mod logging;
pub mod mib;
pub mod poll;
pub mod publish;
pub mod snmp;
pub mod steer;
pub mod store;
pub mod table;
pub mod trap;
