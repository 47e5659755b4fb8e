//! Layouts whose ranges have any ends.

use super::*;

pub(super) fn junose(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const NAMES: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1";
    const RANGES: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.3.1";
    let mut paper = Paper::default();
    for (number, pool) in (1..).zip(pools) {
        paper.cell(NAMES, 3, &[number], text(&pool.name));
        for (profile, range) in (1..).zip(&pool.v4) {
            paper.cell(RANGES, 3, &[number, profile], ip(range.0));
            paper.cell(RANGES, 4, &[number, profile], ip(range.1));
            paper.say(&pool.name, b"", range.0, range.1);
        }
    }
    paper.done()
}

/// The first range of each pool, as old software has it.
pub(super) fn junose_first(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1";
    let mut paper = Paper::default();
    for (number, pool) in (1..).zip(pools) {
        let range = pool.v4[0];
        paper.cell(POOLS, 3, &[number], text(&pool.name));
        paper.cell(POOLS, 4, &[number], ip(range.0));
        paper.cell(POOLS, 5, &[number], ip(range.1));
        paper.say(&pool.name, b"", range.0, range.1);
    }
    paper.done()
}

const HUAWEI_POOLS: &str = "1.3.6.1.4.1.2011.6.8.1.1.1";

pub(super) fn huawei(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const SECTIONS: &str = "1.3.6.1.4.1.2011.6.8.1.2.1";
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        paper.cell(HUAWEI_POOLS, 2, &[number], text(&pool.name));
        paper.cell(HUAWEI_POOLS, 11, &[number], text(&pool.vrf));
        for (section, range) in (0..).zip(&pool.v4) {
            paper.cell(SECTIONS, 3, &[number, section], ip(range.0));
            paper.cell(SECTIONS, 4, &[number, section], ip(range.1));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn huawei_dynamic(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const SUBNETS: &str = "1.3.6.1.4.1.2011.6.8.1.28.1";
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        paper.cell(HUAWEI_POOLS, 2, &[number], text(&pool.name));
        paper.cell(HUAWEI_POOLS, 11, &[number], text(&pool.vrf));
        for (subnet, range) in (0..).zip(&pool.v4) {
            let index = [number, u32::from(pool.way), subnet];
            paper.cell(SUBNETS, 3, &index, ip(range.0));
            paper.cell(SUBNETS, 4, &index, ip(range.1));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn huawei_bounds(pools: &[Pool]) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        let range = pool.v4[0];
        let kind = [1, 3, 4][usize::from(pool.way % 3)];
        let cells = [
            (2, text(&pool.name)),
            (11, text(&pool.vrf)),
            (12, Value::Integer(kind)),
            (27, ip(range.0)),
            (28, ip(range.1)),
        ];
        cells.into_iter().for_each(|(column, value)| paper.cell(HUAWEI_POOLS, column, &[number], value));
        paper.say(&pool.name, &pool.vrf, range.0, range.1);
    }
    paper.done()
}

/// InetAddressType, the octets of both ends, and the range.
type Typed = (u32, Vec<u8>, Vec<u8>, (u128, u128));

/// All ranges of a pool, of both families.
fn typed(pool: &Pool) -> Vec<Typed> {
    let four = pool.v4.iter().map(|r| (1, v4_octets(r.0).to_vec(), v4_octets(r.1).to_vec(), *r));
    let six = pool.v6.iter().map(|r| (2, r.0.to_be_bytes().to_vec(), r.1.to_be_bytes().to_vec(), *r));
    four.chain(six).collect()
}

/// Two ranges of one pool that begin alike cannot be told by an index of the start.
fn different_starts(pool: &Pool) -> Vec<Typed> {
    let mut ranges = typed(pool);
    ranges.dedup_by_key(|range| (range.0, range.3.0));
    ranges
}

pub(super) fn cisco_ios(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1";
    let mut paper = Paper::default();
    for pool in pools {
        for (kind, first, last, range) in different_starts(pool) {
            let index = [counted(&pool.name), vec![kind], counted(&first)].concat();
            paper.cell(POOLS, 4, &index, Value::Octets(last));
            paper.cell(POOLS, 7, &index, text(&pool.vrf));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn cisco_xr(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.9.9.748.1.2.2.1";
    const RANGES: &str = "1.3.6.1.4.1.9.9.748.1.2.4.1";
    let mut paper = Paper::default();
    for (number, pool) in (0..).zip(pools) {
        paper.cell(POOLS, 4, &[number], text(&pool.name));
        paper.cell(POOLS, 6, &[number], text(&pool.vrf));
        for (kind, first, last, range) in different_starts(pool) {
            let index = [vec![number, kind], counted(&first)].concat();
            paper.cell(RANGES, 5, &index, Value::Octets(last));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn zte(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.3902.1006.1.1.2.1.1";
    let mut paper = Paper::default();
    for pool in pools {
        for (id, range) in (1..).zip(&pool.v4) {
            let ends = [arcs(&v4_octets(range.0)), arcs(&v4_octets(range.1))].concat();
            let index = [counted(&pool.name), counted(&pool.vrf), counted(b"vbui1"), vec![id], ends].concat();
            let cells = [(1, text(&pool.name)), (2, text(&pool.vrf)), (5, ip(range.0)), (6, ip(range.1))];
            cells.into_iter().for_each(|(column, value)| paper.cell(POOLS, column, &index, value));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn flexbng(pools: &[Pool]) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    for pool in pools {
        let name = counted(&pool.name);
        paper.cell("1.3.6.1.4.1.54268.1.1.2.1.1", 2, &name, text(&pool.vrf));
        for range in &pool.v4 {
            let index = [name.clone(), arcs(&v4_octets(range.0)), arcs(&v4_octets(range.1))].concat();
            paper.cell("1.3.6.1.4.1.54268.1.1.2.2.1", 1, &index, ip(range.0));
            paper.cell("1.3.6.1.4.1.54268.1.1.2.2.1", 2, &index, ip(range.1));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

pub(super) fn flexbng_v6(pools: &[Pool]) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    for pool in pools {
        let name = counted(&pool.name);
        paper.cell("1.3.6.1.4.1.54268.1.1.3.2.1", 2, &name, text(&pool.vrf));
        for range in &pool.v6 {
            let ends = [range.0.to_be_bytes(), range.1.to_be_bytes()];
            let index = [name.clone(), arcs(&ends[0]), arcs(&ends[1])].concat();
            paper.cell("1.3.6.1.4.1.54268.1.1.3.3.1", 1, &index, text(&ends[0]));
            paper.cell("1.3.6.1.4.1.54268.1.1.3.3.1", 2, &index, text(&ends[1]));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

const NOKIA_ROUTERS: &str = "1.3.6.1.4.1.6527.3.1.2.3.1.1";

/// Each range included, and where it is long enough its second half, but for the last
/// address, taken out again: by two excludes that overlap.
pub(super) fn nokia(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const RANGES: &str = "1.3.6.1.4.1.6527.3.1.2.47.1.10.1";
    let mut paper = Paper::default();
    for (router, pool) in (1..).zip(pools) {
        paper.cell(NOKIA_ROUTERS, 4, &[router], text(&pool.vrf));
        for (subnet, range) in (0..).zip(&pool.v4) {
            let mut put = |kind: u32, first: u128, last: u128| {
                let names = [vec![router], counted(b"server"), counted(&pool.name)].concat();
                let subnet = [vec![1], counted(&[10, 0, subnet, 0]), vec![24, kind]].concat();
                let ends = [vec![1], counted(&v4_octets(first)), vec![1], counted(&v4_octets(last))].concat();
                paper.cell(RANGES, 6, &[names, subnet, ends].concat(), Value::Integer(1));
            };
            put(1, range.0, range.1);
            let middle = (range.0 + range.1) / 2;
            if range.1 - range.0 < 8 {
                paper.say(&pool.name, &pool.vrf, range.0, range.1);
                continue;
            }
            put(0, middle, range.1 - 2);
            put(0, middle + 1, range.1 - 1);
            paper.say(&pool.name, &pool.vrf, range.0, middle - 1);
            paper.say(&pool.name, &pool.vrf, range.1, range.1);
        }
    }
    paper.done()
}

pub(super) fn nokia_nat(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const RANGES: &str = "1.3.6.1.4.1.6527.3.1.2.65.1.4.2.1";
    let mut paper = Paper::default();
    for (router, pool) in (1..).zip(pools) {
        paper.cell(NOKIA_ROUTERS, 4, &[router], text(&pool.vrf));
        for (kind, first, last, range) in typed(pool) {
            let index =
                [vec![router], counted(&pool.name), vec![kind], counted(&first), counted(&last)].concat();
            paper.cell(RANGES, 4, &index, Value::Integer(1));
            paper.say(&pool.name, &pool.vrf, range.0, range.1);
        }
    }
    paper.done()
}

/// Subnets and ranges, by turns; the interface has the pool's name, for old software.
fn ericsson(pools: &[Pool], base: &str) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    let entry = format!("{base}.1.1");
    let vrf = &pools[0].vrf;
    paper.cell(&format!("{base}.2"), 1, &[0], text(vrf));
    for (interface, pool) in (1..).zip(pools) {
        let mut row = |start: u128, end: Option<u128>, mask: Option<u128>| {
            let index = [vec![interface], arcs(&v4_octets(start))].concat();
            paper.cell(&entry, 3, &index, text(&pool.name));
            if pool.way & 1 == 0 || end.is_some() {
                paper.cell(&entry, 12, &index, text(&pool.name));
                paper.cell(&entry, 13, &index, Value::Integer(end.is_some().into()));
            }
            if let Some(end) = end {
                paper.cell(&entry, 14, &index, ip(end));
                paper.say(&pool.name, vrf, start, end);
            }
            if let Some(mask) = mask {
                paper.cell(&entry, 4, &index, ip(mask));
            }
        };
        let mut starts: Vec<u128> = pool.blocks4.iter().map(|block| block.first).collect();
        pool.blocks4.iter().for_each(|block| row(block.first, None, Some(mask(32, block.length))));
        for range in &pool.v4 {
            if !starts.contains(&range.0) {
                starts.push(range.0);
                row(range.0, Some(range.1), None);
            }
        }
        for block in &pool.blocks4 {
            paper.say(&pool.name, vrf, block.first, block.last);
        }
    }
    // What the default context is called is no VRF, and no test of one.
    paper.done()
}

pub(super) fn redback(pools: &[Pool]) -> (Objects, Vec<Said>) {
    ericsson(pools, "1.3.6.1.4.1.2352.2.15.1")
}

pub(super) fn ssr(pools: &[Pool]) -> (Objects, Vec<Said>) {
    ericsson(pools, "1.3.6.1.4.1.193.218.2.15.1")
}

/// One range to a pool, or its whole network.
pub(super) fn h3c(pools: &[Pool]) -> (Objects, Vec<Said>) {
    const POOLS: &str = "1.3.6.1.4.1.25506.2.101.2.2.1";
    const NETWORKS: &str = "1.3.6.1.4.1.25506.2.101.2.3.1";
    let mut paper = Paper::default();
    for pool in pools {
        let index = counted(&pool.name);
        let Some(block) = pool.blocks4.first() else { continue };
        let whole = pool.way & 1 == 0;
        let (first, last) = if whole { (0, 0) } else { pool.v4[0] };
        paper.cell(POOLS, 2, &index, Value::Integer(1));
        let cells = [
            (1, Value::Integer(2)),
            (2, ip(block.first)),
            (3, ip(mask(32, block.length))),
            (8, ip(first)),
            (9, ip(last)),
        ];
        cells.into_iter().for_each(|(column, value)| paper.cell(NETWORKS, column, &index, value));
        match whole {
            true => paper.say(&pool.name, b"", block.first, block.last),
            false => paper.say(&pool.name, b"", first, last),
        }
    }
    paper.done()
}

pub(super) fn h3c_v6(pools: &[Pool]) -> (Objects, Vec<Said>) {
    let mut paper = Paper::default();
    for pool in pools {
        let (index, Some(range)) = (counted(&pool.name), pool.v6.first()) else { continue };
        paper.cell("1.3.6.1.4.1.25506.2.159.1.1.1", 2, &index, Value::Integer(1));
        paper.cell("1.3.6.1.4.1.25506.2.159.1.3.1", 1, &index, text(&range.0.to_be_bytes()));
        paper.cell("1.3.6.1.4.1.25506.2.159.1.3.1", 2, &index, text(&range.1.to_be_bytes()));
        paper.say(&pool.name, b"", range.0, range.1);
    }
    paper.done()
}
