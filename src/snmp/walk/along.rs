//! An object that comes along with every piece of a table: what it is when the last piece is
//! read, nobody has to ask for afterwards.

use super::{Failure, Reason, Session};
use crate::snmp::binds::Binds;
use crate::snmp::{Context, Oid, Value};

/// The object, and whether it comes along.
#[derive(Debug, Default)]
pub(super) struct Along {
    wanted: Option<Wanted>,
    standing: Standing,
    /// Whether the last question asked for it.
    asked: bool,
    /// What it was in the last answer; none where that was not asked for it.
    value: Option<Value>,
}

#[derive(Debug)]
struct Wanted {
    context: Context,
    /// The object with its instance, as it is to come.
    instance: Oid,
    /// And without, as it is asked for: GETBULK gives what comes behind a name.
    object: Oid,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Nobody knows whether the agent can do that.
    #[default]
    Unknown,
    /// It came.
    Comes,
    /// It did not, or nothing did: it is asked for no more.
    Stays,
}

impl Along {
    /// What the next question of a context is to ask for besides.
    pub(super) fn ask(&mut self, context: &Context, bulk: bool) -> Option<Oid> {
        let wanted = self.wanted.as_ref().filter(|wanted| bulk && wanted.context == *context);
        let wanted = wanted.filter(|_| self.standing != Standing::Stays);
        self.asked = wanted.is_some();
        wanted.map(|wanted| wanted.object.clone())
    }

    /// Transmissions of the next question, of `most`: while nobody knows whether the agent can
    /// do that, it is asked once, so that it costs a dead router one packet and no more.
    pub(super) fn tries(&self, most: u32) -> u32 {
        if self.asked && self.standing == Standing::Unknown { 1 } else { most }
    }

    /// A question goes out: what came before is of no use any more.
    pub(super) fn forget(&mut self) {
        self.value = None;
    }

    /// Takes it from the answer, where it was asked for: how many varbinds are not the table's.
    pub(super) fn hear(&mut self, binds: &Binds) -> Result<usize, Failure> {
        let Some(wanted) = self.wanted.as_ref().filter(|_| self.asked) else { return Ok(0) };
        let first = binds.iter().next().map(|bind| bind.decoded());
        match first.filter(|first| first.oid == wanted.instance && binds.len() > 1) {
            Some(first) => {
                self.value = Some(first.value);
                Ok(1)
            }
            None => {
                self.standing = Standing::Unknown;
                let detail = format!("{} did not come with the table", wanted.instance);
                Err(Failure::new(Reason::Malformed, detail))
            }
        }
    }

    /// The rest of that answer was the table's.
    pub(super) fn fits(&mut self) {
        if self.asked {
            self.standing = Standing::Comes;
        }
    }

    /// The last question failed. Whether that may be for what it asked besides: then it is asked
    /// for no more.
    pub(super) fn give_up(&mut self) -> bool {
        let doubtful = self.asked && self.standing == Standing::Unknown;
        if doubtful {
            self.value = None;
            self.standing = Standing::Stays;
        }
        doubtful
    }

    /// What an opening has shown.
    pub(super) fn judge(&mut self, comes: bool) {
        self.standing = if comes { Standing::Comes } else { Standing::Stays };
    }
}

impl Session {
    /// From now on asks for an object (given with its instance, `.0`) along with every piece of
    /// the tables of a context that is asked for by GETBULK, as long as the agent does that.
    pub fn take_along(&mut self, context: &Context, instance: Oid) {
        let object = super::opening::object(&instance);
        self.along.wanted = Some(Wanted { context: context.clone(), instance, object });
    }

    /// Asks for nothing besides any more.
    pub fn leave_along(&mut self) {
        self.along.wanted = None;
    }

    /// The value of that object in the last answer, which was of the same moment as the rows in
    /// it; none where the last answer had none.
    pub fn came_along(&self) -> Option<&Value> {
        self.along.value.as_ref()
    }
}
