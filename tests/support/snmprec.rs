//! The rows of a walk file, read slowly and without anything of poolsync, so that what is
//! right can be told from the agents' own rows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// A pool's range as a person reads it off the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The pool's name.
    pub pool: String,
    /// The first address.
    pub first: IpAddr,
    /// The last address.
    pub last: IpAddr,
}

impl Range {
    /// A range.
    pub fn new(pool: &str, first: &str, last: &str) -> Self {
        Self { pool: pool.to_owned(), first: first.parse().unwrap(), last: last.parse().unwrap() }
    }

    /// Whether an address lies within.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, self.last, address) {
            (IpAddr::V4(first), IpAddr::V4(last), IpAddr::V4(address)) => first <= address && address <= last,
            (IpAddr::V6(first), IpAddr::V6(last), IpAddr::V6(address)) => first <= address && address <= last,
            _ => false,
        }
    }
}

/// The rows `(OID, value)` of one column, as `(index, value)`, in the file's order.
pub fn column(file: &Path, column: &str) -> Vec<(String, String)> {
    let prefix = format!("{column}.");
    let text = std::fs::read_to_string(file).unwrap();
    let rows = text.lines().filter_map(|line| {
        let (oid, rest) = line.split_once('|')?;
        let index = oid.strip_prefix(&prefix)?;
        Some((index.to_owned(), rest.split_once('|')?.1.to_owned()))
    });
    rows.collect()
}

/// The cell of a column at an index.
pub fn cell(file: &Path, oid: &str, index: &str) -> Option<String> {
    column(file, oid).into_iter().find(|(i, _)| i == index).map(|(_, value)| value)
}

/// The ranges of a JUNOSe box that has the pool table only: name, start and end in its
/// columns 3, 4 and 5.
pub fn junose_pools(file: &Path) -> Vec<Range> {
    const ENTRY: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1";
    let starts = column(file, &format!("{ENTRY}.4"));
    let at = |index: &str, arc: u8| cell(file, &format!("{ENTRY}.{arc}"), index).unwrap();
    starts.into_iter().map(|(i, start)| Range::new(&at(&i, 3), &start, &at(&i, 5))).collect()
}

/// The ranges of a ZTE box outside VPNs: name, virtual router, start and end in the columns
/// 1, 2, 5 and 6.
pub fn zte_pools(file: &Path) -> Vec<Range> {
    const ENTRY: &str = "1.3.6.1.4.1.3902.1006.1.1.2.1.1";
    let at = |index: &str, arc: u8| cell(file, &format!("{ENTRY}.{arc}"), index).unwrap();
    let rows = column(file, &format!("{ENTRY}.5")).into_iter();
    let open = rows.filter(|(i, _)| at(i, 2).is_empty());
    open.map(|(i, start)| Range::new(&at(&i, 1), &start, &at(&i, 6))).collect()
}

/// The IPv4 ranges of a Huawei box outside VPNs: sections (start 3, end 4) and, by the
/// first arc of their index, the pool's name (2) and VPN (11).
pub fn huawei_sections(file: &Path) -> Vec<Range> {
    const POOL: &str = "1.3.6.1.4.1.2011.6.8.1.1.1";
    const SECTION: &str = "1.3.6.1.4.1.2011.6.8.1.2.1";
    let pool = |index: &str, arc: u8| {
        let pool = index.split('.').next().unwrap();
        cell(file, &format!("{POOL}.{arc}"), pool).unwrap()
    };
    let rows = column(file, &format!("{SECTION}.3")).into_iter();
    let open = rows.filter(|(i, _)| pool(i, 11).is_empty());
    open.map(|(i, start)| Range::new(&pool(&i, 2), &start, &cell(file, &format!("{SECTION}.4"), &i).unwrap()))
        .collect()
}

/// The IPv6 prefixes of a Huawei box outside VPNs: pools (name 2, prefix name 4) and, by
/// name (2), prefixes (octets 4, length 5, VPN 10).
pub fn huawei_prefixes(file: &Path) -> Vec<Range> {
    const PREFIX: &str = "1.3.6.1.4.1.2011.6.8.1.16.1";
    const POOL: &str = "1.3.6.1.4.1.2011.6.8.1.17.1";
    let names = column(file, &format!("{PREFIX}.2"));
    let at = |index: &str, arc: u8| cell(file, &format!("{PREFIX}.{arc}"), index).unwrap();
    let pools = column(file, &format!("{POOL}.4")).into_iter();
    let pools = pools.map(|(pool, prefix)| {
        let (index, _) = names.iter().find(|(_, name)| *name == prefix).unwrap();
        (cell(file, &format!("{POOL}.2"), &pool).unwrap(), index.clone())
    });
    let open = pools.filter(|(_, index)| at(index, 10).is_empty());
    open.map(|(pool, index)| {
        let first = u128::from_str_radix(&at(&index, 4), 16).unwrap();
        let length: u32 = at(&index, 5).parse().unwrap();
        let last = first | (u128::MAX >> length);
        Range { pool, first: Ipv6Addr::from(first).into(), last: Ipv6Addr::from(last).into() }
    })
    .collect()
}

/// The ranges of a Cisco IOS-XE box outside pool groups, which may overlap each other: name
/// and start in the index (`length name type length start`), end as octets in column 4,
/// group in column 7.
pub fn cisco_pools(file: &Path) -> Vec<Range> {
    const ENTRY: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1";
    let rows = column(file, &format!("{ENTRY}.4")).into_iter();
    let open = rows.filter(|(i, _)| cell(file, &format!("{ENTRY}.7"), i).unwrap().is_empty());
    open.map(|(index, end)| {
        let arcs: Vec<u8> = index.split('.').map(|arc| arc.parse().unwrap()).collect();
        let (name, address) = arcs[1..].split_at(usize::from(arcs[0]));
        let end: Vec<u8> =
            (0..end.len()).step_by(2).map(|at| u8::from_str_radix(&end[at..at + 2], 16).unwrap()).collect();
        Range {
            pool: String::from_utf8(name.to_vec()).unwrap(),
            first: octets(&address[2..]),
            last: octets(&end),
        }
    })
    .collect()
}

fn octets(octets: &[u8]) -> IpAddr {
    match octets.len() {
        4 => Ipv4Addr::from(<[u8; 4]>::try_from(octets).unwrap()).into(),
        _ => Ipv6Addr::from(<[u8; 16]>::try_from(octets).unwrap()).into(),
    }
}
