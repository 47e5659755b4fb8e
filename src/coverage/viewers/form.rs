//! IPv4 addresses in IPv6 clothing, and tunnels.

use serde::Serialize;

/// What an IPv6 address is besides an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `::ffff:0:0/96` (RFC 4291, 2.5.5.2): the IPv4 address.
    Mapped(u32),
    /// `64:ff9b::/96` (RFC 6052): the IPv4 address that a translator made it of.
    Nat64(u32),
    /// `2001::/32` (RFC 4380): a tunnel whose end is somewhere in the IPv4 internet.
    Teredo,
    /// `2002::/16` (RFC 3056): the same.
    SixToFour,
    /// None of these.
    Plain,
}

/// The form of an IPv6 address.
pub(super) const fn unmapped(address: u128) -> Form {
    let low = address as u32;
    match ((address >> 32) as u64, (address >> 96) as u32) {
        (0xffff, 0) => Form::Mapped(low),
        (0, 0x0064_ff9b) => Form::Nat64(low),
        (_, 0x2001_0000) => Form::Teredo,
        (_, upper) if upper >> 16 == 0x2002 => Form::SixToFour,
        _ => Form::Plain,
    }
}

/// Requests whose address was in other clothes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forms {
    /// IPv4-mapped: counted as the IPv4 addresses that they are.
    pub mapped: u64,
    /// Out of NAT64's well-known prefix: counted as the IPv4 addresses that they stand for.
    pub nat64: u64,
    /// Teredo: counted as the IPv6 addresses that they are, as servers look them up.
    pub teredo: u64,
    /// 6to4: the same.
    pub six_to_four: u64,
}

impl Forms {
    /// Counts a form, and gives it back.
    pub(super) const fn note(&mut self, form: Form) -> Form {
        match form {
            Form::Mapped(_) => self.mapped += 1,
            Form::Nat64(_) => self.nat64 += 1,
            Form::Teredo => self.teredo += 1,
            Form::SixToFour => self.six_to_four += 1,
            Form::Plain => (),
        }
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_prefix() {
        let form = |text: &str| unmapped(text.parse::<std::net::Ipv6Addr>().unwrap().to_bits());
        assert_eq!(form("::ffff:192.0.2.1"), Form::Mapped(0xc000_0201));
        assert_eq!(form("64:ff9b::192.0.2.1"), Form::Nat64(0xc000_0201));
        assert_eq!(form("2001:0:4136:e378:8000:63bf:3fff:fdd2"), Form::Teredo);
        assert_eq!(form("2002:c000:201::1"), Form::SixToFour);
        for text in [
            "2001:db8::1",
            "::1",
            "::192.0.2.1",
            "64:ff9b:1::1",
            "::1:ffff:0:1",
            "::fffe:1:1",
            "64:ff9b::1:0:0:1",
        ] {
            assert_eq!(form(text), Form::Plain, "{text}");
        }
    }
}
