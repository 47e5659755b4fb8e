//! Erlang's loss formula.

/// The share of calls that find all `servers` busy, at an offered load in erlangs.
pub fn erlang_b(offered: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |blocked, n| offered * blocked / (f64::from(n) + offered * blocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_come_out() {
        // One server: a / (1 + a). Two: (a^2 / 2) / (1 + a + a^2 / 2).
        assert!((erlang_b(1.0, 1) - 0.5).abs() < 1e-12);
        assert!((erlang_b(2.0, 2) - 0.4).abs() < 1e-12);
        assert!((erlang_b(23.031, 28) - 0.052_271_53).abs() < 1e-7);
        assert_eq!(erlang_b(5.0, 0), 1.0);
        assert_eq!(erlang_b(0.0, 3), 0.0);
    }
}
