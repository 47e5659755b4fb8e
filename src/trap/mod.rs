//! Notifications from routers, and which BAS is to be polled because of one.
//!
//! A notification says only that something has changed: what has, a poll finds out, by the
//! same rules as any other. Reading them is `snmp`'s, sockets are the daemon's; here is who may
//! send them ([`Senders`]), which of them count ([`Filter`]), when a poll comes of it
//! ([`Pacing`]), and what was counted ([`Tally`]). Pure, but for the counters.

mod pacing;
mod senders;
mod tally;

pub use pacing::Pacing;
pub use senders::{Known, Senders};
pub use tally::{LastRefused, Tally};

use crate::snmp::Oid;

/// Which notifications count: those under one of these OIDs, arc by arc; all where there is
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    roots: Vec<Oid>,
}

impl Filter {
    /// A filter of these OIDs.
    pub fn new(roots: Vec<Oid>) -> Self {
        Self { roots }
    }

    /// Whether a notification counts.
    pub fn wants(&self, notification: &Oid) -> bool {
        self.roots.is_empty() || self.roots.iter().any(|root| notification.suffix(root).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_compares_arc_by_arc() {
        let oid = |text: &str| text.parse::<Oid>().unwrap();
        let filter = Filter::new(vec![oid("1.3.6.1.6.3.1.1.5.1"), oid("1.3.6.1.4.1.2011")]);
        assert!(filter.wants(&oid("1.3.6.1.6.3.1.1.5.1")));
        assert!(filter.wants(&oid("1.3.6.1.4.1.2011.6.8.2.0.1")));
        for other in ["1.3.6.1.6.3.1.1.5.10", "1.3.6.1.6.3.1.1.5", "1.3.6.1.4.1.20110.1", "1.3.6.1.4.1.201"] {
            assert!(!filter.wants(&oid(other)), "{other}");
        }
        assert!(Filter::default().wants(&oid("1.3.6")));
    }
}
