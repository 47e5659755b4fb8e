//! Fuzz targets: everything that reads octets which somebody else has written.
//!
//! A target takes any octets and returns; what it must never do is panic, go on without end,
//! or make much memory of little input. The fuzzer (`fuzzer.rs`) feeds it what covers new code;
//! `cargo test --lib fuzz` feeds it the committed inputs, without the fuzzer.

#![allow(clippy::panic)]

mod files;
mod rows;
mod texts;

#[cfg(test)]
mod replay;

/// Takes any octets.
pub type Target = fn(&[u8]);

/// The targets by name; their inputs are in `tests/fuzz/corpus/NAME`.
pub const TARGETS: &[(&str, Target)] = &[
    ("message", crate::snmp::fuzz::message),
    ("usm", crate::snmp::fuzz::usm),
    ("sealed", crate::snmp::fuzz::sealed),
    ("walk", crate::snmp::fuzz::walk),
    ("notice", crate::snmp::fuzz::notice),
    ("rows", rows::rows),
    ("snmprec", rows::snmprec),
    ("descriptor", files::descriptor),
    ("configuration", files::configuration),
    ("readback", files::readback),
    ("table", texts::table),
    ("log", texts::log),
    ("load", texts::load),
    ("dns", crate::publish::fuzz::dns),
    ("haproxy", crate::publish::fuzz::haproxy),
];

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}

/// Takes numbers off the front of an input; noughts where it has ended.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_be_bytes([self.octet(), self.octet(), self.octet(), self.octet()])
    }

    /// So many octets, or what is left.
    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// One of these.
    pub(crate) fn of<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[usize::from(self.octet()) % choices.len()]
    }
}
