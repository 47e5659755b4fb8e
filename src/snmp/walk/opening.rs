//! The first question of a poll that knows what it will find: the router's own objects and
//! the first rows of a table, in one answer.

use super::cursor::Walk;
use super::fault::Fault;
use super::moment::Together;
use super::stride::Good;
use super::{Columns, Failure, Learnt, Outcome, Reason, Session, TableRead};
use crate::snmp::dialect::Question;
use crate::snmp::message::{PduKind, Varbind};
use crate::snmp::{Context, Oid, Value};

/// What a poll began with.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The value of each object; none where the agent has none, or hides it.
    pub values: Vec<Option<Value>>,
    /// The table, walked to its end.
    pub table: TableRead,
}

impl Session {
    /// Asks for scalar objects (each given with its instance, `.0`) and a table in one
    /// GETBULK, and walks the table on to its end. The objects are from the same moment as
    /// the table's first rows. `together` as for [`Session::table_of_one_moment`].
    ///
    /// # Errors
    /// Where that question had no proper answer: then nothing of it counts, and the objects
    /// and the table are to be asked for one by one.
    pub async fn opening(
        &mut self,
        context: &Context,
        scalars: &[Oid],
        columns: &Columns,
        learnt: Learnt,
        max_rows: Option<u32>,
        together: &[Vec<u32>],
    ) -> Result<Opening, Failure> {
        let mut stride = self.stride(columns, learnt);
        let mut walk = Walk::table(columns);
        walk.together = Together::all(columns, together);
        let repetitions = stride.repetitions();
        let Some(asked) = walk.next(stride.width()).filter(|_| repetitions > 0) else {
            return Err(Failure::new(Reason::Malformed, "a walk by GETNEXT has no opening"));
        };
        // GETBULK gives what comes behind a name: behind an object without its instance
        // comes the instance.
        let once: Vec<Oid> = scalars.iter().map(object).collect();
        // A dead router costs one packet more by this, and no more.
        let (kind, tries) = (PduKind::GetBulk, 1);
        let question = Question { context, kind, once: &once, oids: &asked.oids, repetitions, tries };
        let before = self.line.cost.bytes;
        // What fails here is not tried again in another form.
        self.along.judge(false);
        let binds = self.ask(question).await.map_err(|fault| fault.failure)?.varbinds;
        if binds.len() <= once.len() {
            let detail = format!("{} varbinds came for {} objects and a table", binds.len(), once.len());
            return Err(Fault::of(Failure::new(Reason::Malformed, detail), &question).failure);
        }
        let objects: Vec<Varbind> = binds.iter().take(once.len()).map(|bind| bind.decoded()).collect();
        let cells = binds.behind(once.len());
        let whole = cells.len() as u64 >= asked.oids.len() as u64 * u64::from(repetitions);
        walk.take(&asked, cells, true).map_err(|failure| Fault::of(failure, &question).failure)?;
        stride.good(Good { whole, octets: self.line.cost.bytes - before, quick: self.line.was_quick() });
        let values = objects
            .into_iter()
            .zip(scalars)
            .map(|(found, wanted)| (found.oid == *wanted).then_some(found.value));
        let values: Vec<_> = values.collect();
        self.along.judge(values.iter().all(Option::is_some));

        let (before, most) = (self.rows, max_rows.map_or(u64::MAX, u64::from));
        self.rows += u64::try_from(walk.rows.len()).unwrap_or(u64::MAX);
        let (outcome, detail) = match self.too_many_rows(before, most) {
            Some(failure) => (Outcome::Failed(failure.reason), failure.detail),
            None => {
                self.rows = before;
                let ended = self.run(context, &mut walk, &mut stride, max_rows).await;
                self.rows = before + u64::try_from(walk.rows.len()).unwrap_or(u64::MAX);
                ended
            }
        };
        let repetitions = stride.learnt();
        let (rows, behind) = (walk.rows, walk.behind);
        let mut table = TableRead { outcome, detail, rows, repetitions, behind };
        self.settle_all(context, columns, &walk.together, max_rows, &mut table).await;
        Ok(Opening { values, table })
    }
}

/// The object of an instance.
pub(super) fn object(instance: &Oid) -> Oid {
    Oid::new(instance.arcs().split_last().map_or(&[][..], |(_, object)| object))
}
