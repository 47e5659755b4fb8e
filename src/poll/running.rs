//! Polls that run side by side, and what they come to.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinSet, yield_now};
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

/// How long one that stands behind lets the others go first.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many of those that stand behind begin at a time: others may have come meanwhile.
const PORTION: usize = 32;
/// From so many that ended on, no others are waited for.
const HANDFUL: usize = 256;

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Ended<T> = Vec<Result<T, JoinError>>;

/// One that is to run.
struct Start<T> {
    poll: Work<T>,
    behind: bool,
}

/// Polls that run where the routers' answers are read, and end where they are waited for.
///
/// What one thread tells another wakes that up, which may cost as much as the whole poll. So
/// those that ended shortly after each other are handed over together. Dropping it breaks off
/// what runs.
#[derive(Debug)]
pub struct Running<T> {
    start: UnboundedSender<Start<T>>,
    ended: UnboundedReceiver<Ended<T>>,
    /// What was handed over and not asked for yet.
    here: VecDeque<Result<T, JoinError>>,
    len: usize,
    _gathering: AbortOnDropHandle<()>,
}

impl<T: Send + 'static> Running<T> {
    /// None yet; they are to run on `runtime`.
    pub fn on(runtime: &Handle) -> Self {
        Self::patient(runtime, PATIENCE)
    }

    fn patient(runtime: &Handle, patience: Duration) -> Self {
        let (start, starting) = unbounded_channel();
        let (ending, ended) = unbounded_channel();
        let gathering = AbortOnDropHandle::new(runtime.spawn(gather(starting, ending, patience)));
        Self { start, ended, here: VecDeque::new(), len: 0, _gathering: gathering }
    }

    /// Starts one.
    pub fn spawn(&mut self, poll: impl Future<Output = T> + Send + 'static) {
        self.start(Box::pin(poll), false);
    }

    /// Starts one that lets all others go first, for a second at most. Of a router that was
    /// silent when it was last asked: what is said to it is most likely said in vain, and a
    /// thousand such words are not to keep a living one waiting.
    pub fn spawn_behind(&mut self, poll: impl Future<Output = T> + Send + 'static) {
        self.start(Box::pin(poll), true);
    }

    fn start(&mut self, poll: Work<T>, behind: bool) {
        // Where they run nothing else ends the gathering: then the runtime itself has ended,
        // and `next` says that there are none.
        if self.start.send(Start { poll, behind }).is_ok() {
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
    mut starting: UnboundedReceiver<Start<T>>,
    ending: UnboundedSender<Ended<T>>,
    patience: Duration,
) {
    let (mut ahead, mut behind) = (JoinSet::new(), JoinSet::new());
    // Not even begun: a poll that runs keeps some kilobytes.
    let mut waiting: VecDeque<(Instant, Work<T>)> = VecDeque::new();
    loop {
        let (nobody_ahead, until) = (ahead.is_empty(), waiting.front().map(|(until, _)| *until));
        let ended = tokio::select! {
            biased;
            start = starting.recv() => {
                match start {
                    Some(Start { poll, behind: true }) => waiting.push_back((Instant::now() + patience, poll)),
                    Some(Start { poll, behind: false }) => _ = ahead.spawn(poll),
                    None => return,
                }
                continue;
            }
            Some(ended) = ahead.join_next() => with_others(ended, &mut ahead).await,
            Some(ended) = behind.join_next() => with_others(ended, &mut behind).await,
            () = their_turn(nobody_ahead, until) => {
                let portion = waiting.len().min(PORTION);
                waiting.drain(..portion).for_each(|(_, poll)| _ = behind.spawn(poll));
                continue;
            }
        };
        if ending.send(ended).is_err() {
            return;
        }
    }
}

/// Waits until those that stand behind may begin, the first of which is patient until then;
/// for ever where there is none.
async fn their_turn(nobody_ahead: bool, until: Option<Instant>) {
    match until {
        Some(_) if nobody_ahead => yield_now().await,
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// One that ended, and the others that end while the thread has answers to read.
async fn with_others<T: 'static>(ended: Result<T, JoinError>, running: &mut JoinSet<T>) -> Ended<T> {
    let mut all = vec![ended];
    let mut before = 0;
    while before < all.len() && all.len() < HANDFUL {
        before = all.len();
        yield_now().await;
        all.extend(std::iter::from_fn(|| running.try_join_next()));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    /// The next one, which is not waited for for ever.
    async fn next(running: &mut Running<u32>) -> Option<u32> {
        let next = tokio::time::timeout(Duration::from_secs(60), running.next()).await;
        next.expect("it waits for ever").map(Result::unwrap)
    }

    async fn all(running: &mut Running<u32>) -> Vec<u32> {
        let mut all = Vec::new();
        while let Some(ended) = next(running).await {
            all.push(ended);
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
    async fn one_that_stands_behind_lets_the_others_go_first() {
        let mut running = Running::patient(&Handle::current(), Duration::from_secs(3600));
        let (gate, begun) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicBool::new(false)));
        let opens = Arc::clone(&gate);
        running.spawn(async move {
            opens.acquire().await.unwrap().forget();
            1
        });
        let begins = Arc::clone(&begun);
        running.spawn_behind(async move {
            begins.store(true, Ordering::SeqCst);
            2
        });
        // Started last, and done first.
        running.spawn(async { 3 });
        assert_eq!(next(&mut running).await, Some(3));
        assert!(!begun.load(Ordering::SeqCst), "while another one runs");
        gate.add_permits(1);
        assert_eq!(next(&mut running).await, Some(1));
        assert_eq!(next(&mut running).await, Some(2));
    }

    #[tokio::test]
    async fn it_does_not_do_so_for_ever() {
        let mut running = Running::patient(&Handle::current(), Duration::from_millis(1));
        running.spawn(std::future::pending());
        for number in 0..100 {
            running.spawn_behind(async move { number });
        }
        let mut some = Vec::new();
        for _ in 0..100 {
            some.push(next(&mut running).await.unwrap());
        }
        some.sort_unstable();
        assert_eq!(some, (0..100).collect::<Vec<_>>());
        assert_eq!(running.len(), 1);
    }

    #[tokio::test]
    async fn where_nobody_else_runs_it_waits_for_nobody() {
        let mut running = Running::patient(&Handle::current(), Duration::from_secs(3600));
        for number in 0..500 {
            running.spawn_behind(async move { number });
        }
        assert_eq!(all(&mut running).await, (0..500).collect::<Vec<_>>());
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
