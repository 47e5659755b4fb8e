//! Pools' names, each kept once: a fleet has a hundred of them on ten thousand routers, in
//! what is listed and in the table.

use std::borrow::Borrow;
use std::collections::HashSet;

use super::PoolName;

/// Fewer names than this are never looked through for what nobody else holds.
const FEW: usize = 1 << 10;

/// The names that somebody holds, or held a while ago.
#[derive(Clone, Debug, Default)]
pub struct PoolNames {
    known: HashSet<PoolName>,
    /// How many there were after they were last looked through.
    kept: usize,
}

impl Borrow<[u8]> for PoolName {
    fn borrow(&self) -> &[u8] {
        self.raw()
    }
}

impl PoolNames {
    /// The name of octets, and of a text where they alone do not tell it.
    pub fn name(&mut self, raw: &[u8], text: Option<&str>) -> PoolName {
        let plain = text.or_else(|| std::str::from_utf8(raw).ok());
        if let Some(known) = self.known.get(raw)
            && plain == Some(known.text())
        {
            return known.clone();
        }
        self.shared(match text {
            Some(text) => PoolName::decoded(raw, text),
            None => PoolName::new(raw),
        })
    }

    /// The same name, as others hold it already. Of names with the same octets and another
    /// text only the first is kept once.
    pub fn shared(&mut self, name: PoolName) -> PoolName {
        if let Some(known) = self.known.get(name.raw()) {
            return if known.is_exactly(&name) { known.clone() } else { name };
        }
        if self.known.len() >= FEW.max(2 * self.kept) {
            self.known.retain(|name| !name.is_alone());
            self.kept = self.known.len();
        }
        self.known.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_and_texts_are_not_mixed_up() {
        let mut pools = PoolNames::default();
        let plain = pools.name(b"gold", None);
        assert!(plain.is_same_place(&pools.name(b"gold", Some("gold"))));
        assert!(plain.is_same_place(&pools.shared(PoolName::new(b"gold"))));
        assert_eq!(pools.name(b"gold", Some("Gold")).text(), "Gold");
        assert_eq!(pools.name(b"gold", None).text(), "gold");

        let told = pools.name(b"\xbd\xf0", Some("金"));
        assert!(told.is_same_place(&pools.name(b"\xbd\xf0", Some("金"))));
        assert_eq!(pools.name(b"\xbd\xf0", None).text(), "\\xbd\\xf0");
    }

    #[test]
    fn names_that_nobody_holds_any_more_are_forgotten() {
        let mut pools = PoolNames::default();
        let held: Vec<PoolName> = (0..10u32).map(|n| pools.name(&n.to_be_bytes(), None)).collect();
        for number in 0..100_000u32 {
            pools.name(&number.to_be_bytes(), None);
        }
        assert!(pools.known.len() <= 2 * FEW, "{}", pools.known.len());
        assert!(held[3].is_same_place(&pools.name(&3u32.to_be_bytes(), None)));
    }
}
