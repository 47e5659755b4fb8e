//! What consumers answer: DNS, and HAProxy's socket.

use std::path::Path;

use super::{dns, haproxy};

/// Answers of DNS servers to canaries.
pub(crate) fn dns(data: &[u8]) {
    if let Some(answer) = dns::parse(data) {
        assert!(answer.addresses.len() * 12 <= data.len());
        assert!(answer.names.iter().all(|name| name.len() <= 3 * 255));
    }
}

/// Answers of HAProxy.
pub(crate) fn haproxy(data: &[u8]) {
    let Ok(said) = std::str::from_utf8(data) else { return };
    let _ = haproxy::version(said);
    if let Some(line) = haproxy::line_of(said, Path::new("/m")) {
        assert!(!line.contains('\n'));
        let _ = haproxy::count(line);
    }
    if let Some(value) = haproxy::value(said) {
        assert!(value.len() < said.len());
    }
}
