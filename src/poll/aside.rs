//! Work that takes long, and what else its thread had to do.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// What is made of so many rows is some milliseconds' work.
const MANY: u64 = 10_000;

/// Does what takes long where it is about so many rows: then others take over what else the
/// thread had to do, where it has a runtime that can.
pub(super) fn aside<T>(rows: u64, work: impl FnOnce() -> T) -> T {
    let can = || Handle::try_current().is_ok_and(|at| at.runtime_flavor() == RuntimeFlavor::MultiThread);
    if rows >= MANY && can() { block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// What a piece of work hears of another task of the same thread, which begins after it.
    async fn heard(rows: u64, patience: Duration) -> Result<u32, mpsc::RecvTimeoutError> {
        let (says, hears) = mpsc::channel();
        let work = tokio::spawn(async move {
            tokio::spawn(async move { says.send(7) });
            aside(rows, || hears.recv_timeout(patience))
        });
        work.await.unwrap()
    }

    #[test]
    fn what_takes_long_keeps_nobody_waiting() {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).build().unwrap();
        assert_eq!(runtime.block_on(heard(MANY, PATIENCE)), Ok(7));
        // What is soon done is done at once.
        let soon = runtime.block_on(heard(MANY - 1, Duration::from_millis(10)));
        assert_eq!(soon, Err(mpsc::RecvTimeoutError::Timeout));
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_done_there() {
        assert_eq!(aside(MANY, || 7), 7);
    }
}
