//! SNMP: the walk engine on our own UDP transport, and the replay agent.
//!
//! Whatever is received goes through the strict reader of this module (BER, then USM, then
//! varbinds) and through nothing else. From the wire up:
//!
//! * `ber`, `encode`: octets read strictly, and written; `message`: PDUs and v2c; `binds`:
//!   varbinds left as they came;
//! * `usm`: keys, digests, ciphers, clocks and messages of SNMPv3;
//! * `keys`: the file that keys are kept in from one run to the next;
//! * `transport`: the sockets, and whose answer a datagram is; `pace`: when a limited router
//!   may be asked; `latency`: how long it takes to answer; `slots`: how many are talked with at
//!   a time; `exchange`: one question with its transmissions, pauses and caps;
//! * `dialect`, `v3`, `report`: how a question is put, and what is believed of an answer;
//! * `walk`: tables from their first row to their proven end;
//! * `notice`: traps and informs, and what they are answered with;
//! * `agent`, `snmprec`: recorded walks, and the agent that serves them.

mod agent;
mod ber;
mod binds;
mod dialect;
mod encode;
mod exchange;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/snmp.rs"]
pub(crate) mod fuzz;
mod hex;
mod keys;
mod latency;
mod message;
mod notice;
mod oid;
mod pace;
mod report;
mod slots;
mod snmprec;
mod target;
mod transport;
mod usm;
mod v3;
mod value;
mod walk;

pub use agent::{ReplayAgent, ReplayEngine, ReplayEngineError};
pub use keys::{KeyFileError, KeyFileProblem};
pub use notice::{NoticeReader, OwnEngine, Read as NoticeRead, Refusal};
pub use oid::{MAX_ARCS, Oid, ParseOidError};
pub use snmprec::{Recording, RecordingError};
pub use target::{
    AuthProtocol, Context, Credentials, KeyExtension, Limits, PrivacyProtocol, Reach, Secret, Target, User,
};
pub use transport::{Heard, Transport};
pub use value::{Value, ValueRef};
pub use walk::{Cells, Columns, Cost, Failure, Learnt, Opening, Outcome, Reason, Rows, Session, TableRead};
