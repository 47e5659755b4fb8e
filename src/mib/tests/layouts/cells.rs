//! Any value in place of a cell.

use super::*;

fn any_value() -> impl Strategy<Value = Value> {
    let octets = || prop::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        octets().prop_map(Value::Octets),
        octets().prop_map(Value::IpAddress),
        any::<u32>().prop_map(Value::Gauge32),
        any::<u64>().prop_map(Value::Counter64),
        octets().prop_map(|octets| Value::Undecodable { tag: 0x40, octets }),
        Just(Value::Null),
        Just(Value::NoSuchInstance),
    ]
}

/// Whether a value could be a cell of the same column: another address, number or name in
/// place of one cannot be told, unless the row says it twice.
fn same_form(a: &Value, b: &Value) -> bool {
    let integer =
        |value: &Value| matches!(value, Value::Integer(_) | Value::Gauge32(_) | Value::Counter64(_));
    match (a, b) {
        (Value::IpAddress(a), Value::IpAddress(b)) => a.len() == b.len(),
        (Value::Octets(_), Value::Octets(_)) => true,
        _ => integer(a) && integer(b),
    }
}

/// The tables whose rows are one range each, and no more or less by what others say.
fn plain(layout: &&Layout) -> bool {
    (layout.descriptor, layout.table) != ("nokia-sros", "ranges")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A cell of another form harms the rows that need it, and no other: what is still
    /// listed is true, and what is missing is unread.
    #[test]
    fn a_broken_cell_makes_no_wrong_range(pools in pools(), at in any::<prop::sample::Index>(), value in any_value()) {
        for layout in all().filter(plain) {
            let (mut objects, truth) = (layout.lay_out)(&pools);
            if objects.is_empty() {
                continue;
            }
            let rows = decoded(layout, &objects).rows;
            let oid = objects.keys().nth(at.index(objects.len())).unwrap().clone();
            let before = objects.insert(oid.clone(), value.clone()).unwrap();
            let said_twice = ["1.3.6.1.4.1.3902.1006.", "1.3.6.1.4.1.54268.1.1.2.2.", "1.3.6.1.4.1.54268.1.1.3.3."]
                .iter()
                .any(|root| oid.to_string().starts_with(root));
            if same_form(&before, &value) && !said_twice {
                continue;
            }
            let table = decoded(layout, &objects);
            prop_assert!(said(&table).iter().all(|said| truth.contains(said)), "{} {}", layout.descriptor, oid);
            let unread = table.table.unread.len();
            prop_assert_eq!(table.table.listed.len() + unread, usize::try_from(rows).unwrap(), "{} {}", layout.descriptor, oid);
            prop_assert_eq!(unread, table.rejected.len());
        }
    }

    /// Octets of another length in place of octets: a name is another one, and an address is
    /// none at all.
    #[test]
    fn octets_of_another_length_are_no_address(pools in pools(), at in any::<prop::sample::Index>(), octets in prop::collection::vec(any::<u8>(), 0..20)) {
        // These take networks of any length, as text and cut: what they make of them is tested apart.
        let lengths = |layout: &&Layout| !matches!((layout.descriptor, layout.table), ("juniper-junos", _) | ("huawei", "v6-pools" | "v6-prefixes"));
        for layout in all().filter(lengths) {
            let (mut objects, truth) = (layout.lay_out)(&pools);
            let texts: Vec<Oid> = objects.iter().filter(|(_, value)| matches!(value, Value::Octets(other) if other.len() != octets.len())).map(|(oid, _)| oid.clone()).collect();
            if texts.is_empty() {
                continue;
            }
            let oid = at.get(&texts).clone();
            objects.insert(oid.clone(), Value::Octets(octets.clone()));
            for (_, _, first, last) in said(&decoded(layout, &objects)) {
                prop_assert!(truth.iter().any(|truth| (truth.2, truth.3) == (first, last)), "{} {oid}: {octets:?}", layout.descriptor);
            }
        }
    }

    /// Where what is excluded cannot be read, nothing of its group is listed; else all that
    /// is listed is true.
    #[test]
    fn a_broken_exclude_makes_no_wrong_range(pools in pools(), at in any::<prop::sample::Index>(), value in any_value()) {
        let layout = all().find(|layout| !plain(layout)).unwrap();
        let (mut objects, truth) = (layout.lay_out)(&pools);
        let oid = objects.keys().nth(at.index(objects.len())).unwrap().clone();
        let before = objects.insert(oid.clone(), value.clone()).unwrap();
        // A row status other than active(1) is a void row, and a VRF may be of any name.
        if same_form(&before, &value) {
            return Ok(());
        }
        if value == Value::NoSuchInstance {
            // A row without its status counts.
            return Ok(());
        }
        let table = decoded(layout, &objects);
        prop_assert!(said(&table).iter().all(|said| truth.contains(said)), "{} {:?}", oid, value);
        prop_assert!(said(&table).len() < truth.len());
    }

    /// Any octets as the network of a pool: what is listed is what another reader makes of
    /// the text, or what the octets are.
    #[test]
    fn any_octets_as_a_network_make_the_network_that_they_say(
        network in prop_oneof![
            "[0-9.:/a-f]{0,20}",
            "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.0/[0-9]{1,3}",
            "2001:db8:[0-9a-f]{1,4}::/[0-9]{1,3}",
        ].prop_map(String::into_bytes).boxed().prop_union(prop::collection::vec(any::<u8>(), 0..20).boxed()),
        family in 1..3i64,
        length in 0..130i64,
    ) {
        let cells = [
            (2, text(b"")),
            (3, text(b"p")),
            (5, Value::Integer(family)),
            (6, Value::Octets(network.clone())),
            (7, Value::Integer(length)),
        ];
        let mut paper = Paper::default();
        cells.into_iter().for_each(|(column, value)| paper.cell("1.3.6.1.4.1.2636.3.51.1.1.4.1.1.1", column, &[1], value));
        let layout = layout("juniper-junos", "pools", blocks::junos);
        let table = decoded(&layout, &paper.objects);
        prop_assert_eq!(table.table.listed.len() + table.rejected.len(), 1);
        if let Some(listed) = table.table.listed.first() {
            let as_text = std::str::from_utf8(&network).ok().and_then(|text| {
                let text = if text.contains('/') { text.to_owned() } else { format!("{text}/{length}") };
                text.parse::<ipnet::IpNet>().ok()
            });
            let as_octets = match *network.as_slice() {
                [a, b, c, d] => format!("{a}.{b}.{c}.{d}/{length}").parse().ok(),
                ref six => <[u8; 16]>::try_from(six).ok().and_then(|six| {
                    format!("{}/{length}", std::net::Ipv6Addr::from(six)).parse::<ipnet::IpNet>().ok()
                }),
            };
            let said = as_text.or(as_octets).unwrap();
            prop_assert_eq!(said, said.trunc());
            prop_assert_eq!((listed.range.first(), listed.range.last()), (said.network(), said.broadcast()));
            prop_assert_eq!(listed.range.family().number() == 4, family == 1);
        }
    }
}
