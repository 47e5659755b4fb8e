//! A poll that ends: it was talked where the routers' answers are read, and is judged where it
//! is taken in. A panic on the way is one more thing that can become of a poll: a router that
//! brings one about is failed, and is polled again.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;
use jiff::Timestamp;

use super::Arrived;
use crate::poll::{Polled, Talked};
use crate::table::Name;

/// A poll of which all that waits is done.
pub struct Arriving {
    name: Name,
    address: SocketAddr,
    scheduled: bool,
    /// When it ended.
    at: Timestamp,
    /// None where it panicked.
    talked: Option<Talked>,
}

impl Arriving {
    /// Waits for the end of a poll of a BAS, which is at an address as far as that is known.
    pub(super) async fn after(
        name: Name,
        address: SocketAddr,
        scheduled: bool,
        talk: impl Future<Output = Talked>,
    ) -> Self {
        // What a panic leaves half done is dropped with the poll; what polls share is under
        // locks that stay sound.
        let talked = AssertUnwindSafe(talk).catch_unwind().await.ok();
        Self { name, address, scheduled, at: Timestamp::now(), talked }
    }

    /// What it found.
    pub fn arrived(self) -> Arrived {
        let Self { name, address, scheduled, at, talked } = self;
        let judged = talked.and_then(|talked| unbroken(|| talked.judged()));
        let polled = judged.unwrap_or_else(|| Polled::broken(&name, address));
        Arrived { polled, scheduled, at }
    }
}

/// None where it panics.
fn unbroken<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mib::Fault;
    use crate::poll::State;

    #[tokio::test]
    async fn a_poll_that_panics_is_a_failed_poll() {
        let address = "192.0.2.1:161".parse().unwrap();
        let panics = async { panic!("as is to be seen") };
        let Arrived { polled, scheduled, .. } =
            Arriving::after("bas1".into(), address, true, panics).await.arrived();
        assert_eq!((&*polled.name, polled.address, scheduled), ("bas1", address, true));
        assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Internal)));
        assert!(polled.tables.is_empty() && !polled.is_unreached());
    }

    #[test]
    fn so_is_one_whose_judgement_panics() {
        assert_eq!(unbroken(|| -> u32 { panic!("as is to be seen") }), None);
        assert_eq!(unbroken(|| 7), Some(7));
    }
}
