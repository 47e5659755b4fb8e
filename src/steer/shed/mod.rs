//! Shedding: an edge whose delay is too high hands a share of its entries to another one.
//!
//! Four modes say how large a share is for the delays of the two edges ([`Rules::level`]):
//! by the sender's delay, by the receiver's, by the receiver's in fixed levels, by both. As a
//! share that is set anew each time, each of them flips on and off at its threshold. So the
//! level is a step ([`step`]): the share grows by a part of it while the smoothed delay is
//! over the threshold, and shrinks slowly once it is well below; never over a cap, and never
//! by more than the receiver has room for.
//!
//! Which entries are shed is decided by a hash ([`crate::table::Part`]): those of a smaller share are among
//! those of any larger one, so that a change of the share moves what it has to and no more.

mod control;
mod curve;

pub use control::{ShedMemory, ShedSource, step};
pub use curve::{Mode, Receiving, Rules};
