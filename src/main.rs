//! The `poolsync` program: wiring only.

fn main() {}
