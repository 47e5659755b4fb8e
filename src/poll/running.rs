//! Polls that run side by side, and what they come to.

use std::collections::VecDeque;
use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinSet, yield_now};
use tokio_util::task::AbortOnDropHandle;

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Ended<T> = Vec<Result<T, JoinError>>;

/// Polls that run where the routers' answers are read, and end where they are waited for.
///
/// What one thread tells another wakes that up, which may cost as much as the whole poll. So
/// those that ended on one batch of answers are handed over together. Dropping it breaks off
/// what runs.
#[derive(Debug)]
pub struct Running<T> {
    start: UnboundedSender<Work<T>>,
    ended: UnboundedReceiver<Ended<T>>,
    /// What was handed over and not asked for yet.
    here: VecDeque<Result<T, JoinError>>,
    len: usize,
    _gathering: AbortOnDropHandle<()>,
}

impl<T: Send + 'static> Running<T> {
    /// None yet; they are to run on `runtime`.
    pub fn on(runtime: &Handle) -> Self {
        let (start, starting) = unbounded_channel();
        let (ending, ended) = unbounded_channel();
        let gathering = AbortOnDropHandle::new(runtime.spawn(gather(starting, ending)));
        Self { start, ended, here: VecDeque::new(), len: 0, _gathering: gathering }
    }

    /// Starts one.
    pub fn spawn(&mut self, poll: impl Future<Output = T> + Send + 'static) {
        // Where they run nothing else ends the gathering: then the runtime itself has ended,
        // and `next` says that there are none.
        if self.start.send(Box::pin(poll)).is_ok() {
            self.len += 1;
        }
    }

    /// How many were started and not yet given by [`Running::next`].
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What the next one came to; none where none runs. Nothing is lost where this is dropped
    /// while it waits.
    ///
    /// # Errors
    /// Where a poll panicked.
    pub async fn next(&mut self) -> Option<Result<T, JoinError>> {
        if self.len > 0 && self.here.is_empty() {
            match self.ended.recv().await {
                Some(ended) => self.here.extend(ended),
                None => self.len = 0,
            }
        }
        let next = self.here.pop_front()?;
        self.len -= 1;
        Some(next)
    }
}

/// Runs what is to be started, and hands over what ended.
async fn gather<T: Send + 'static>(
    mut starting: UnboundedReceiver<Work<T>>,
    ending: UnboundedSender<Ended<T>>,
) {
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            Some(ended) = running.join_next() => {
                // The others that have their answers go first.
                yield_now().await;
                let mut all = vec![ended];
                all.extend(std::iter::from_fn(|| running.try_join_next()));
                if ending.send(all).is_err() {
                    return;
                }
            }
            start = starting.recv() => match start {
                Some(poll) => {
                    running.spawn(poll);
                }
                None => return,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::Semaphore;

    use super::*;

    async fn all(running: &mut Running<u32>) -> Vec<u32> {
        let mut all = Vec::new();
        while let Some(ended) = running.next().await {
            all.push(ended.unwrap());
        }
        all.sort_unstable();
        all
    }

    #[tokio::test]
    async fn each_ends_once_whenever_it_ends() {
        let mut running = Running::on(&Handle::current());
        assert!(running.next().await.is_none());
        let gate = Arc::new(Semaphore::new(0));
        for number in 0..200 {
            let gate = Arc::clone(&gate);
            running.spawn(async move {
                if number % 3 == 0 {
                    gate.acquire().await.unwrap().forget();
                }
                number
            });
        }
        assert_eq!(running.len(), 200);
        let mut some = Vec::new();
        for _ in 0..133 {
            some.push(running.next().await.unwrap().unwrap());
        }
        assert!(some.iter().all(|number| number % 3 != 0));
        assert_eq!(running.len(), 67);
        gate.add_permits(67);
        let rest: Vec<u32> = (0..67).map(|third| third * 3).collect();
        assert_eq!(all(&mut running).await, rest);
        assert!(running.is_empty());
        running.spawn(async { 7 });
        assert_eq!(all(&mut running).await, [7]);
    }

    #[tokio::test]
    async fn one_that_panics_is_told_and_costs_no_other() {
        let mut running = Running::on(&Handle::current());
        running.spawn(async { panic!("as is to be seen") });
        running.spawn(async { 5 });
        let mut told = Vec::new();
        while let Some(ended) = running.next().await {
            told.push(ended.map_err(|error| error.is_panic()));
        }
        told.sort_unstable();
        assert_eq!(told, [Ok(5), Err(true)]);
    }

    #[tokio::test]
    async fn dropping_it_breaks_off_what_runs() {
        let mut running: Running<()> = Running::on(&Handle::current());
        let alive = Arc::new(());
        let (held, begun) = (Arc::clone(&alive), Arc::new(Semaphore::new(0)));
        let begins = Arc::clone(&begun);
        running.spawn(async move {
            begins.add_permits(1);
            std::future::pending::<()>().await;
            drop(held);
        });
        begun.acquire().await.unwrap().forget();
        drop(running);
        let ends = async {
            while Arc::strong_count(&alive) > 1 {
                yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ends).await.expect("the poll goes on");
    }
}
