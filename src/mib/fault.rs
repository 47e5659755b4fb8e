//! Why a table, or a whole poll, is not complete.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::snmp::Reason;

/// Why a table, or a whole poll, is not complete. A closed list, with what SNMP itself fails
/// by; the words stand in status, metrics and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It, or a table that it cannot do without, could not be read.
    Snmp(Reason),
    /// The router is known by several descriptors, and its tables did not decide.
    AmbiguousDescriptor,
    /// The poll was broken off by a fault of this program: of the router that says nothing.
    Internal,
    /// The SNMP context that it was last read in could not be made out this time.
    MissingContext,
    /// It has rows, but a table that they are joined to is not there.
    MissingTable,
    /// No descriptor knows the router by its sysObjectID and sysDescr.
    NoDescriptor,
    /// The router has none of the descriptor's tables.
    NoTables,
    /// The router restarted while it was being read.
    Restarted,
    /// The router's name could not be resolved: of the router itself that says nothing.
    Unresolved,
    /// A table that once had rows has none, while another has rows that need it, or ranges
    /// that would take the place of its own.
    Vanished,
}

impl Fault {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Snmp(reason) => snmp(reason),
            Self::AmbiguousDescriptor => "ambiguous-descriptor",
            Self::NoDescriptor => "no-descriptor",
            Self::NoTables => "no-tables",
            Self::Internal => "internal",
            Self::MissingContext => "missing-context",
            Self::MissingTable => "missing-table",
            Self::Restarted => "restarted",
            Self::Unresolved => "unresolved",
            Self::Vanished => "vanished",
        }
    }
}

/// The words that [`Reason`] is serialised as; a test holds them together.
fn snmp(reason: Reason) -> &'static str {
    match reason {
        Reason::AuthorizationError => "authorization-error",
        Reason::Deadline => "deadline",
        Reason::DecryptionError => "decryption-error",
        Reason::ErrorStatus => "error-status",
        Reason::Malformed => "malformed",
        Reason::NotInTimeWindow => "not-in-time-window",
        Reason::OidOrder => "oid-order",
        Reason::OtherAddress => "other-address",
        Reason::SendFailed => "send-failed",
        Reason::TooLarge => "too-large",
        Reason::Timeout => "timeout",
        Reason::UnknownContext => "unknown-context",
        Reason::UnknownEngine => "unknown-engine",
        Reason::UnknownUser => "unknown-user",
        Reason::Unreachable => "unreachable",
        Reason::UnsupportedLevel => "unsupported-level",
        Reason::WrongDigest => "wrong-digest",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_that_snmp_writes() {
        let all = [
            Reason::AuthorizationError,
            Reason::Deadline,
            Reason::DecryptionError,
            Reason::ErrorStatus,
            Reason::Malformed,
            Reason::NotInTimeWindow,
            Reason::OidOrder,
            Reason::OtherAddress,
            Reason::SendFailed,
            Reason::TooLarge,
            Reason::Timeout,
            Reason::UnknownContext,
            Reason::UnknownEngine,
            Reason::UnknownUser,
            Reason::Unreachable,
            Reason::UnsupportedLevel,
            Reason::WrongDigest,
        ];
        for reason in all {
            assert_eq!(serde_json::to_value(reason).unwrap(), Fault::Snmp(reason).as_str());
        }
    }
}
