//! The rules of the table at work: a small world of routers, polled and judged minute by
//! minute, and stories that simpler rules get wrong.

#![allow(clippy::unwrap_used, clippy::panic)]

mod random;
mod stories;
mod world;
