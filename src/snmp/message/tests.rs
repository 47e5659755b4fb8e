use proptest::prelude::*;

use super::super::encode;
use super::*;

/// 1.3.6.1.4.1.4874, as octets of an OID.
const NAME: [u8; 7] = [0x2b, 6, 1, 4, 1, 0xa6, 0x0a];

/// An element with a length of one octet.
fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag, u8::try_from(contents.len()).unwrap()];
    bytes.extend_from_slice(contents);
    bytes
}

/// A Response with request id 0x1234 whose list of varbinds is as given.
fn response(list: &[u8]) -> Vec<u8> {
    let pdu = [&[2, 2, 0x12, 0x34, 2, 1, 0, 2, 1, 0][..], &tlv(0x30, list)].concat();
    tlv(0x30, &[&[2, 1, 1, 4, 6][..], b"public", &tlv(0xa2, &pdu)].concat())
}

fn varbind(value: &[u8]) -> Vec<u8> {
    tlv(0x30, &[tlv(6, &NAME), value.to_vec()].concat())
}

fn cell(value: &[u8]) -> Value {
    let datagram = response(&varbind(value));
    read_community(&datagram).unwrap().pdu.varbinds[0].value.clone()
}

#[test]
fn a_response_is_read() {
    let datagram = response(&[varbind(&[2, 1, 5]), varbind(&[4, 2, 0xff, 0])].concat());
    let message = read_community(&datagram).unwrap();
    assert_eq!(message.community, b"public");
    assert_eq!(message.trailing, 0);
    assert_eq!((message.pdu.kind, message.pdu.request_id), (PduKind::Response, 0x1234));
    assert_eq!(message.pdu.varbinds[0].oid, "1.3.6.1.4.1.4874".parse().unwrap());
    assert_eq!(message.pdu.varbinds[0].value, Value::Integer(5));
    assert_eq!(message.pdu.varbinds[1].value, Value::Octets(vec![0xff, 0]));
    assert_eq!(peek_id(&datagram), Some(0x1234));
}

#[test]
fn octets_behind_the_message_are_counted() {
    let mut datagram = response(&varbind(&[5, 0]));
    datagram.extend([0, 0, 0]);
    assert_eq!(read_community(&datagram).unwrap().trailing, 3);
}

#[test]
fn an_address_as_an_integer_keeps_its_32_bits() {
    assert_eq!(cell(&[2, 4, 0xcb, 0, 0x71, 0xfa]), Value::Integer(-889_163_270));
    assert_eq!(cell(&[2, 5, 0, 0xcb, 0, 0x71, 0xfa]), Value::Integer(3_405_804_026));
    assert_eq!(cell(&[0x42, 4, 0xcb, 0, 0x71, 0xfa]), Value::Gauge32(3_405_804_026));
    assert_eq!(cell(&[2, 5, 1, 0xcb, 0, 0x71, 0xfa]), Value::Integer(7_700_771_322));
}

#[test]
fn an_ip_address_keeps_whatever_octets_it_has() {
    assert_eq!(cell(&[0x40, 4, 192, 0, 2, 1]), Value::IpAddress(vec![192, 0, 2, 1]));
    assert_eq!(cell(&[0x40, 0]), Value::IpAddress(vec![]));
    assert_eq!(
        cell(&[0x40, 8, 192, 0, 2, 0, 192, 0, 2, 255]),
        Value::IpAddress(vec![192, 0, 2, 0, 192, 0, 2, 255])
    );
}

#[test]
fn a_value_that_cannot_be_spoils_its_own_cell_alone() {
    for (bad, tag) in [
        (&[2, 0][..], 2),
        (&[2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1], 2),
        (&[0x41, 6, 0, 1, 0, 0, 0, 0], 0x41),
        (&[0x42, 1, 0xff], 0x42),
        (&[0x45, 2, 1, 2], 0x45),
        (&[0x47, 1, 5], 0x47),
        (&[6, 0], 6),
        (&[6, 1, 0x86], 6),
        (&[5, 1, 0], 5),
        (&[0x82, 1, 0], 0x82),
    ] {
        let datagram = response(&[varbind(bad), varbind(&[2, 1, 7])].concat());
        let read = read_community(&datagram).unwrap().pdu.varbinds;
        assert_eq!(read[0].value, Value::Undecodable { tag, octets: bad[2..].to_vec() });
        assert_eq!(read[1].value, Value::Integer(7));
    }
}

#[test]
fn exceptions_are_values() {
    assert_eq!(cell(&[0x80, 0]), Value::NoSuchObject);
    assert_eq!(cell(&[0x81, 0]), Value::NoSuchInstance);
    assert_eq!(cell(&[0x82, 0]), Value::EndOfMibView);
}

#[test]
fn a_varbind_that_is_not_framed_is_malformed_at_its_octet() {
    // 0: message, 2: version, 5: community, 13: PDU, 15: request id, 19, 22: the two other
    // numbers, 25: list, 27: varbind, 29: name, 38: value.
    let at = |list: &[u8]| read_community(&response(list)).unwrap_err();
    assert_eq!(at(&tlv(0x31, &[5, 0])).at, 27);
    assert_eq!(at(&tlv(0x30, &[6, 0, 5, 0])).at, 29);
    assert_eq!(at(&tlv(0x30, &tlv(6, &NAME))).at, 38);
    assert_eq!(at(&tlv(0x30, &[tlv(6, &NAME), vec![5, 0, 5, 0]].concat())).at, 40);
    assert_eq!(
        at(&[0x30, 20, 6, 1, 0x2b, 5, 0]).to_string(),
        "octet 27: a varbind is said to be 20 octets long, 5 are left"
    );
}

#[test]
fn a_cut_message_still_tells_its_id() {
    let whole = response(&varbind(&[4, 3, 1, 2, 3]));
    let cut = &whole[..whole.len() - 3];
    assert_eq!(peek_id(cut), Some(0x1234));
    assert_eq!(read_community(cut).unwrap_err().at, 0);
    // The same with all lengths in long form.
    let list = [0x30, 0x82, 0, 0];
    let pdu = [&[2, 0x81, 1, 9, 2, 1, 0, 2, 1, 0][..], &list].concat();
    let pdu = [&[0xa2, 0x82, 0, u8::try_from(pdu.len()).unwrap()][..], &pdu].concat();
    let body = [&[2, 1, 1, 4, 1, b'x'][..], &pdu].concat();
    let long = [&[0x30, 0x83, 0, 0, u8::try_from(body.len()).unwrap()][..], &body].concat();
    assert_eq!(peek_id(&long), Some(9));
    assert_eq!(read_community(&long).unwrap().pdu.varbinds, []);
}

#[test]
fn requests_and_other_versions_have_no_id_to_answer_to() {
    let get = tlv(0x30, &[&[2, 1, 1, 4, 0][..], &tlv(0xa0, &[2, 1, 5, 2, 1, 0, 2, 1, 0, 0x30, 0])].concat());
    assert_eq!(peek_id(&get), None);
    let v1 = tlv(0x30, &[&[2, 1, 0, 4, 0][..], &tlv(0xa2, &[2, 1, 5, 2, 1, 0, 2, 1, 0, 0x30, 0])].concat());
    assert_eq!(peek_id(&v1), None);
    assert!(read_community(&v1).is_err());
}

fn any_oid() -> impl Strategy<Value = Oid> {
    (0..=2_u32, 0..40_u32, proptest::collection::vec(any::<u32>(), 0..126)).prop_map(|(x, y, rest)| {
        let mut arcs = vec![x, y];
        arcs.extend(rest);
        Oid::new(arcs)
    })
}

pub(in crate::snmp) fn any_value() -> impl Strategy<Value = Value> {
    let octets = || proptest::collection::vec(any::<u8>(), 0..300);
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        octets().prop_map(Value::Octets),
        Just(Value::Null),
        any_oid().prop_map(Value::ObjectId),
        octets().prop_map(Value::IpAddress),
        any::<u32>().prop_map(Value::Counter32),
        any::<u32>().prop_map(Value::Gauge32),
        any::<u32>().prop_map(Value::TimeTicks),
        octets().prop_map(Value::Opaque),
        any::<u64>().prop_map(Value::Counter64),
        Just(Value::NoSuchObject),
        Just(Value::NoSuchInstance),
        Just(Value::EndOfMibView),
    ]
}

pub(in crate::snmp) fn any_pdu() -> impl Strategy<Value = Pdu> {
    let varbinds = proptest::collection::vec((any_oid(), any_value()), 0..12);
    (any::<i32>(), any::<i32>(), any::<i32>(), varbinds).prop_map(|(request_id, status, index, varbinds)| {
        Pdu {
            kind: PduKind::Response,
            request_id,
            error_status: status,
            error_index: index,
            varbinds: varbinds.into_iter().map(|(oid, value)| Varbind { oid, value }).collect(),
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(pdu in any_pdu(), community in proptest::collection::vec(any::<u8>(), 0..200)) {
        let datagram = encode::community_message(&community, &pdu);
        let read = read_community(&datagram).unwrap();
        prop_assert_eq!(read.community, &community[..]);
        prop_assert_eq!(&read.pdu, &pdu);
        prop_assert_eq!(peek_id(&datagram), Some(pdu.request_id));
    }

    #[test]
    fn snmp2_reads_what_is_written(oid in any_oid(), id in 1..i32::MAX, octets in proptest::collection::vec(any::<u8>(), 0..300)) {
        let pdu = Pdu {
            kind: PduKind::Response,
            request_id: id,
            error_status: 0,
            error_index: 0,
            varbinds: vec![Varbind { oid: oid.clone(), value: Value::Octets(octets.clone()) }],
        };
        let datagram = encode::community_message(b"public", &pdu);
        let read = snmp2::Pdu::from_bytes(&datagram).unwrap();
        prop_assert_eq!(read.req_id, id);
        let (name, value) = read.varbinds.clone().next().unwrap();
        prop_assert_eq!(name.to_id_string(), oid.to_string());
        prop_assert!(matches!(value, snmp2::Value::OctetString(read) if read == octets));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (read_community(&bytes), peek_id(&bytes));
    }

    #[test]
    fn no_damage_makes_it_panic(pdu in any_pdu(), damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut datagram = encode::community_message(b"public", &pdu);
        for (index, octet) in damage {
            let index = index.index(datagram.len());
            datagram[index] = octet;
        }
        datagram.truncate(cut.index(datagram.len() + 1));
        let _ = (read_community(&datagram), peek_id(&datagram));
    }
}
