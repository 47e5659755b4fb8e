//! Datagrams that wait for each other, to go out many at a time.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

use super::{Switchboard, unpoisoned};

/// The most datagrams that one call sends.
const BATCH: usize = 64;

/// A datagram on its way.
#[derive(Debug)]
pub(super) struct Letter {
    /// The request that it asks.
    pub(super) id: i32,
    pub(super) peer: SocketAddr,
    pub(super) datagram: Vec<u8>,
}

/// What is to be sent by one socket.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    letters: Mutex<Vec<Letter>>,
    posted: Notify,
}

impl Outbox {
    /// Takes a letter, which is sent soon.
    pub(super) fn post(&self, letter: Letter) {
        let mut letters = unpoisoned(&self.letters);
        letters.push(letter);
        if letters.len() == 1 {
            self.posted.notify_one();
        }
    }

    /// Sends what is posted, for ever.
    pub(super) async fn empty(&self, socket: Arc<UdpSocket>, switchboard: Arc<Switchboard>) {
        loop {
            self.posted.notified().await;
            // Those that are about to ask as well go first.
            tokio::task::yield_now().await;
            let letters = std::mem::take(&mut *unpoisoned(&self.letters));
            let mut rest = letters.as_slice();
            while let Some(first) = rest.first() {
                let batch = rest.get(..BATCH).unwrap_or(rest);
                let sent = socket.async_io(Interest::WRITABLE, || send(&socket, batch)).await;
                let done = sent.unwrap_or_else(|error| {
                    // It is the first one that could not go; what stands behind it may.
                    switchboard.unsent(first.id, error);
                    1
                });
                rest = rest.get(done.max(1)..).unwrap_or_default();
            }
        }
    }
}

/// Sends as many letters as go at once, and gives their number.
fn send(socket: &UdpSocket, letters: &[Letter]) -> io::Result<usize> {
    let slices: Vec<_> = letters.iter().map(|letter| [IoSlice::new(&letter.datagram)]).collect();
    let to: Vec<_> = letters.iter().map(|letter| Some(SockaddrStorage::from(letter.peer))).collect();
    let mut headers = MultiHeaders::preallocate(letters.len(), None);
    let sent = sendmmsg(socket.as_raw_fd(), &mut headers, &slices, &to, [], MsgFlags::MSG_DONTWAIT)?;
    Ok(sent.count())
}

#[cfg(test)]
mod tests {
    use super::super::Sound;
    use super::*;

    #[tokio::test]
    async fn a_letter_that_cannot_go_holds_up_no_other() {
        let (here, there) = (
            Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap()),
            UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        );
        let (board, outbox) = (Arc::new(Switchboard::new()), Arc::new(Outbox::default()));
        let to = there.local_addr().unwrap();
        // Nothing of the other family leaves by this socket.
        let nowhere: SocketAddr = "[::1]:9".parse().unwrap();
        let mut asked: Vec<_> =
            (0..200).map(|at| board.expect(if at % 3 == 1 { nowhere } else { to }, &[])).collect();
        for (at, pending) in asked.iter().enumerate() {
            let peer = if at % 3 == 1 { nowhere } else { to };
            outbox.post(Letter { id: pending.id, peer, datagram: vec![u8::try_from(at).unwrap()] });
        }
        let sender = tokio::spawn({
            let (outbox, board) = (Arc::clone(&outbox), Arc::clone(&board));
            async move { outbox.empty(here, board).await }
        });
        for at in (0..200).filter(|at| at % 3 != 1) {
            let mut buffer = [0; 8];
            let length = there.recv(&mut buffer).await.unwrap();
            assert_eq!(buffer[..length], [at]);
        }
        for pending in asked.iter_mut().skip(1).step_by(3) {
            assert!(matches!(pending.hear().await, Sound::Unsent(_)));
        }
        sender.abort();
    }
}
