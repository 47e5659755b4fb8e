//! A thread for one transport alone.

use tokio::runtime::Runtime;

/// Ends its thread when it is dropped, without waiting for it: it may be dropped on it.
#[derive(Debug)]
pub(super) struct Apart(Option<Runtime>);

impl Apart {
    pub(super) const fn new(runtime: Runtime) -> Self {
        Self(Some(runtime))
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::snmp::Transport;

    #[tokio::test]
    async fn the_thread_ends_with_the_last_clone() {
        let first = Transport::apart().unwrap();
        let second = first.limited(4);
        drop(first);
        let own = || std::fs::read_link("/proc/thread-self").unwrap();
        let thread = second.runtime().spawn(async move { own() }).await.unwrap();
        let thread = std::path::Path::new("/proc").join(thread);
        assert_eq!(std::fs::read_to_string(thread.join("comm")).unwrap().trim(), "snmp");
        drop(second);
        let ends = async {
            while thread.exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ends).await.expect("the thread goes on");
    }

    #[tokio::test]
    async fn the_last_clone_may_be_dropped_on_the_thread_itself() {
        let transport = Transport::apart().unwrap();
        let runtime = transport.runtime().clone();
        let dropped = runtime.spawn(async move { drop(transport) });
        // Broken off or done: neither is a panic.
        assert!(dropped.await.map_or_else(|error| error.is_cancelled(), |()| true));
    }
}
