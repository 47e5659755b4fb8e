//! Datagrams that wait for each other, to go out many at a time.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::{Switchboard, unpoisoned};

/// The most datagrams that one call sends.
const BATCH: usize = 64;
/// From so many on, another thread sends them, where the machine has a core for it: to put a
/// datagram on its way is a tenth of what a poll costs, and to wake a thread costs as much as
/// a few of them.
const PARCEL: usize = 16;

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
        let several = available_parallelism().is_ok_and(|cores| cores.get() > 1);
        loop {
            self.posted.notified().await;
            // Those that are about to ask as well go first.
            tokio::task::yield_now().await;
            let letters = std::mem::take(&mut *unpoisoned(&self.letters));
            let round = Round {
                socket: Arc::clone(&socket),
                switchboard: Arc::clone(&switchboard),
                letters,
                sent: 0,
            };
            let round = match round.letters.len() {
                PARCEL.. if several => spawn_blocking(|| round.go()).await.ok(),
                _ => Some(round.go()),
            };
            // None where the runtime ends, and all that waits with it.
            if let Some(round) = round {
                round.finish().await;
            }
        }
    }
}

/// Letters that are sent one after the other.
struct Round {
    socket: Arc<UdpSocket>,
    switchboard: Arc<Switchboard>,
    letters: Vec<Letter>,
    /// How many are sent, or cannot be.
    sent: usize,
}

impl Round {
    /// Sends what the socket takes at once.
    fn go(mut self) -> Self {
        while !self.next().is_empty() {
            match send(&self.socket, self.next()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                sent => self.note(sent),
            }
        }
        self
    }

    /// Sends the rest as the socket takes it.
    async fn finish(mut self) {
        while !self.next().is_empty() {
            let sent = self.socket.async_io(Interest::WRITABLE, || send(&self.socket, self.next())).await;
            self.note(sent);
        }
    }

    /// It is the first one that could not go; what stands behind it may.
    fn note(&mut self, sent: io::Result<usize>) {
        let done = sent.unwrap_or_else(|error| {
            if let Some(first) = self.next().first() {
                self.switchboard.unsent(first.id, error);
            }
            1
        });
        self.sent += done.max(1);
    }

    fn next(&self) -> &[Letter] {
        let rest = self.letters.get(self.sent..).unwrap_or_default();
        rest.get(..BATCH).unwrap_or(rest)
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

    #[tokio::test]
    async fn what_is_left_of_a_round_goes_later_and_nothing_twice() {
        let bound = || UdpSocket::bind("127.0.0.1:0");
        let (here, there) = (Arc::new(bound().await.unwrap()), bound().await.unwrap());
        let switchboard = Arc::new(Switchboard::new());
        let nowhere: SocketAddr = "[::1]:9".parse().unwrap();
        let mut unsent = switchboard.expect(nowhere, &[]);
        let letter = |at: u8| {
            let (id, peer) = match at {
                7 => (unsent.id, nowhere),
                _ => (0, there.local_addr().unwrap()),
            };
            Letter { id, peer, datagram: vec![at] }
        };
        let letters = (0..100).map(letter).collect();
        // As if five had gone before the socket was full.
        let round = Round { socket: here, switchboard: Arc::clone(&switchboard), letters, sent: 5 };
        round.finish().await;
        for at in (5..100).filter(|at| *at != 7) {
            let mut buffer = [0; 8];
            let length = there.recv(&mut buffer).await.unwrap();
            assert_eq!(buffer[..length], [at]);
        }
        assert!(matches!(unsent.hear().await, Sound::Unsent(_)));
        assert!(there.try_recv(&mut [0; 8]).is_err(), "nothing else came");
    }
}
