//! Row indexes by the rules of SMIv2 (RFC 2578, section 7.7) and InetAddress (RFC 4001).

use smallvec::SmallVec;
use thiserror::Error;

use super::field::{Field, Kind, inet_address, v4, v6};
use crate::table::Name;

/// One part of a row's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its name in the descriptor.
    pub(super) name: Name,
    /// How it is written in arcs.
    pub(super) form: PartForm,
}

/// How an index part is written in arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartForm {
    /// One arc.
    Integer,
    /// IpAddress: four arcs.
    IpAddress,
    /// Ipv6Address: sixteen arcs.
    Ipv6Address,
    /// A string of variable size: its length, then its octets.
    Octets,
    /// A string of fixed size: its octets.
    OctetsFixed(usize),
    /// A string of variable size without its length; only as the last part.
    OctetsImplied,
    /// InetAddressType: one arc.
    AddressType,
    /// InetAddress: its length, then its octets; the part that gives its type stands before.
    Address { kind: usize },
    /// An OID: the number of its arcs, then its arcs.
    Oid,
}

impl PartForm {
    /// What the part may be used for.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Integer => Kind::Integer,
            Self::IpAddress | Self::Ipv6Address | Self::Address { .. } => Kind::Address,
            Self::Octets | Self::OctetsFixed(_) | Self::OctetsImplied => Kind::Text,
            Self::AddressType => Kind::AddressType,
            Self::Oid => Kind::Oid,
        }
    }
}

/// The parts of an index, decoded. Those of most tables need no memory of their own.
pub(super) type Fields = SmallVec<[Field; 2]>;

/// Why an index cannot be decoded. What the row is about is then unknown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum IndexError {
    #[error("the index ends within {0}")]
    Short(Name),
    #[error("{0} holds arc {1}, which is no octet")]
    NoOctet(Name, u32),
    #[error("{0} is impossible: {1}")]
    Address(Name, String),
    #[error("{0} arcs are left behind the last part")]
    Left(usize),
}

/// Decodes an index. Every arc must be used, exactly.
///
/// # Errors
/// Where the arcs do not fit the parts.
pub(super) fn decode(parts: &[Part], arcs: &[u32]) -> Result<Fields, IndexError> {
    let mut fields = Fields::with_capacity(parts.len());
    let mut rest = arcs;
    for part in parts {
        let field = decode_part(part, &fields, &mut rest)?;
        fields.push(field);
    }
    if rest.is_empty() { Ok(fields) } else { Err(IndexError::Left(rest.len())) }
}

fn decode_part(part: &Part, before: &[Field], rest: &mut &[u32]) -> Result<Field, IndexError> {
    Ok(match part.form {
        PartForm::Integer | PartForm::AddressType => {
            Field::Integer(take(part, rest, 1)?.first().copied().unwrap_or_default().into())
        }
        PartForm::IpAddress => {
            let octets = octets(part, take(part, rest, 4)?)?;
            octets.try_into().map(v4).map_err(|_| IndexError::Short(part.name.clone()))?
        }
        PartForm::Ipv6Address => {
            let octets = octets(part, take(part, rest, 16)?)?;
            octets.try_into().map(v6).map_err(|_| IndexError::Short(part.name.clone()))?
        }
        PartForm::Octets => Field::Octets(octets(part, counted(part, rest)?)?),
        PartForm::OctetsFixed(length) => Field::Octets(octets(part, take(part, rest, length)?)?),
        PartForm::OctetsImplied => Field::Octets(octets(part, std::mem::take(rest))?),
        PartForm::Oid => Field::Arcs(counted(part, rest)?.to_vec()),
        PartForm::Address { kind } => {
            let octets = octets(part, counted(part, rest)?)?;
            let kind = match before.get(kind) {
                Some(Field::Integer(kind)) => *kind,
                _ => return Err(IndexError::Short(part.name.clone())),
            };
            inet_address(kind, &octets).map_err(|why| IndexError::Address(part.name.clone(), why))?
        }
    })
}

/// A length, and as many arcs.
fn counted<'a>(part: &Part, rest: &mut &'a [u32]) -> Result<&'a [u32], IndexError> {
    let length = take(part, rest, 1)?.first().copied().unwrap_or_default();
    take(part, rest, length as usize)
}

fn take<'a>(part: &Part, rest: &mut &'a [u32], count: usize) -> Result<&'a [u32], IndexError> {
    let (taken, left) = rest.split_at_checked(count).ok_or_else(|| IndexError::Short(part.name.clone()))?;
    *rest = left;
    Ok(taken)
}

fn octets(part: &Part, arcs: &[u32]) -> Result<Vec<u8>, IndexError> {
    let octet = |&arc: &u32| u8::try_from(arc).map_err(|_| IndexError::NoOctet(part.name.clone(), arc));
    arcs.iter().map(octet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(forms: &[PartForm]) -> Vec<Part> {
        forms.iter().enumerate().map(|(i, &form)| Part { name: format!("p{i}").into(), form }).collect()
    }

    fn text(text: &str) -> Field {
        Field::Octets(text.as_bytes().to_vec())
    }

    fn address(text: &str) -> Field {
        Field::Address(text.parse().unwrap())
    }

    #[test]
    fn integers_and_addresses_have_no_length() {
        let forms = parts(&[PartForm::Integer, PartForm::IpAddress]);
        let fields = decode(&forms, &[7, 192, 0, 2, 1]).unwrap();
        assert_eq!(fields[..], [Field::Integer(7), address("192.0.2.1")]);
        assert_eq!(decode(&forms, &[7, 192, 0, 2]), Err(IndexError::Short("p1".into())));
        assert_eq!(decode(&forms, &[7, 192, 0, 2, 1, 5]), Err(IndexError::Left(1)));
        assert_eq!(decode(&forms, &[7, 192, 0, 256, 1]), Err(IndexError::NoOctet("p1".into(), 256)));
        assert_eq!(decode(&forms, &[]), Err(IndexError::Short("p0".into())));
        assert_eq!(
            decode(&parts(&[PartForm::Integer]), &[4294967295]).unwrap()[..],
            [Field::Integer(4294967295)]
        );
    }

    #[test]
    fn an_ipv6_address_of_fixed_size_has_no_length() {
        let forms = parts(&[PartForm::Octets, PartForm::Ipv6Address]);
        let mut arcs = vec![1, 97, 32, 1, 13, 184];
        arcs.extend([0; 12]);
        assert_eq!(decode(&forms, &arcs).unwrap()[..], [text("a"), address("2001:db8::")]);
        assert_eq!(decode(&forms, &arcs[..17]), Err(IndexError::Short("p1".into())));
        let mut mapped = vec![1, 97, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1];
        assert!(matches!(decode(&forms, &mapped).unwrap()[1], Field::Refused(_)));
        mapped[17] = 256;
        assert!(matches!(decode(&forms, &mapped), Err(IndexError::NoOctet(..))));
    }

    #[test]
    fn strings_carry_their_length_unless_fixed_or_implied() {
        let counted = parts(&[PartForm::Octets, PartForm::Integer]);
        assert_eq!(decode(&counted, &[2, 97, 98, 5]).unwrap()[..], [text("ab"), Field::Integer(5)]);
        assert_eq!(decode(&counted, &[0, 5]).unwrap()[..], [text(""), Field::Integer(5)]);
        // "gold" that says length 5 and carries eight arcs.
        let gold = parts(&[PartForm::Octets]);
        assert_eq!(decode(&gold, &[5, 103, 111, 108, 100, 1, 2, 3, 4]), Err(IndexError::Left(3)));
        assert_eq!(decode(&gold, &[5, 103, 111, 108, 100]), Err(IndexError::Short("p0".into())));

        let fixed = parts(&[PartForm::OctetsFixed(2), PartForm::Integer]);
        assert_eq!(decode(&fixed, &[97, 98, 5]).unwrap()[..], [text("ab"), Field::Integer(5)]);
        assert_eq!(decode(&fixed, &[97, 98]), Err(IndexError::Short("p1".into())));

        let implied = parts(&[PartForm::Integer, PartForm::OctetsImplied]);
        assert_eq!(decode(&implied, &[1, 103, 111]).unwrap()[..], [Field::Integer(1), text("go")]);
        assert_eq!(decode(&implied, &[1]).unwrap()[..], [Field::Integer(1), text("")]);
    }

    #[test]
    fn the_same_pool_in_three_codings_is_never_shifted_by_one() {
        let inet = parts(&[PartForm::AddressType, PartForm::Address { kind: 0 }]);
        assert_eq!(decode(&inet, &[1, 4, 192, 0, 2, 0]).unwrap()[1], address("192.0.2.0"));
        assert_eq!(
            decode(&parts(&[PartForm::IpAddress]), &[192, 0, 2, 0]).unwrap()[..],
            [address("192.0.2.0")]
        );
        assert_eq!(decode(&inet, &[0, 0]).unwrap()[1], Field::NoAddress);
        // The coding of one is no coding of the other.
        assert!(decode(&inet, &[1, 192, 0, 2, 0]).is_err());
        assert!(decode(&parts(&[PartForm::IpAddress]), &[4, 192, 0, 2, 0]).is_err());
    }

    #[test]
    fn inet_addresses_must_fit_their_type() {
        let inet = parts(&[PartForm::AddressType, PartForm::Address { kind: 0 }]);
        let mut six = vec![2, 16, 32, 1, 13, 184];
        six.extend([0; 12]);
        assert_eq!(decode(&inet, &six).unwrap()[1], address("2001:db8::"));
        six[0] = 1;
        assert!(matches!(decode(&inet, &six), Err(IndexError::Address(..))));
        assert!(matches!(decode(&inet, &[2, 4, 192, 0, 2, 0]), Err(IndexError::Address(..))));
        assert!(matches!(decode(&inet, &[1, 4, 192, 0, 2]), Err(IndexError::Short(_))));
        assert!(matches!(decode(&inet, &[1, 4, 192, 0, 2, 300]), Err(IndexError::NoOctet(..))));
        let zoned = decode(&inet, &[3, 8, 169, 254, 0, 1, 0, 0, 0, 1]).unwrap();
        assert!(matches!(zoned[1], Field::Refused(_)));
    }

    #[test]
    fn oids_carry_their_count() {
        let oid = parts(&[PartForm::Oid, PartForm::Integer]);
        assert_eq!(decode(&oid, &[2, 0, 0, 9]).unwrap()[..], [Field::Arcs(vec![0, 0]), Field::Integer(9)]);
        assert_eq!(decode(&oid, &[3, 0, 0]), Err(IndexError::Short("p0".into())));
    }

    proptest! {
        /// What a name and an address are written as is read back, and one arc more or less
        /// is never taken for it.
        #[test]
        fn written_indexes_come_back(name in prop::collection::vec(any::<u8>(), 0..40), ip in any::<[u8; 4]>()) {
            let forms = parts(&[PartForm::Octets, PartForm::IpAddress]);
            let mut arcs: Vec<u32> = vec![name.len() as u32];
            arcs.extend(name.iter().chain(&ip).map(|&b| u32::from(b)));
            prop_assert_eq!(decode(&forms, &arcs).unwrap().into_vec(), vec![Field::Octets(name), v4(ip)]);
            prop_assert!(decode(&forms, &arcs[..arcs.len() - 1]).is_err());
            arcs.push(0);
            prop_assert!(decode(&forms, &arcs).is_err());
        }
    }
}
