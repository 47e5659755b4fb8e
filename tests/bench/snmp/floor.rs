//! The floor: the least that the same walks can cost. One thread, one socket, BER read by
//! hand, batches of datagrams, nothing checked, and of what was read only the raw cells kept.

use std::io::{IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg, setsockopt, sockopt};

use crate::options::Options;
use crate::usage::Meter;
use crate::wire::{ENTRY, next, number, oid, place, tlv};

/// Datagrams of one call.
const BATCH: usize = 64;
/// Room for one answer.
const ROOM: usize = 8_192;

#[allow(dead_code)]
enum Cell {
    Octets(Box<[u8]>),
    Number(i64),
    Address([u8; 4]),
    Else,
}

struct Walk {
    names: Vec<Vec<u8>>,
    cells: Vec<(u8, Vec<u8>, Cell)>,
    turn: u32,
}

fn request(id: u32, repetitions: u8, names: &[Vec<u8>]) -> Vec<u8> {
    let varbinds: Vec<u8> =
        names.iter().flat_map(|name| tlv(0x30, &[tlv(6, name), vec![5, 0]].concat())).collect();
    let id = tlv(2, &id.to_be_bytes());
    let pdu = [&id[..], &[2, 1, 0, 2, 1, repetitions], &tlv(0x30, &varbinds)].concat();
    tlv(0x30, &[&[2, 1, 1, 4, 6][..], b"public", &tlv(0xa5, &pdu)].concat())
}

pub(crate) fn run(options: &Options) {
    let count: usize = options.get("n", 1_000);
    let port: u16 = options.get("port", 22_000);
    let concurrency: usize = options.get("concurrency", 256);
    let repetitions: u8 = options.get("repetitions", 50);
    let columns: u32 = options.get("columns", 5);
    let roots: Vec<Vec<u8>> = (2..2 + columns).map(|column| oid(&[&ENTRY[..], &[column]].concat())).collect();
    let meter = Meter::start();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20));
    let fd = socket.as_raw_fd();
    let mut walks: Vec<Walk> =
        (0..count).map(|_| Walk { names: roots.clone(), cells: Vec::new(), turn: 0 }).collect();
    let mut buffers = vec![0; BATCH * ROOM];
    let mut queue: Vec<(usize, Vec<u8>)> = Vec::new();
    let (mut begun, mut done, mut requests, mut values) = (0, 0, 0, 0);
    while done < count {
        while begun < count && begun - done < concurrency {
            queue.push((begun, request((begun as u32) << 12, repetitions, &roots)));
            begun += 1;
        }
        for some in queue.chunks(BATCH) {
            let slices: Vec<[IoSlice<'_>; 1]> =
                some.iter().map(|(_, octets)| [IoSlice::new(octets)]).collect();
            let addresses: Vec<Option<SockaddrIn>> =
                some.iter().map(|(agent, _)| Some(place(*agent, port).into())).collect();
            let mut headers = MultiHeaders::preallocate(some.len(), None);
            let sent =
                sendmmsg(fd, &mut headers, &slices, &addresses, [], MsgFlags::empty()).unwrap().count();
            assert_eq!(sent, some.len());
            requests += sent as u64;
        }
        queue.clear();
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            buffers.chunks_mut(ROOM).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
        let received: Vec<usize> =
            recvmmsg(fd, &mut headers, slices.iter_mut(), MsgFlags::MSG_WAITFORONE, None)
                .unwrap()
                .map(|message| message.bytes)
                .collect();
        for (buffer, length) in buffers.chunks(ROOM).zip(received) {
            let (agent, turn, ended) = take(&buffer[..length], &roots, &mut walks);
            if turn != walks[agent].turn {
                continue;
            }
            if ended {
                values += walks[agent].cells.len() as u64;
                done += 1;
            } else {
                walks[agent].turn += 1;
                let id = (agent as u32) << 12 | walks[agent].turn;
                queue.push((agent, request(id, repetitions, &walks[agent].names)));
            }
        }
    }
    meter.tell("floor", values, requests);
}

/// Takes an answer: whose it was, to which of its questions, and whether it was the last.
fn take(datagram: &[u8], roots: &[Vec<u8>], walks: &mut [Walk]) -> (usize, u32, bool) {
    let mut message = next(&mut &*datagram).unwrap().1;
    next(&mut message).unwrap();
    next(&mut message).unwrap();
    let mut pdu = next(&mut message).unwrap().1;
    let id = number(next(&mut pdu).unwrap().1) as u32;
    assert_eq!(number(next(&mut pdu).unwrap().1), 0);
    next(&mut pdu).unwrap();
    let mut list = next(&mut pdu).unwrap().1;
    let (agent, turn) = ((id >> 12) as usize, id & 0xfff);
    let walk = &mut walks[agent];
    let mut last: Vec<&[u8]> = vec![&[]; roots.len()];
    let mut column = 0;
    while let Some((_, mut varbind)) = next(&mut list) {
        let name = next(&mut varbind).unwrap().1;
        if !name.starts_with(&roots[column]) {
            return (agent, turn, true);
        }
        let (tag, octets) = next(&mut varbind).unwrap();
        let cell = match tag {
            4 => Cell::Octets(octets.into()),
            2 | 0x42 => Cell::Number(number(octets)),
            0x40 => Cell::Address(octets.try_into().unwrap()),
            _ => Cell::Else,
        };
        walk.cells.push((column as u8, name[roots[column].len()..].to_vec(), cell));
        last[column] = name;
        column = (column + 1) % roots.len();
    }
    for (name, last) in walk.names.iter_mut().zip(last).filter(|(_, last)| !last.is_empty()) {
        *name = last.to_vec();
    }
    (agent, turn, false)
}
