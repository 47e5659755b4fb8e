//! Forgetting what polls have learnt of a BAS's tables. A table that once had rows is not
//! believed to be gone while something else would take its place; where it is gone for good, a
//! person says so.

use jiff::Timestamp;

use super::acts::act;
use super::collect::chosen;
use super::operation::PollRequest;
use super::shapes::Problem;
use super::{Cycle, Who};
use crate::table::{ActKind, Name};

impl Cycle {
    /// Does what a request to poll says of forgetting, where it says so. The poll that follows
    /// is judged by the guard like any other.
    ///
    /// # Errors
    /// Where no BAS is named, or an unknown one, or nothing is to be committed; where the store
    /// fails.
    pub async fn forget(&mut self, request: &PollRequest, who: &Who, now: Timestamp) -> Result<(), Problem> {
        if !request.forget {
            return Ok(());
        }
        let refuse = |detail: &str| Problem::new(400, "not-forgotten", "nothing is forgotten", detail);
        if request.bas.is_empty() {
            return Err(refuse("name the BASes whose tables have changed for good"));
        }
        if request.dry_run {
            return Err(refuse("a rehearsal changes nothing"));
        }
        let names = chosen(&self.state, &request.bas)?;
        let by = who.signed(request.by.as_deref());
        let detail = |name: &Name| format!("the descriptor and the tables of {name}");
        let done: Vec<_> = names
            .iter()
            .map(|name| act(ActKind::Forget, by.clone(), request.reason.as_deref(), detail(name), now))
            .collect();
        self.commit(self.same(), &done, now).await?;
        for name in names {
            if let Some(memory) = self.state.memories.get_mut(&name) {
                memory.forget_tables();
                tracing::warn!(bas = %name, %by, "its descriptor and tables are forgotten");
                self.dirty.insert(name);
            }
        }
        Ok(self.flush().await?)
    }
}
