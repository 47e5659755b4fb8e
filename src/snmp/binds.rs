//! The varbinds of an answer as they came: framed and named as strictly as any, and not yet
//! made into names and values of their own. A walk reads millions of them.

use super::Oid;
use super::ber::{self, Malformed, OBJECT_ID, Reader, SEQUENCE};
use super::message::{List, Varbind, read_value};

/// Few varbinds are shorter than this: the list of their places grows once at the most.
const SHORT: usize = 16;

/// A list of varbinds, each of which is well framed and has a proper name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Binds {
    /// The list as it came.
    octets: Vec<u8>,
    places: Vec<Place>,
}

/// Where name and value of a varbind stand. No datagram has more octets than these can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    name: u32,
    name_length: u32,
    value: u32,
    value_length: u32,
    tag: u8,
}

/// One varbind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bind<'a> {
    /// The name: an encoded OID of at most 128 arcs of 32 bits.
    pub(super) name: &'a [u8],
    /// The value's tag.
    pub(super) tag: u8,
    /// The value's octets.
    pub(super) octets: &'a [u8],
}

impl Bind<'_> {
    /// The name.
    pub(super) fn oid(&self) -> Oid {
        // It was read before.
        ber::oid(self.name).unwrap_or_default()
    }

    /// The varbind, in memory of its own.
    pub(super) fn decoded(&self) -> Varbind {
        Varbind { oid: self.oid(), value: read_value(self.tag, self.octets) }
    }
}

impl Binds {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The varbinds, in order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Bind<'_>> + Clone {
        self.behind(0)
    }

    /// Those behind so many.
    pub(super) fn behind(&self, count: usize) -> impl ExactSizeIterator<Item = Bind<'_>> + Clone {
        self.places.get(count..).unwrap_or_default().iter().map(|place| Bind {
            name: self.part(place.name, place.name_length),
            tag: place.tag,
            octets: self.part(place.value, place.value_length),
        })
    }

    #[inline]
    fn part(&self, at: u32, length: u32) -> &[u8] {
        let at = at as usize;
        self.octets.get(at..at + length as usize).unwrap_or_default()
    }
}

impl List for Binds {
    fn read(mut list: Reader<'_>) -> Result<Self, Malformed> {
        let octets = list.rest();
        let mut places = Vec::with_capacity(octets.len() / SHORT);
        while !list.rest().is_empty() {
            let at = octets.len() - list.rest().len();
            let place = match short(list.rest()) {
                Some((place, length)) => {
                    list.skip(length);
                    place
                }
                None => place(&mut list)?,
            };
            places.push(place.moved(at));
        }
        Ok(Self { octets: octets.to_vec(), places })
    }

    fn first_name(&self) -> Option<Oid> {
        self.iter().next().map(|bind| bind.oid())
    }
}

impl Place {
    #[inline]
    fn moved(self, by: usize) -> Self {
        let by = narrow(by);
        Self { name: self.name + by, value: self.value + by, ..self }
    }
}

/// Where a varbind of the common form stands, and its length: each length of one octet, one
/// just in the other, a name that is proper at first sight. None where it is of another form,
/// be that good or bad.
#[inline]
fn short(octets: &[u8]) -> Option<(Place, usize)> {
    let (&[outer, whole, name_tag, name_length], rest) = octets.split_first_chunk::<4>()?;
    let (whole, name_length) = (usize::from(whole), usize::from(name_length));
    let (name, rest) = rest.split_at_checked(name_length)?;
    let (&[tag, value_length], rest) = rest.split_first_chunk::<2>()?;
    let value_length = usize::from(value_length);
    let framed = outer == SEQUENCE
        && name_tag == OBJECT_ID
        && whole < 0x80
        && value_length < 0x80
        && tag & 0x1f != 0x1f
        && whole == name_length + value_length + 4
        && rest.len() >= value_length;
    if !framed || !is_plainly_proper(name) {
        return None;
    }
    let place = Place {
        name: 4,
        name_length: narrow(name_length),
        value: narrow(name_length + 6),
        value_length: narrow(value_length),
        tag,
    };
    Some((place, whole + 2))
}

/// Whether a name is proper without counting its arcs: so short that they are not too many,
/// none of them longer than four octets, the last one ended.
#[inline]
fn is_plainly_proper(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > 64 {
        return false;
    }
    // A bit for each octet that another one of the same arc follows, the first one lowest.
    let (eights, rest) = name.as_chunks::<8>();
    let (mut goes_on, mut at) = (0_u64, 0);
    for eight in eights {
        goes_on |= highest_bits(*eight) << at;
        at += 8;
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        goes_on |= highest_bits(last) << at;
    }
    let ended = goes_on >> (name.len() - 1) == 0;
    ended && goes_on & (goes_on >> 1) & (goes_on >> 2) & (goes_on >> 3) == 0
}

/// The highest bits of eight octets, that of the first one lowest.
#[inline]
fn highest_bits(octets: [u8; 8]) -> u64 {
    // Each of the eight bits is moved to a place of its own among the uppermost eight.
    let bits = (u64::from_le_bytes(octets) >> 7) & 0x0101_0101_0101_0101;
    bits.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Where the next varbind stands, relative to its own start.
fn place(list: &mut Reader<'_>) -> Result<Place, Malformed> {
    let start = list.at();
    let mut reader = list.expect(SEQUENCE, "a varbind")?.reader();
    let at = reader.at();
    let name = reader.expect(OBJECT_ID, "a varbind's name")?;
    if ber::oid(name.contents).is_none() {
        return Err(Malformed::new(at, "a varbind's name is no OID of at most 128 arcs of 32 bits"));
    }
    let value = reader.any("a varbind's value")?;
    reader.finish("a varbind")?;
    Ok(Place {
        name: narrow(name.at - start),
        name_length: narrow(name.contents.len()),
        value: narrow(value.at - start),
        value_length: narrow(value.contents.len()),
        tag: value.tag,
    })
}

/// Places in a datagram are far below this.
#[inline]
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(any(test, feature = "fuzz"))]
impl Binds {
    /// These varbinds, as a walk gets them.
    pub(super) fn of(varbinds: &[Varbind]) -> Self {
        let mut writer = super::encode::Writer::new();
        varbinds.iter().for_each(|varbind| writer.varbind(&varbind.oid, &varbind.value));
        Self::read(Reader::new(&writer.into_bytes())).unwrap_or_default()
    }

    /// All of them, in memory of their own.
    pub(super) fn decoded(&self) -> Vec<Varbind> {
        self.iter().map(|bind| bind.decoded()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snmp::encode::Writer;
    use crate::snmp::message::tests::any_pdu;

    /// Both ways to read a list come to the same.
    fn agree(list: &[u8]) -> Result<(), TestCaseError> {
        let slow = Vec::<Varbind>::read(Reader::new(list));
        let fast = Binds::read(Reader::new(list));
        prop_assert_eq!(fast.as_ref().map(Binds::decoded), slow.as_ref().cloned());
        prop_assert_eq!(
            fast.ok().and_then(|fast| fast.first_name()),
            slow.ok().and_then(|slow| slow.first_name())
        );
        Ok(())
    }

    fn written(varbinds: &[Varbind]) -> Vec<u8> {
        let mut writer = Writer::new();
        varbinds.iter().for_each(|varbind| writer.varbind(&varbind.oid, &varbind.value));
        writer.into_bytes()
    }

    #[test]
    fn names_at_the_bounds_are_read_as_they_are_elsewhere() {
        let names: [&[u8]; 10] = [
            &[],
            &[0x2b],
            &[0x2b, 0x86],
            &[0x2b, 0x8f, 0xff, 0xff, 0xff, 0x7f],
            &[0x2b, 0x90, 0x80, 0x80, 0x80, 0x00],
            &[0x2b, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
            &[0x2b, 0xff, 0xff, 0xff, 0x7f],
            &[1; 123],
            &[1; 127],
            &[1; 128],
        ];
        for name in names {
            let mut writer = Writer::new();
            writer.sequence(|w| {
                w.primitive(OBJECT_ID, name);
                w.primitive(ber::NULL, &[]);
            });
            agree(&writer.into_bytes()).unwrap();
        }
    }

    proptest! {
        #[test]
        fn a_name_is_proper_at_first_sight_only_if_it_is(name in proptest::collection::vec(prop_oneof![Just(0x80_u8), Just(0xff), Just(1), Just(0x7f), any::<u8>()], 0..80)) {
            let longest = name.split(|octet| octet & 0x80 == 0).map(<[u8]>::len).max();
            let slow = (1..=64).contains(&name.len()) && name.last().is_some_and(|last| last & 0x80 == 0) && longest < Some(4);
            prop_assert_eq!(is_plainly_proper(&name), slow);
            prop_assert!(!slow || ber::oid(&name).is_some());
        }

        #[test]
        fn a_list_is_the_same_encoded_and_decoded(pdu in any_pdu()) {
            let list = written(&pdu.varbinds);
            agree(&list)?;
            prop_assert_eq!(Binds::of(&pdu.varbinds).decoded(), pdu.varbinds);
        }

        #[test]
        fn a_damaged_list_is_refused_at_the_same_octet_or_means_the_same(
            pdu in any_pdu(),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut list = written(&pdu.varbinds);
            for (index, octet) in damage.into_iter().filter(|_| !list.is_empty()).collect::<Vec<_>>() {
                let index = index.index(list.len());
                list[index] = octet;
            }
            agree(&list)?;
            list.truncate(cut.index(list.len() + 1));
            agree(&list)?;
        }
    }
}
