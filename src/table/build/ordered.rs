//! The claims of one space, one after the other in the order of family and first address.

use crate::address::{Family, Range};
use crate::table::Claim;

/// So many claims are fetched at a time. They lie anywhere in memory, and the processor waits
/// for one of them as long as for several.
const FETCHED: usize = 32;

pub(super) struct Ordered {
    claims: Vec<Option<Claim>>,
    /// Their places, the first in order at the end.
    order: Vec<u32>,
    /// What is fetched, the first in order at the end.
    near: Vec<Claim>,
}

impl Ordered {
    pub(super) fn new(claims: Vec<Claim>) -> Self {
        let mut order = in_order(&claims);
        order.reverse();
        let claims = claims.into_iter().map(Some).collect();
        Self { claims, order, near: Vec::with_capacity(FETCHED) }
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<Claim> {
        self.fetch();
        self.near.pop()
    }

    /// The next one, where it begins before a range ends that lies before or around it.
    pub(super) fn next_within(&mut self, reached: Range) -> Option<Claim> {
        self.fetch();
        let next = self.near.last()?.range;
        let is_within = next.family() == reached.family() && next.first_bits() <= reached.last_bits();
        if is_within { self.near.pop() } else { None }
    }

    fn fetch(&mut self) {
        if self.near.is_empty() {
            let rest = self.order.len().saturating_sub(FETCHED);
            let claims = &mut self.claims;
            let fetched = self.order.drain(rest..).filter_map(|place| claims.get_mut(place as usize)?.take());
            self.near.extend(fetched);
        }
    }
}

/// The places of claims in the order of family and first address.
fn in_order(claims: &[Claim]) -> Vec<u32> {
    // One number each: sorted in a fraction of the time.
    let (mut v4, mut v6): (Vec<u64>, Vec<(u128, u32)>) = (Vec::with_capacity(claims.len()), Vec::new());
    for (place, claim) in (0u32..).zip(claims) {
        let first = claim.range.first_bits();
        match claim.range.family() {
            Family::V4 => v4.push((first as u64) << 32 | u64::from(place)),
            Family::V6 => v6.push((first, place)),
        }
    }
    v4.sort_unstable();
    v6.sort_unstable();
    v4.into_iter().map(|key| key as u32).chain(v6.into_iter().map(|(_, place)| place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Class, PoolName};

    fn claim(range: &str) -> Claim {
        let range: Range = range.parse().unwrap();
        Claim {
            space: "internet".into(),
            range,
            whole: range,
            owner: "A".into(),
            bas: Some("A".into()),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            priority: 0,
            class: Class::Fresh,
        }
    }

    #[test]
    fn all_come_in_order_however_many_are_fetched_at_a_time() {
        let made = 3 * FETCHED as u32 + 5;
        let text =
            |n: u32| if n.is_multiple_of(3) { format!("2001:db8::{n:x}") } else { format!("192.0.2.{n}") };
        // 37 and the count have no divisor in common.
        let mixed: Vec<Claim> = (0..made).map(|n| claim(&text(n * 37 % made))).collect();
        let mut sorted: Vec<Range> = mixed.iter().map(|claim| claim.range).collect();
        sorted.sort_unstable();
        let mut ordered = Ordered::new(mixed);
        let given: Vec<Range> = std::iter::from_fn(|| ordered.next()).map(|claim| claim.range).collect();
        assert_eq!(given, sorted);
    }

    #[test]
    fn only_what_begins_within_is_given() {
        let mut ordered =
            Ordered::new(["10.0.0.9-10.0.0.20", "::", "10.0.0.0-10.0.0.9", "10.0.0.30"].map(claim).to_vec());
        let first = ordered.next().unwrap().range;
        assert_eq!(ordered.next_within(first).unwrap().range.to_string(), "10.0.0.9-10.0.0.20");
        assert_eq!(ordered.next_within("10.0.0.0-10.0.0.29".parse().unwrap()), None);
        assert_eq!(ordered.next().unwrap().range.to_string(), "10.0.0.30-10.0.0.30");
        assert_eq!(ordered.next_within(Range::all(Family::V4)), None, "of another family");
        assert_eq!(ordered.next().unwrap().range.to_string(), "::-::");
        assert_eq!(ordered.next(), None);
    }
}
