//! SNMP: the walk engine on our own UDP transport, and the replay agent.
//!
//! What is sent may be built by snmp2; whatever is received goes through the strict reader
//! of this module (BER, then varbinds, then USM) and through nothing else.

mod agent;
mod ber;
mod dialect;
mod encode;
mod exchange;
mod message;
mod oid;
mod report;
mod snmprec;
mod target;
mod transport;
mod usm;
mod v3;
mod value;
mod walk;

pub use agent::ReplayAgent;
pub use oid::{MAX_ARCS, Oid, ParseOidError};
pub use snmprec::{Recording, RecordingError};
pub use target::{
    AuthProtocol, Context, Credentials, KeyExtension, Limits, PrivacyProtocol, Secret, Target, User,
};
pub use transport::{Heard, Transport};
pub use value::Value;
pub use walk::{Columns, Cost, Failure, Outcome, Reason, Session, TableRead};
