//! Simulated agents: many sockets, one thread, SNMPv2c.
//!
//! Each serves the system group and one table of address pools; the ranges of agent `a` are
//! its own. `--dead N` more sockets are there and never answer. It says `ready`, and
//! their port, when all are open, and ends with its standard input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read as _;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::options::Options;
use crate::wire::{ENTRY, OBJECT_ID, SYSTEM, arcs, head, integer, next, number, oid, place, tlv, whole};

/// An object: its name, and its varbind as it goes out.
struct Object {
    name: Vec<u32>,
    varbind: Vec<u8>,
    /// Row and whether it is the end, of a cell whose last four octets are the agent's own.
    address: Option<(u32, bool)>,
}

struct Table {
    objects: Vec<Object>,
    rows: u32,
}

impl Table {
    fn new(rows: u32, columns: u32) -> Self {
        let object = |name: Vec<u32>, value: Vec<u8>| {
            let varbind = tlv(0x30, &[tlv(6, &oid(&name)), value].concat());
            Object { name, varbind, address: None }
        };
        let system = |arc: u32| [&SYSTEM[..], &[arc, 0]].concat();
        let mut objects = vec![
            object(system(1), tlv(4, b"simulated router")),
            object(system(2), tlv(6, &oid(&OBJECT_ID))),
            object(system(3), tlv(0x43, &integer(123_456))),
            object(system(5), tlv(4, b"sim")),
        ];
        for column in 2..2 + columns {
            for row in 1..=rows {
                let value = match column {
                    2 => tlv(2, &[1]),
                    3 => tlv(4, format!("pool-{row:06}").as_bytes()),
                    4 | 5 => tlv(0x40, &[0; 4]),
                    6 => tlv(2, &integer(256)),
                    _ => tlv(2, &integer(i64::from(row * 7 % 256))),
                };
                let mut object = object([&ENTRY[..], &[column, row]].concat(), value);
                object.address = (column == 4 || column == 5).then_some((row, column == 5));
                objects.push(object);
            }
        }
        // So that walks meet something behind the table.
        objects.push(object(vec![1, 3, 6, 1, 4, 1, 4874, 2, 2, 40, 1, 0], tlv(2, &[1])));
        Self { objects, rows }
    }

    /// The place of the first object behind a name.
    fn behind(&self, name: &[u32]) -> usize {
        self.objects.partition_point(|object| object.name.as_slice() <= name)
    }

    fn put(&self, at: usize, agent: u32, asked: &[u8], out: &mut Vec<u8>) {
        let Some(object) = self.objects.get(at) else {
            out.extend(tlv(0x30, &[tlv(6, asked), vec![0x82, 0]].concat()));
            return;
        };
        out.extend(&object.varbind);
        if let Some((row, end)) = object.address {
            let first = 0x1000_0000_u32.wrapping_add((agent * self.rows + row - 1) << 8);
            let place = out.len() - 4;
            out[place..].copy_from_slice(&(first | if end { 0xff } else { 0 }).to_be_bytes());
        }
    }
}

/// Buffers that are used again.
#[derive(Default)]
struct Scratch {
    name: Vec<u32>,
    list: Vec<u8>,
    out: Vec<u8>,
}

/// Writes the answer into `scratch.out`.
fn answer(table: &Table, agent: u32, request: &[u8], most: usize, scratch: &mut Scratch) -> Option<()> {
    let mut message = next(&mut &*request)?.1;
    let version = next(&mut message)?.1;
    let community = next(&mut message)?.1;
    let (kind, mut pdu) = next(&mut message)?;
    let id = next(&mut pdu)?.1;
    let once = usize::try_from(number(next(&mut pdu)?.1)).ok()?;
    let repetitions = number(next(&mut pdu)?.1);
    let mut asked = next(&mut pdu)?.1;
    let Scratch { name, list, out } = scratch;
    list.clear();
    let mut repeated: Vec<(usize, &[u8])> = Vec::new();
    let mut count = 0;
    while let Some((_, mut varbind)) = next(&mut asked) {
        let octets = next(&mut varbind)?.1;
        arcs(octets, name);
        let behind = table.behind(name);
        match kind {
            0xa0 if behind > 0 && table.objects[behind - 1].name == *name => {
                table.put(behind - 1, agent, octets, list);
            }
            0xa0 => list.extend(tlv(0x30, &[tlv(6, octets), vec![0x81, 0]].concat())),
            0xa5 if count >= once => repeated.push((behind, octets)),
            _ => table.put(behind, agent, octets, list),
        }
        count += 1;
    }
    'full: for step in 0..usize::try_from(repetitions).unwrap_or(0) {
        for (at, octets) in &repeated {
            let before = list.len();
            table.put(at + step, agent, octets, list);
            if list.len() + 64 + community.len() > most {
                list.truncate(before);
                break 'full;
            }
        }
        if repeated.iter().all(|(at, _)| at + step >= table.objects.len()) {
            break;
        }
    }
    let pdu = whole(id.len()) + 6 + whole(list.len());
    out.clear();
    head(out, 0x30, whole(version.len()) + whole(community.len()) + whole(pdu));
    for (tag, contents) in [(2, version), (4, community)] {
        head(out, tag, contents.len());
        out.extend(contents);
    }
    head(out, 0xa2, pdu);
    head(out, 2, id.len());
    out.extend(id);
    out.extend([2, 1, 0, 2, 1, 0]);
    head(out, 0x30, list.len());
    out.extend(&*list);
    Some(())
}

/// An answer that waits: when, by which socket, to whom.
type Waiting = Reverse<(Instant, usize, SocketAddr, Vec<u8>)>;

pub(crate) fn serve(options: &Options) {
    let count: usize = options.get("n", 1_000);
    let dead: usize = options.get("dead", 0);
    let mut port = options.get("port", 0);
    let delay = Duration::from_millis(options.get("delay-ms", 0));
    let most = options.get("max-size", 65_507);
    let table = Table::new(options.get("rows", 50), options.get("columns", 5));
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
    let sockets: Vec<UdpSocket> = (0..count + dead)
        .map(|agent| {
            let socket = UdpSocket::bind(place(agent, port)).unwrap();
            port = socket.local_addr().unwrap().port();
            socket.set_nonblocking(true).unwrap();
            if agent < count {
                epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, agent as u64)).unwrap();
            }
            socket
        })
        .collect();
    println!("ready {port}");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
    let mut events = vec![EpollEvent::empty(); 256];
    let (mut buffer, mut scratch) = (vec![0; 0xffff], Scratch::default());
    loop {
        let pause = waiting.peek().map(|Reverse((due, ..))| due.saturating_duration_since(Instant::now()));
        let pause = pause.map_or(EpollTimeout::NONE, |pause| {
            EpollTimeout::try_from(pause + Duration::from_micros(999)).unwrap()
        });
        let ready = epoll.wait(&mut events, pause).unwrap_or(0);
        for event in &events[..ready] {
            let agent = event.data() as usize;
            while let Ok((length, from)) = sockets[agent].recv_from(&mut buffer) {
                if answer(&table, agent as u32, &buffer[..length], most, &mut scratch).is_none() {
                    continue;
                }
                if delay.is_zero() {
                    let _ = sockets[agent].send_to(&scratch.out, from);
                } else {
                    waiting.push(Reverse((Instant::now() + delay, agent, from, scratch.out.clone())));
                }
            }
        }
        while waiting.peek().is_some_and(|Reverse((due, ..))| *due <= Instant::now()) {
            let Some(Reverse((_, agent, to, octets))) = waiting.pop() else { break };
            let _ = sockets[agent].send_to(&octets, to);
        }
    }
}
