//! The fuzzer: libFuzzer around one target, `FUZZ_TARGET` of [`poolsync::fuzz::TARGETS`].
//! `tests/fuzz/run` builds and starts it.

#![no_main]
#![allow(clippy::print_stderr)]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<poolsync::fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    poolsync::fuzz::target(&name).unwrap_or_else(|| {
        let names: Vec<&str> = poolsync::fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("FUZZ_TARGET is `{name}`; there are: {}", names.join(" "));
        std::process::exit(2)
    })
});

fuzz_target!(init: { LazyLock::force(&TARGET); }, |data: &[u8]| TARGET(data));
