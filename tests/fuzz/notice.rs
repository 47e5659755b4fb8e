//! A reader of notifications that anybody may write to, for the fuzz targets.

use std::sync::LazyLock;

use tokio::runtime::Runtime;

use super::{NoticeReader, OwnEngine, Read};
use crate::snmp::{Credentials, Transport};

/// A runtime, and a transport whose keys are made once.
static TRANSPORT: LazyLock<(Runtime, Transport)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be had");
    let transport = {
        let _inside = runtime.enter();
        Transport::new().expect("a socket can be had")
    };
    (runtime, transport)
});

/// What a reader that has heard nothing yet makes of a datagram.
pub(in crate::snmp) fn read_notice(datagram: &[u8], known: &[Credentials]) -> (Read, Option<Vec<u8>>) {
    let (runtime, transport) = &*TRANSPORT;
    let mut reader =
        NoticeReader::new(transport, OwnEngine::started(b"\x80\0\x1f\x88\x04notice".to_vec(), 7));
    runtime.block_on(reader.read(datagram, known))
}
