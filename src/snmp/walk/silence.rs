//! A router that falls silent in the middle of a poll: one short proof of life tells what of
//! it is gone, and that is asked for nothing more.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::{Failure, Reason, Session};
use crate::snmp::dialect::{Look, Question};
use crate::snmp::exchange::Unanswered;
use crate::snmp::message::PduKind;
use crate::snmp::{Context, Oid};

/// sysUpTime.0: the cheapest question that every agent answers, be it by an exception.
const SYS_UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
/// Transmissions of a proof of life.
const TRIES: u32 = 2;

/// What of a target has fallen silent.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// A context in which it answered.
    answered: Option<Context>,
    contexts: BTreeMap<Context, Failure>,
    all: Option<Failure>,
}

impl Silence {
    /// Something was answered in this context.
    pub(super) fn broken(&mut self, context: &Context) {
        if self.answered.is_none() {
            self.answered = Some(context.clone());
        }
    }

    /// Why nothing needs to be asked in this context any more.
    pub(super) fn in_context(&self, context: &Context) -> Option<Failure> {
        self.all.as_ref().or_else(|| self.contexts.get(context)).cloned()
    }
}

impl Session {
    /// What is said of a fault that ends a walk, and what it means for the tables that are
    /// still to be read.
    pub(super) async fn conclude(&mut self, context: &Context, fault: Fault) -> Failure {
        if !fault.unanswered {
            return fault.failure;
        }
        let look = if fault.silent { self.dialect.look_into(&mut self.line).await } else { None };
        match look {
            Some(Look::Deaf(failure)) => {
                self.silence.all = Some(failure.clone());
                return failure;
            }
            Some(Look::Gone) => self.gone(fault.failure.reason),
            Some(Look::Well) if *context == Context::default() => {}
            Some(Look::Well) | None => self.look_for_life(context, fault.failure.reason).await,
        }
        fault.failure
    }

    /// One short proof of life. If the target answers something else in the same context,
    /// only the table is silent; if it answers in another, as some agents do that do not know
    /// a context, that context is; else the target is gone.
    async fn look_for_life(&mut self, context: &Context, reason: Reason) {
        let Some(answered) = self.silence.answered.clone() else {
            // It was asked for as little as this would ask for, and never answered.
            return self.mute(context, reason);
        };
        if self.shows_life(context).await {
            return;
        }
        if answered != *context && self.shows_life(&answered).await {
            return self.mute(context, reason);
        }
        self.gone(reason);
    }

    fn mute(&mut self, context: &Context, reason: Reason) {
        let detail = format!("not asked any more: {} is silent in this context", self.line.peer);
        self.silence.contexts.insert(context.clone(), Failure::new(reason, detail));
    }

    fn gone(&mut self, reason: Reason) {
        let detail = format!("not asked any more: {} fell silent and gives no sign of life", self.line.peer);
        self.silence.all = Some(Failure::new(reason, detail));
    }

    /// Whether anything comes back. Where the question could not be asked to its end, that
    /// is not known, and the next one will tell.
    async fn shows_life(&mut self, context: &Context) -> bool {
        let oids = [Oid::new(SYS_UP_TIME)];
        let question =
            Question { context, kind: PduKind::Get, once: &[], oids: &oids, repetitions: 0, tries: TRIES };
        !matches!(self.dialect.ask(&mut self.line, question).await, Err(Unanswered::Silent(_)))
    }
}
