//! How a question is put and its answer recognised: v2c by community, v3 by USM.

use super::binds::Binds;
use super::encode::community_asking;
use super::exchange::{Line, Unanswered, Verdict};
use super::message::{Pdu, PduKind, Varbind, peek_id, read_community_as};
use super::target::Secret;
use super::v3::Conversation;
use super::walk::{Failure, Reason};
use super::{Context, Oid, Value};
use crate::table::Engine;

/// One question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) context: &'a Context,
    pub(super) kind: PduKind,
    /// What is asked for once, before the rest: the non-repeaters of a GETBULK.
    pub(super) once: &'a [Oid],
    pub(super) oids: &'a [Oid],
    /// max-repetitions of a GETBULK, 0 of everything else.
    pub(super) repetitions: u32,
    /// How often it may be sent.
    pub(super) tries: u32,
}

impl Question<'_> {
    /// The question as a PDU.
    pub(super) fn pdu(&self, request_id: i32) -> Pdu {
        let asked = |oid: &Oid| Varbind { oid: oid.clone(), value: Value::Null };
        Pdu { varbinds: self.objects().map(asked).collect(), ..self.head(request_id) }
    }

    /// The same without its varbinds.
    fn head(&self, request_id: i32) -> Pdu {
        Pdu {
            kind: self.kind,
            request_id,
            error_status: i32::try_from(self.once.len()).unwrap_or(i32::MAX),
            error_index: i32::try_from(self.repetitions).unwrap_or(i32::MAX),
            varbinds: Vec::new(),
        }
    }

    /// All that is asked for.
    fn objects(&self) -> impl Iterator<Item = &Oid> {
        self.once.iter().chain(self.oids)
    }
}

/// What a look into a silence found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The target hears nothing that is protected as ours is, for this reason.
    Deaf(Failure),
    /// It gives no sign of life.
    Gone,
    /// It answers what asks for nothing.
    Well,
}

/// What is spoken with a target.
#[derive(Debug)]
pub(super) enum Dialect {
    V2c(Secret),
    V3(Box<Conversation>),
}

impl Dialect {
    /// Asks and gives the Response, whatever its error status.
    pub(super) async fn ask(
        &mut self,
        line: &mut Line,
        question: Question<'_>,
    ) -> Result<Pdu<Binds>, Unanswered> {
        match self {
            Self::V2c(community) => ask_v2c(community, line, question).await,
            // It keeps more between its answers than v2c, which is not to keep room for that.
            Self::V3(conversation) => Box::pin(conversation.ask(line, question)).await,
        }
    }

    /// Whether a smaller question may be what a silent target waits for.
    pub(super) fn is_acquainted(&self) -> bool {
        match self {
            Self::V2c(_) => true,
            Self::V3(conversation) => conversation.is_acquainted(),
        }
    }

    /// What a silence comes from, where it is worth a look.
    pub(super) async fn look_into(&mut self, line: &mut Line) -> Option<Look> {
        match self {
            Self::V2c(_) => None,
            Self::V3(conversation) => conversation.look_into(line).await,
        }
    }

    /// The SNMPv3 engine as last heard.
    pub(super) fn engine(&self) -> Option<Engine> {
        match self {
            Self::V2c(_) => None,
            Self::V3(conversation) => conversation.engine(),
        }
    }
}

async fn ask_v2c(
    community: &Secret,
    line: &mut Line,
    question: Question<'_>,
) -> Result<Pdu<Binds>, Unanswered> {
    let community = community_in(community, question.context);
    let mut pending = line.expect();
    let id = pending.id;
    let datagram = community_asking(&community, &question.head(id), question.objects());
    let transport = line.transport.clone();
    line.ask(&mut pending, &datagram, question.tries, |bytes| {
        let message = match read_community_as::<Binds>(bytes) {
            Ok(message) => message,
            Err(error) => {
                let failure = Failure::new(Reason::Malformed, format!("the answer cannot be read: {error}"));
                // Without the id anybody may have sent it.
                let ours = peek_id(bytes) == Some(id);
                return if ours { Verdict::Fail(failure) } else { Verdict::Ignore(failure) };
            }
        };
        if message.community != community {
            return ignore("an answer came with another community");
        }
        if message.pdu.kind != PduKind::Response || message.pdu.request_id != id {
            return ignore("what came is no Response to the request");
        }
        transport.count_trailing(message.trailing);
        Verdict::Answer(message.pdu)
    })
    .await
}

fn ignore<T>(detail: &str) -> Verdict<T> {
    Verdict::Ignore(Failure::new(Reason::Malformed, detail))
}

/// v2c has no contexts; agents that serve several map a community `NAME@CONTEXT` to each.
fn community_in(community: &Secret, context: &Context) -> Vec<u8> {
    let mut octets = community.expose().to_vec();
    if !context.name.is_empty() {
        octets.push(b'@');
        octets.extend_from_slice(&context.name);
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::encode::community_message;

    #[test]
    fn a_question_goes_out_as_its_pdu() {
        let oids = ["1.3.6.1.2.1.1.3", "1.3.6.1.4.1.9.1.2", "1.3.6.1.4.1.9.1.300"];
        let (context, oids) = (Context::default(), oids.map(|oid| oid.parse::<Oid>().unwrap()));
        let question = Question {
            context: &context,
            kind: PduKind::GetBulk,
            once: &oids[..1],
            oids: &oids[1..],
            repetitions: 300,
            tries: 1,
        };
        let pdu = question.pdu(77);
        assert_eq!((pdu.error_status, pdu.error_index, pdu.varbinds.len()), (1, 300, 3));
        let sent = community_asking(b"public", &question.head(77), question.objects());
        assert_eq!(sent, community_message(b"public", &pdu));
    }
}
