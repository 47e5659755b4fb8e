//! What a question failed by, and whether a smaller one may help.

use std::fmt::Write as _;

use super::stride::Trouble;
use super::{Failure, Reason};
use crate::snmp::dialect::Question;
use crate::snmp::exchange::Unanswered;

/// A failed question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) failure: Failure,
    pub(super) trouble: Trouble,
    /// Whether nothing was heard at all.
    pub(super) silent: bool,
    /// Whether nothing was heard that could be used, though all pauses were waited out.
    pub(super) unanswered: bool,
}

impl Fault {
    /// An answer that broke the rules.
    pub(super) fn of(failure: Failure, question: &Question<'_>) -> Self {
        let trouble = if failure.reason == Reason::Malformed { Trouble::TooMuch } else { Trouble::Other };
        Self { failure: located(failure, question), trouble, silent: false, unanswered: false }
    }

    /// No answer that could be used. To a smaller question there may be one, whatever else
    /// was heard meanwhile, but not from a target that was never heard.
    pub(super) fn unanswered(unanswered: Unanswered, question: &Question<'_>, acquainted: bool) -> Self {
        match unanswered {
            Unanswered::Failed(failure) => Self::of(failure, question),
            Unanswered::Silent(failure) => {
                let trouble = if acquainted { Trouble::Silence } else { Trouble::Other };
                let silent = failure.reason == Reason::Timeout;
                Self { failure: located(failure, question), trouble, silent, unanswered: true }
            }
        }
    }

    /// An answer with an error status (RFC 3416, section 3).
    pub(super) fn refused(status: i32, index: i32, question: &Question<'_>) -> Self {
        let reason = match status {
            NO_ACCESS | AUTHORIZATION_ERROR => Reason::AuthorizationError,
            _ => Reason::ErrorStatus,
        };
        let trouble = if matches!(status, TOO_BIG | GEN_ERR) { Trouble::TooMuch } else { Trouble::Other };
        let named = |index: usize| question.once.iter().chain(question.oids).nth(index.checked_sub(1)?);
        let at = usize::try_from(index).ok().and_then(named);
        let at = at.map_or_else(String::new, |oid| format!(", at {oid}"));
        let detail = format!("the agent answered with {}({status}){at}", status_name(status));
        Self {
            failure: located(Failure::new(reason, detail), question),
            trouble,
            silent: false,
            unanswered: false,
        }
    }
}

/// The failure, with what was asked in its words.
fn located(mut failure: Failure, question: &Question<'_>) -> Failure {
    let others = question.oids.len().saturating_sub(1);
    if let Some(first) = question.oids.first() {
        let _ = write!(failure.detail, " (asked from {first}");
        if others > 0 {
            let _ = write!(failure.detail, " and {others} more");
        }
        if !question.context.name.is_empty() {
            let name = String::from_utf8_lossy(&question.context.name);
            let _ = write!(failure.detail, " in context {name:?}");
        }
        failure.detail.push(')');
    }
    failure
}

const TOO_BIG: i32 = 1;
const GEN_ERR: i32 = 5;
const NO_ACCESS: i32 = 6;
const AUTHORIZATION_ERROR: i32 = 16;

fn status_name(status: i32) -> &'static str {
    const NAMES: [&str; 19] = [
        "noError",
        "tooBig",
        "noSuchName",
        "badValue",
        "readOnly",
        "genErr",
        "noAccess",
        "wrongType",
        "wrongLength",
        "wrongEncoding",
        "wrongValue",
        "noCreation",
        "inconsistentValue",
        "resourceUnavailable",
        "commitFailed",
        "undoFailed",
        "authorizationError",
        "notWritable",
        "inconsistentName",
    ];
    usize::try_from(status).ok().and_then(|status| NAMES.get(status)).unwrap_or(&"unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::message::PduKind;
    use crate::snmp::{Context, Oid};

    #[test]
    fn the_words_say_what_was_asked_and_where() {
        let oids: [Oid; 2] = ["1.3.6.1".parse().unwrap(), "1.3.6.2".parse().unwrap()];
        let context = Context { name: b"vr9".to_vec(), engine_id: None };
        let question = Question {
            context: &context,
            kind: PduKind::GetNext,
            once: &[],
            oids: &oids,
            repetitions: 0,
            tries: 1,
        };
        let fault = Fault::refused(5, 2, &question);
        assert_eq!(
            fault.failure.detail,
            "the agent answered with genErr(5), at 1.3.6.2 (asked from 1.3.6.1 and 1 more in context \"vr9\")"
        );
        let fault = Fault::refused(5, 3, &question);
        assert!(fault.failure.detail.starts_with("the agent answered with genErr(5) (asked"), "{fault:?}");
        assert_eq!(Fault::refused(-1, -1, &question).failure.reason, Reason::ErrorStatus);
    }

    #[test]
    fn only_a_target_that_was_heard_is_asked_for_less() {
        let context = Context::default();
        let question = Question {
            context: &context,
            kind: PduKind::GetNext,
            once: &[],
            oids: &[],
            repetitions: 0,
            tries: 1,
        };
        let silent = |reason, acquainted| {
            Fault::unanswered(Unanswered::Silent(Failure::new(reason, "")), &question, acquainted).trouble
        };
        assert_eq!(silent(Reason::Timeout, true), Trouble::Silence);
        assert_eq!(silent(Reason::Timeout, false), Trouble::Other);
        assert_eq!(silent(Reason::Malformed, true), Trouble::Silence);
        assert_eq!(silent(Reason::OtherAddress, true), Trouble::Silence);
    }
}
