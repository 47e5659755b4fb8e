//! The `poolsync` program: wiring only.

use std::process::ExitCode;

use mimalloc::MiMalloc;

// A sweep allocates on every thread and keeps little of it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    poolsync::cli::main()
}
