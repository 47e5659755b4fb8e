//! The sockets: one for each family, and one for each local address that is configured.

use std::collections::HashMap;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::outbox::{Letter, Outbox};
use super::{Switchboard, unpoisoned};

/// What the kernel is asked to buffer per socket: the answers of a few hundred routers at
/// once. It gives what `net.core.rmem_max` allows.
const RECEIVE_BUFFER: usize = 8 << 20;
/// The largest payload of a UDP datagram is below this.
const MAX_DATAGRAM: usize = 0xffff;
/// The most datagrams that one call reads.
const BATCH: usize = 64;
/// How long a reader rests after an error of its socket, so as not to spin.
const REST: Duration = Duration::from_millis(10);

/// The open sockets. However many routers are asked, there are no more than two and one for
/// each configured source.
#[derive(Debug)]
pub(super) struct Sockets {
    v4: Option<Reading>,
    v6: Option<Reading>,
    sourced: Mutex<HashMap<IpAddr, Reading>>,
    switchboard: Arc<Switchboard>,
}

impl Sockets {
    /// Opens one for each family that the host has.
    pub(super) fn open(switchboard: &Arc<Switchboard>) -> io::Result<Self> {
        let v4 = Reading::open(IpAddr::V4(Ipv4Addr::UNSPECIFIED), switchboard);
        let v6 = Reading::open(IpAddr::V6(Ipv6Addr::UNSPECIFIED), switchboard);
        let (v4, v6) = match (v4, v6) {
            (Err(error), Err(_)) => return Err(error),
            (v4, v6) => (v4.ok(), v6.ok()),
        };
        Ok(Self { v4, v6, sourced: Mutex::default(), switchboard: Arc::clone(switchboard) })
    }

    /// The socket that a datagram to `peer` leaves by. One for a source is opened at its
    /// first use, and stays.
    pub(super) fn towards(&self, peer: SocketAddr, source: Option<IpAddr>) -> io::Result<Way> {
        if let Some(source) = source.map(|source| source.to_canonical()) {
            return self.from(source).map_err(|error| {
                io::Error::new(error.kind(), format!("nothing can be sent from {source}: {error}"))
            });
        }
        let reading = if peer.is_ipv4() { &self.v4 } else { &self.v6 };
        let family = if peer.is_ipv4() { "IPv4" } else { "IPv6" };
        let none = || io::Error::other(format!("this host has no {family}"));
        reading.as_ref().map(|reading| reading.way.clone()).ok_or_else(none)
    }

    fn from(&self, source: IpAddr) -> io::Result<Way> {
        let mut sourced = unpoisoned(&self.sourced);
        if let Some(reading) = sourced.get(&source) {
            return Ok(reading.way.clone());
        }
        let reading = Reading::open(source, &self.switchboard)?;
        let way = reading.way.clone();
        sourced.insert(source, reading);
        Ok(way)
    }
}

/// The way out: by a socket, at once or with others.
#[derive(Clone, Debug)]
pub(super) struct Way {
    socket: Arc<UdpSocket>,
    outbox: Arc<Outbox>,
}

impl Way {
    /// Sends a datagram at once.
    pub(super) async fn send_to(&self, datagram: &[u8], peer: SocketAddr) -> io::Result<()> {
        self.socket.send_to(datagram, peer).await.map(|_| ())
    }

    /// Sends it with others, soon.
    pub(super) fn post(&self, letter: Letter) {
        self.outbox.post(letter);
    }
}

/// A socket, and the tasks that read it and write to it until this is dropped.
#[derive(Debug)]
struct Reading {
    way: Way,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl Reading {
    fn open(address: IpAddr, switchboard: &Arc<Switchboard>) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let way = Way { socket: Arc::new(bind(address)?), outbox: Arc::default() };
        let reader = runtime.spawn(read(Arc::clone(&way.socket), Arc::clone(switchboard)));
        let (writing, switchboard) = (way.clone(), Arc::clone(switchboard));
        let writer = runtime.spawn(async move { writing.outbox.empty(writing.socket, switchboard).await });
        Ok(Self { way, reader, writer })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
    }
}

fn bind(address: IpAddr) -> io::Result<UdpSocket> {
    let domain = if address.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    if domain == Domain::IPV6 {
        socket.set_only_v6(true)?;
    }
    // A smaller buffer than asked for is no reason not to poll.
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::new(address, 0).into())?;
    UdpSocket::from_std(socket.into())
}

/// Reads whatever has come, many datagrams at a time.
async fn read(socket: Arc<UdpSocket>, switchboard: Arc<Switchboard>) {
    // Only the pages that datagrams were written to take memory.
    let mut buffers = vec![0; BATCH * MAX_DATAGRAM];
    loop {
        match socket.async_io(Interest::READABLE, || receive(&socket, &mut buffers)).await {
            Ok(heads) => switchboard.deliver(
                heads
                    .into_iter()
                    .zip(buffers.chunks(MAX_DATAGRAM))
                    .filter_map(|((from, length), buffer)| Some((from?, buffer.get(..length)?))),
            ),
            Err(error) => {
                tracing::debug!(%error, "a socket could not be read");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// From whom datagrams came, and how long each is in its part of the buffers.
fn receive(socket: &UdpSocket, buffers: &mut [u8]) -> io::Result<Vec<(Option<SocketAddr>, usize)>> {
    let mut slices: Vec<_> =
        buffers.chunks_mut(MAX_DATAGRAM).map(|buffer| [IoSliceMut::new(buffer)]).collect();
    let mut headers = MultiHeaders::preallocate(slices.len(), None);
    let flags = MsgFlags::MSG_DONTWAIT;
    let messages = recvmmsg(socket.as_raw_fd(), &mut headers, slices.iter_mut(), flags, None)?;
    Ok(messages.map(|message| (message.address.as_ref().and_then(address), message.bytes)).collect())
}

fn address(from: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = || from.as_sockaddr_in().map(|from| SocketAddr::V4((*from).into()));
    v4().or_else(|| from.as_sockaddr_in6().map(|from| SocketAddr::V6((*from).into())))
}
