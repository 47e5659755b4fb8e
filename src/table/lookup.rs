//! To be told by its owner.
