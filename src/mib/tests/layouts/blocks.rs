//! Layouts whose ranges are prefixes, or runs of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::*;

/// All blocks of a pool, of both families, with InetAddressType, width and octets.
fn typed(pool: &Pool) -> Vec<(u32, u8, Vec<u8>, Block)> {
    let four = pool.blocks4.iter().map(|block| (1, 32, v4_octets(block.first).to_vec(), *block));
    let six = pool.blocks6.iter().map(|block| (2, 128, block.first.to_be_bytes().to_vec(), *block));
    four.chain(six).collect()
}

fn octets(width: u8, address: u128) -> Vec<u8> {
    if width == 32 { v4_octets(address).to_vec() } else { address.to_be_bytes().to_vec() }
}

fn written(width: u8, address: u128) -> String {
    match width {
        32 => IpAddr::V4(Ipv4Addr::from(v4_octets(address))).to_string(),
        _ => IpAddr::V6(Ipv6Addr::from(address)).to_string(),
    }
}

pub(super) fn cisco_xr(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.9.9.748.1.2.2.1";
    const PREFIXES: &str = "1.3.6.1.4.1.9.9.748.1.2.6.1";
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        paper.cell(POOLS, 4, &[number], text(&pool.name));
        paper.cell(POOLS, 6, &[number], text(&pool.vrf));
        for (kind, width, first, block) in typed(pool) {
            let mask = octets(width, mask(width, block.length));
            let index = [vec![number, kind], counted(&first), counted(&mask)].concat();
            paper.cell(PREFIXES, 4, &index, Value::Integer(1));
            paper.say(&pool.name, &pool.vrf, block.first, block.last);
        }
    }
    paper.done()
}

/// Each block as a run of prefixes that are up to three bits longer.
fn ericsson(pools: &[Pool], base: &str) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    let entry = format!("{base}.3.1");
    let vrf = &pools[0].vrf;
    paper.cell(&format!("{base}.2"), 1, &[0], text(vrf));
    for (interface, pool) in (1..).zip(pools) {
        for block in &pool.blocks6 {
            let length = block.length + pool.way % 4;
            let last = block.last & mask(128, length);
            let index =
                [vec![2, interface, 2], counted(&block.first.to_be_bytes()), vec![length.into()]].concat();
            paper.cell(&entry, 6, &index, Value::Integer(2));
            paper.cell(&entry, 7, &index, text(&last.to_be_bytes()));
            paper.cell(&entry, 8, &index, Value::Gauge32(length.into()));
            paper.cell(&entry, 10, &index, text(&pool.name));
            paper.say(&pool.name, vrf, block.first, block.last);
        }
    }
    paper.done()
}

pub(super) fn redback(pools: &[Pool]) -> (Objects, Vec<Said>) {
    ericsson(pools, "1.3.6.1.4.1.2352.2.15.1")
}

pub(super) fn ssr(pools: &[Pool]) -> (Objects, Vec<Said>) {
    ericsson(pools, "1.3.6.1.4.1.193.218.2.15.1")
}

/// The gateway is any address of the block.
pub(super) fn huawei_relay(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const RELAY: &str = "1.3.6.1.4.1.2011.6.8.1.6.1";
    let mut paper = Paper::default();
    let pools = pools.iter().flat_map(|pool| pool.blocks4.iter().map(move |block| (pool, block)));
    for (number, (pool, block)) in (0..).zip(pools) {
        let gateway = (block.first + u128::from(pool.way)).min(block.last);
        let cells =
            [(2, text(&pool.name)), (3, ip(gateway)), (4, ip(mask(32, block.length))), (12, text(&pool.vrf))];
        cells.into_iter().for_each(|(column, value)| paper.cell(RELAY, column, &[number], value));
        paper.say(&pool.name, &pool.vrf, block.first, block.last);
    }
    paper.done()
}

/// The octets of a prefix, cut short where zeros follow.
fn short(block: &Block, way: u8) -> Vec<u8> {
    let octets = block.first.to_be_bytes();
    let needed = 16 - octets.iter().rev().take_while(|octet| **octet == 0).count();
    octets[..(needed + usize::from(way)).min(16)].to_vec()
}

const HUAWEI_PREFIXES: &str = "1.3.6.1.4.1.2011.6.8.1.16.1";

fn huawei_prefix(paper: &mut Paper, id: u32, name: &[u8], pool: &Pool, block: &Block) {
    let cells = [
        (2, text(name)),
        (3, Value::Integer(1 + i64::from(pool.way % 2))),
        (4, Value::Octets(short(block, pool.way % 9))),
        (5, Value::Integer(block.length.into())),
        (10, text(&pool.vrf)),
    ];
    cells.into_iter().for_each(|(column, value)| paper.cell(HUAWEI_PREFIXES, column, &[id], value));
}

pub(super) fn huawei_v6(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.2011.6.8.1.17.1";
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        let Some(block) = pool.blocks6.first() else { continue };
        let prefix = [b"pfx-", pool.name.as_slice()].concat();
        huawei_prefix(&mut paper, 100 - number, &prefix, pool, block);
        paper.cell(POOLS, 2, &[number], text(&pool.name));
        paper.cell(POOLS, 3, &[number], Value::Integer(1 + i64::from(pool.way % 2)));
        paper.cell(POOLS, 4, &[number], text(&prefix));
        paper.say(&pool.name, &pool.vrf, block.first, block.last);
    }
    paper.done()
}

/// Prefixes that no pool names.
pub(super) fn huawei_prefixes(pools: &[Pool]) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        let Some(block) = pool.blocks6.first() else { continue };
        huawei_prefix(&mut paper, number, &pool.name, pool, block);
        paper.say(&pool.name, &pool.vrf, block.first, block.last);
    }
    paper.done()
}

/// As text with its length, as text beside it, and as octets.
pub(super) fn junos(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.2636.3.51.1.1.4.1.1.1";
    let mut paper = Paper::default();
    let rows = pools.iter().flat_map(|pool| typed(pool).into_iter().map(move |block| (pool, block)));
    for (number, (pool, (kind, width, first, block))) in (1..).zip(rows) {
        // No name that is skipped.
        let name = [b"p", pool.name.as_slice()].concat();
        let address = written(width, block.first);
        let (network, length) = match pool.way % 4 {
            0 => (format!("{address}/{}", block.length).into_bytes(), 0),
            1 => (format!("{address}/{}", block.length).into_bytes(), block.length),
            2 => (address.into_bytes(), block.length),
            _ => (first, block.length),
        };
        let cells = [
            (2, text(&pool.vrf)),
            (3, text(&name)),
            (5, Value::Integer(kind.into())),
            (6, Value::Octets(network)),
            (7, Value::Gauge32(length.into())),
        ];
        cells.into_iter().for_each(|(column, value)| paper.cell(POOLS, column, &[number], value));
        paper.say(&name, &pool.vrf, block.first, block.last);
    }
    paper.done()
}

/// Several shared pools may point to one pool of the DHCP server.
pub(super) fn junose_shared(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const SHARED: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.5.1";
    const DHCP: &str = "1.3.6.1.4.1.4874.2.2.22.1.3.3.1.1";
    let mut paper = Paper::default();
    for (number, pool) in (1..).zip(pools) {
        let Some(block) = pool.blocks4.first() else { continue };
        let dhcp = [b"dhcp-", pool.name.as_slice()].concat();
        paper.cell(DHCP, 3, &counted(&dhcp), ip(block.first));
        paper.cell(DHCP, 4, &counted(&dhcp), ip(mask(32, block.length)));
        for copy in 0..=u32::from(pool.way % 2) {
            paper.cell(SHARED, 3, &[10 * number + copy], text(&pool.name));
            paper.cell(SHARED, 4, &[10 * number + copy], text(&dhcp));
            paper.say(&pool.name, b"", block.first, block.last);
        }
    }
    paper.done()
}

pub(super) fn nokia_v6(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const SUBNETS: &str = "1.3.6.1.4.1.6527.3.1.2.47.1.8.1";
    let mut paper = Paper::default();
    for (router, pool) in (1..).zip(pools) {
        paper.cell("1.3.6.1.4.1.6527.3.1.2.3.1.1", 4, &[router], text(&pool.vrf));
        for block in &pool.blocks6 {
            let names = [vec![router], counted(b"server"), counted(&pool.name)].concat();
            let subnet = [vec![2], counted(&block.first.to_be_bytes()), vec![block.length.into()]].concat();
            let index = [names, subnet].concat();
            paper.cell(SUBNETS, 4, &index, Value::Integer(1));
            paper.cell(SUBNETS, 14, &index, Value::Octets(vec![0x40]));
            paper.say(&pool.name, &pool.vrf, block.first, block.last);
        }
    }
    paper.done()
}

const INTERFACES: &str = "1.3.6.1.2.1.2.2.1";

/// The router's own address is any of the block.
pub(super) fn connected(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const ADDRESSES: &str = "1.3.6.1.2.1.4.20.1";
    let mut paper = Paper::default();
    let mut taken = std::collections::BTreeSet::new();
    for (interface, pool) in (1..).zip(pools) {
        paper.cell(INTERFACES, 2, &[interface], text(&pool.name));
        for block in &pool.blocks4 {
            let address = (block.first + u128::from(pool.way)).min(block.last);
            if taken.insert(address) {
                paper.cell(ADDRESSES, 2, &arcs(&v4_octets(address)), Value::Integer(interface.into()));
                paper.cell(ADDRESSES, 3, &arcs(&v4_octets(address)), ip(mask(32, block.length)));
                paper.say(&pool.name, b"", block.first, block.last);
            }
        }
    }
    paper.done()
}

pub(super) fn connected_v6(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const PREFIXES: &str = "1.3.6.1.2.1.4.32.1";
    let mut paper = Paper::default();
    for (interface, pool) in (1..).zip(pools) {
        paper.cell(INTERFACES, 2, &[interface], text(&pool.name));
        for block in &pool.blocks6 {
            let prefix = counted(&block.first.to_be_bytes());
            let index = [vec![interface, 2], prefix, vec![block.length.into()]].concat();
            paper.cell(PREFIXES, 5, &index, Value::Integer(2));
            paper.say(&pool.name, b"", block.first, block.last);
        }
    }
    paper.done()
}

pub(super) fn inet_routes(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const ROUTES: &str = "1.3.6.1.2.1.4.24.7.1";
    let mut paper = Paper::default();
    for pool in pools {
        for (kind, width, first, block) in typed(pool) {
            let hop = [vec![kind], counted(&octets(width, 0))].concat();
            let index = [vec![kind], counted(&first), vec![block.length.into(), 2, 0, 0], hop].concat();
            paper.cell(ROUTES, 8, &index, Value::Integer([2, 5][usize::from(pool.way % 2)]));
            paper.say(b"aggregate", b"", block.first, block.last);
        }
    }
    paper.done()
}

pub(super) fn ip_routes(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const ROUTES: &str = "1.3.6.1.2.1.4.24.4.1";
    let mut paper = Paper::default();
    for block in pools.iter().flat_map(|pool| &pool.blocks4) {
        let addresses = [v4_octets(block.first), v4_octets(mask(32, block.length))].concat();
        paper.cell(ROUTES, 6, &[arcs(&addresses), vec![0, 0, 0, 0, 0]].concat(), Value::Integer(2));
        paper.say(b"aggregate", b"", block.first, block.last);
    }
    paper.done()
}
