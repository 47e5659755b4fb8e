//! The `poolsync` program: wiring only.

use std::process::ExitCode;

fn main() -> ExitCode {
    poolsync::cli::main()
}
