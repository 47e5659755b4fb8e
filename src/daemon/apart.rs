//! Long questions, answered beside the owner of the store: reading back a million entries, or
//! writing them in a format, delays neither polls nor what they bring.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use crate::cycle::{Operation, Problem, Reply, State};

/// So many are answered at a time; each takes a core and memory for a table.
const AT_A_TIME: usize = 2;

/// Those who answer.
#[derive(Debug)]
pub(super) struct Apart {
    slots: Arc<Semaphore>,
}

impl Default for Apart {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(AT_A_TIME)) }
    }
}

impl Apart {
    /// Has a question answered out of a state and the store at `path`.
    pub(super) fn answer(
        &self,
        state: State,
        path: PathBuf,
        operation: Operation,
        reply: oneshot::Sender<Reply>,
    ) {
        let slots = Arc::clone(&self.slots);
        tokio::spawn(async move {
            let _slot = slots.acquire().await;
            if reply.is_closed() {
                return;
            }
            let runtime = Handle::current();
            // On a thread of its own: those of the runtime have polls to carry.
            let answered = tokio::task::spawn_blocking(move || {
                runtime.block_on(state.answer_apart(&path, &operation, Timestamp::now()))
            });
            let broken = |e: tokio::task::JoinError| {
                Err(Problem::new(500, "broken-off", "the answer was broken off", &e.to_string()))
            };
            // Whoever asked may have left.
            let _ = reply.send(answered.await.unwrap_or_else(broken));
        });
    }
}
