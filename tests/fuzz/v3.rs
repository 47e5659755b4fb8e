//! The judgement of datagrams of SNMPv3, for the fuzz targets.

use std::sync::LazyLock;

use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::judge::{Judge, judge_discovery};
use super::{Clock, Known, Said};
use crate::snmp::exchange::Verdict;
use crate::snmp::message::Pdu;
use crate::snmp::target::User;
use crate::snmp::transport::Transport;
use crate::snmp::usm::Keys;

/// What was believed of a datagram.
pub(in crate::snmp) enum Judged {
    Response(Pdu),
    /// A Report, or nothing at all.
    Else,
}

/// A transport that nothing is sent by.
static TRANSPORT: LazyLock<(Runtime, Transport)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be had");
    let transport = {
        let _inside = runtime.enter();
        Transport::new().expect("a socket can be had")
    };
    (runtime, transport)
});

/// Judges a datagram as the answer to `id`; what nobody signed must not move the clock.
pub(in crate::snmp) fn judge(
    user: &User,
    engine_id: &[u8],
    keys: Option<&Keys>,
    id: i32,
    authentic: bool,
    datagram: &[u8],
) -> Judged {
    let here = Instant::now();
    let clock = if authentic { Clock::resynced(7, 86_400, here) } else { Clock::guessed(7, 86_400, here) };
    let known = Known::introduced(engine_id.to_vec(), clock);
    let judge = Judge { user, known: &known, keys, id, transport: &TRANSPORT.1 };
    let mut now = known.clone();
    let verdict = judge.judge(datagram, &mut now);
    assert_eq!(now.id, known.id, "no answer changes an engine's id");
    if keys.is_none() {
        assert_eq!(now, known, "what nobody signed has moved the clock");
    }
    let _ = judge.judge_sign_of_life(datagram);
    match verdict {
        Verdict::Answer(Said::Response(pdu)) => Judged::Response(Pdu {
            kind: pdu.kind,
            request_id: pdu.request_id,
            error_status: pdu.error_status,
            error_index: pdu.error_index,
            varbinds: pdu.varbinds.decoded(),
        }),
        _ => Judged::Else,
    }
}

/// Judges a datagram as the answer to a probe for the engine's id.
pub(in crate::snmp) fn judge_probe(datagram: &[u8], id: i32) {
    if let Verdict::Answer(known) = judge_discovery(datagram, id) {
        assert!((5..=32).contains(&known.id.len()));
        assert!(!known.clock.is_authentic());
    }
}
