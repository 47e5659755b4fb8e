//! One question and the wait for its answer: transmissions, pauses, deadline, caps.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rand::Rng;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::slots::Slot;
use super::target::{Limits, Reach};
use super::transport::{Pending, Sound, Transport};
use super::walk::{Cost, Failure, Reason};

/// How much longer each pause is than the one before.
const GROWTH: f64 = 1.75;
/// By how much a grown pause is shortened or lengthened at random, so that the requests of
/// many sessions do not stay in step.
const JITTER: f64 = 0.25;

/// An agent is quick that answers in this part of the configured pause.
const QUICK: u32 = 16;

/// What a datagram is to the one who waits for an answer.
#[derive(Debug)]
pub(super) enum Verdict<T> {
    /// The answer.
    Answer(T),
    /// Not the answer. Told if none comes.
    Ignore(Failure),
    /// Perhaps forged, perhaps true: nothing is sent again, and the question fails by this
    /// if no answer comes before the running pause ends.
    Doubt(Failure),
    /// The question has failed.
    Fail(Failure),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The question has failed by what came, or could not be asked.
    Failed(Failure),
    /// All pauses were waited out. The failure tells what was heard instead of an answer, or
    /// that nothing was.
    Silent(Failure),
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A peer, and what may still be spent on it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) transport: Transport,
    pub(super) peer: SocketAddr,
    pub(super) limits: Limits,
    reach: Reach,
    pub(super) cost: Cost,
    opened: Instant,
    slot: Slot,
    /// How long a slot was waited for, which is no time of the poll.
    pub(super) queued: Duration,
    /// How long the last answer was waited for.
    took: Duration,
}

impl Line {
    pub(super) fn new(transport: &Transport, peer: SocketAddr, limits: Limits, mut reach: Reach) -> Self {
        reach.reply_from.iter_mut().for_each(|address| *address = address.to_canonical());
        Self {
            transport: transport.clone(),
            peer: canonical(peer),
            limits,
            reach,
            cost: Cost::default(),
            opened: Instant::now(),
            slot: transport.slot(),
            queued: Duration::ZERO,
            took: Duration::ZERO,
        }
    }

    /// Whether the last answer came in a small part of the time that is waited for one.
    pub(super) fn was_quick(&self) -> bool {
        self.took <= self.limits.timeout / QUICK
    }

    /// Waits for answers under an id of its own.
    pub(super) fn expect(&self) -> Pending {
        self.transport.expect(self.peer, &self.reach.reply_from)
    }

    /// Sends `datagram` up to `tries` times and gives what `judge` takes for the answer. The
    /// same octets go out each time, so that a late answer to an earlier one is one to all.
    pub(super) async fn ask<T>(
        &mut self,
        pending: &mut Pending,
        datagram: &[u8],
        tries: u32,
        mut judge: impl FnMut(&[u8]) -> Verdict<T>,
    ) -> Result<T, Unanswered> {
        if self.cost.requests >= self.limits.max_requests {
            return Err(self.too_large("requests", u64::from(self.limits.max_requests)).into());
        }
        self.cost.requests += 1;
        let queued = Instant::now();
        self.slot.ask(self.peer).await;
        self.waited(queued);
        let mut asked = Instant::now();
        let mut note = None;
        let first = self.transport.latencies().pause(self.peer, self.limits.timeout);
        for attempt in 0..tries.max(1) {
            self.transmit(pending.id, datagram, attempt).await?;
            if attempt == 0 {
                // Not before: a limited router is asked when its turn comes.
                asked = Instant::now();
            }
            let until = Instant::now() + self.pause(first, attempt, tries.max(1));
            match self.listen(pending, until, &mut note, &mut judge).await? {
                Some(answer) => {
                    self.took = asked.elapsed();
                    self.transport.latencies().measured(self.peer, self.took);
                    let queued = Instant::now();
                    self.slot.answered(self.peer).await;
                    self.waited(queued);
                    return Ok(answer);
                }
                None if self.expired() => return Err(self.deadline_passed().into()),
                None => self.slot.silent(self.peer),
            }
        }
        Err(Unanswered::Silent(note.unwrap_or_else(|| self.silence(tries.max(1), asked))))
    }

    /// Listens until an answer comes or the pause ends.
    async fn listen<T>(
        &mut self,
        pending: &mut Pending,
        until: Instant,
        note: &mut Option<Failure>,
        judge: &mut impl FnMut(&[u8]) -> Verdict<T>,
    ) -> Result<Option<T>, Failure> {
        let until = until.min(self.end());
        let mut doubt = None;
        while let Ok(sound) = timeout_at(until, pending.hear()).await {
            let datagram = match sound {
                Sound::Datagram(datagram) => datagram,
                Sound::Stranger(from) => {
                    *note = Some(self.stranger(pending.id, from));
                    continue;
                }
                Sound::Unsent(error) => return Err(self.unsent(&error)),
            };
            self.cost.bytes += u64::try_from(datagram.len()).unwrap_or(u64::MAX);
            if self.cost.bytes > self.limits.max_bytes {
                return Err(self.too_large("octets", self.limits.max_bytes));
            }
            match judge(&datagram) {
                Verdict::Answer(answer) => return Ok(Some(answer)),
                Verdict::Ignore(failure) => *note = Some(failure),
                Verdict::Doubt(failure) => doubt = Some(failure),
                Verdict::Fail(failure) => return Err(failure),
            }
        }
        doubt.map_or(Ok(None), Err)
    }

    async fn transmit(&mut self, id: i32, datagram: &[u8], attempt: u32) -> Result<(), Failure> {
        if self.expired() {
            return Err(self.deadline_passed());
        }
        self.keep_pace().await?;
        if attempt > 0 {
            self.cost.retries += 1;
        }
        match timeout_at(self.end(), self.transport.send(id, self.peer, self.reach.source, datagram)).await {
            Ok(sent) => sent.map_err(|error| self.unsent(&error)),
            Err(_) => Err(self.deadline_passed()),
        }
    }

    /// Waits until the router may be sent the next packet.
    async fn keep_pace(&self) -> Result<(), Failure> {
        let gap = self.reach.gap();
        if gap.is_zero() {
            return Ok(());
        }
        let slot = self.transport.paces().book(self.peer, gap, Instant::now());
        sleep_until(slot.min(self.end())).await;
        if self.expired() { Err(self.deadline_passed()) } else { Ok(()) }
    }

    /// The pause after a transmission: after the first as long as the router is known to need,
    /// then that or the configured one, growing. What the first is shorter than configured,
    /// the last of so many is longer: nobody is given up earlier for having been quick. None
    /// is shorter than the gap to the next packet, which would be waited for deaf.
    fn pause(&self, first: Duration, attempt: u32, tries: u32) -> Duration {
        let mut pause = self.grown(first, attempt);
        if attempt + 1 == tries {
            pause += self.limits.timeout.saturating_sub(first);
        }
        pause.min(self.limits.deadline).max(self.reach.gap())
    }

    fn grown(&self, first: Duration, attempt: u32) -> Duration {
        if attempt == 0 {
            return first;
        }
        let jitter = rand::rng().random_range(1.0 - JITTER..=1.0 + JITTER);
        let growth = GROWTH.powi(i32::try_from(attempt).unwrap_or(i32::MAX)) * jitter;
        let base = first.max(self.limits.timeout);
        Duration::try_from_secs_f64(base.as_secs_f64() * growth).unwrap_or(self.limits.deadline)
    }

    /// The deadline does not run while a slot is waited for.
    fn waited(&mut self, since: Instant) {
        let queued = since.elapsed();
        self.queued += queued;
        self.opened += queued;
    }

    fn end(&self) -> Instant {
        self.opened + self.limits.deadline
    }

    fn expired(&self) -> bool {
        Instant::now() >= self.end()
    }

    fn deadline_passed(&self) -> Failure {
        Failure::new(Reason::Deadline, format!("not done within {:?}", self.limits.deadline))
    }

    pub(super) fn too_large(&self, what: &str, cap: u64) -> Failure {
        Failure::new(Reason::TooLarge, format!("more than {cap} {what}"))
    }

    fn silence(&self, tries: u32, asked: Instant) -> Failure {
        let waited = asked.elapsed().as_secs_f64();
        let times = if tries == 1 { "once" } else { "times" };
        let count = if tries == 1 { String::new() } else { format!("{tries} ") };
        let detail = format!("no answer from {}, asked {count}{times} in {waited:.1} s", self.peer);
        Failure::new(Reason::Timeout, detail)
    }

    fn stranger(&self, id: i32, from: SocketAddr) -> Failure {
        let detail = format!("the answer to request {id} came from {from}, asked was {}", self.peer);
        Failure::new(Reason::OtherAddress, detail)
    }

    fn unsent(&self, error: &io::Error) -> Failure {
        Failure::new(send_reason(error), format!("cannot send to {}: {error}", self.peer))
    }
}

/// Nothing listens there, or the local socket is at fault.
fn send_reason(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable => Reason::Unreachable,
        _ => Reason::SendFailed,
    }
}

/// An IPv4 address in IPv6 clothes is reached by the IPv4 socket.
fn canonical(peer: SocketAddr) -> SocketAddr {
    match peer.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::from((ip, peer.port())),
        IpAddr::V6(_) => peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(transport: &Transport, peer: &str) -> Line {
        Line::new(transport, peer.parse().unwrap(), Limits::default(), Reach::default())
    }

    #[test]
    fn what_the_host_says_is_told_from_what_the_socket_says() {
        for (kind, reason) in [
            (io::ErrorKind::ConnectionRefused, Reason::Unreachable),
            (io::ErrorKind::HostUnreachable, Reason::Unreachable),
            (io::ErrorKind::NetworkUnreachable, Reason::Unreachable),
            (io::ErrorKind::PermissionDenied, Reason::SendFailed),
            (io::ErrorKind::Other, Reason::SendFailed),
        ] {
            assert_eq!(send_reason(&kind.into()), reason, "{kind}");
        }
    }

    fn seconds(line: &Line, tries: u32) -> Vec<f64> {
        let first = line.transport.latencies().pause(line.peer, line.limits.timeout);
        (0..tries).map(|attempt| line.pause(first, attempt, tries).as_secs_f64()).collect()
    }

    fn near(pause: f64, middle: f64) -> bool {
        (middle * 0.75..=middle * 1.25).contains(&pause)
    }

    #[tokio::test]
    async fn pauses_grow_with_some_jitter() {
        let line = line(&Transport::new().unwrap(), "192.0.2.1:161");
        for _ in 0..100 {
            let pauses = seconds(&line, 3);
            assert!(pauses[0] == 2.0 && near(pauses[1], 3.5) && near(pauses[2], 6.125), "{pauses:?}");
        }
        assert_eq!(seconds(&line, 200).last(), Some(&60.0), "no pause is beyond the deadline");
    }

    #[tokio::test]
    async fn a_quick_router_is_asked_again_soon_and_given_up_no_earlier() {
        let transport = Transport::new().unwrap();
        let line = line(&transport, "192.0.2.1:161");
        transport.latencies().measured(line.peer, Duration::from_millis(5));
        for _ in 0..100 {
            let pauses = seconds(&line, 3);
            // A quarter of the configured two seconds; the other three quarters come last.
            assert!(pauses[0] == 0.5 && near(pauses[1], 3.5) && near(pauses[2] - 1.5, 6.125), "{pauses:?}");
        }
        assert_eq!(seconds(&line, 1), [2.0]);
    }

    #[tokio::test]
    async fn a_slow_router_is_waited_for_longer() {
        let transport = Transport::new().unwrap();
        let line = line(&transport, "192.0.2.1:161");
        for _ in 0..40 {
            transport.latencies().measured(line.peer, Duration::from_secs(4));
        }
        let pauses = seconds(&line, 2);
        assert!((4.0..4.01).contains(&pauses[0]) && near(pauses[1], 7.0), "{pauses:?}");
    }

    #[tokio::test]
    async fn an_ipv4_address_in_ipv6_clothes_is_an_ipv4_address() {
        let transport = Transport::new().unwrap();
        assert_eq!(line(&transport, "[::ffff:192.0.2.1]:161").peer, "192.0.2.1:161".parse().unwrap());
        let zoned = "[fe80::1%3]:161";
        assert_eq!(line(&transport, zoned).peer, zoned.parse().unwrap());
    }
}
