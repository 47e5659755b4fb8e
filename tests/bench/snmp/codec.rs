//! A bare loop around snmp2's session: one agent, several columns at once, nothing checked,
//! the cells kept.

use std::time::Duration;

use snmp2::{Oid, SyncSession, Value};

use crate::options::Options;
use crate::usage::Meter;
use crate::wire::{ENTRY, place};

#[allow(dead_code)]
enum Cell {
    Octets(Box<[u8]>),
    Number(i64),
    Address([u8; 4]),
    Else,
}

fn oid(arcs: &[u32]) -> Oid<'static> {
    let arcs: Vec<u64> = arcs.iter().map(|arc| u64::from(*arc)).collect();
    Oid::from(&arcs).unwrap()
}

pub(crate) fn run(options: &Options) {
    let port: u16 = options.get("port", 22_000);
    let repetitions: u32 = options.get("repetitions", 50);
    let columns: u32 = options.get("columns", 5);
    let meter = Meter::start();
    let timeout = Some(Duration::from_secs(5));
    let mut session = SyncSession::new_v2c(place(0, port), b"public", timeout, 1).unwrap();
    let roots: Vec<Oid<'static>> =
        (2..2 + columns).map(|column| oid(&[&ENTRY[..], &[column]].concat())).collect();
    let mut names = roots.clone();
    let mut cells: Vec<(Vec<u8>, Cell)> = Vec::new();
    let mut requests = 0;
    'walk: loop {
        let asked: Vec<&Oid<'_>> = names.iter().collect();
        let answer = session.getbulk(&asked, 0, repetitions).unwrap();
        requests += 1;
        let mut last = Vec::new();
        for (at, (name, value)) in answer.varbinds.enumerate() {
            if !name.starts_with(&roots[at % roots.len()]) {
                break 'walk;
            }
            let cell = match value {
                Value::OctetString(octets) => Cell::Octets(octets.into()),
                Value::Integer(number) => Cell::Number(number),
                Value::IpAddress(address) => Cell::Address(address),
                _ => Cell::Else,
            };
            cells.push((name.as_bytes().to_vec(), cell));
            if at % roots.len() == 0 {
                last.clear();
            }
            last.push(name.to_owned());
        }
        names = last;
    }
    meter.tell("codec", cells.len() as u64, requests);
}
