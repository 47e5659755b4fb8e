//! Patterns for names, as a shell has them.

/// A pattern in which `*` stands for any run of characters and `?` for any one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern; every text is one.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the whole text fits the pattern.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        // reached[i]: the pattern so far matches the first i characters.
        let mut reached: Vec<bool> = (0..=text.len()).map(|i| i == 0).collect();
        for wanted in self.0.chars() {
            let mut before = false;
            for i in 0..reached.len() {
                let here = reached.get(i).copied().unwrap_or_default();
                let fits = wanted == '?' || i.checked_sub(1).and_then(|at| text.get(at)) == Some(&wanted);
                let now = if wanted == '*' { here || before } else { before && fits };
                before = if wanted == '*' { now } else { here };
                reached.get_mut(i).into_iter().for_each(|slot| *slot = now);
            }
        }
        reached.last().copied().unwrap_or_default()
    }
}

impl From<&str> for Glob {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_of_characters() {
        let fits = |pattern: &str, text: &str| Glob::new(pattern).matches(text);
        assert!(fits("_DAP*", "_DAP") && fits("_DAP*", "_DAPV6") && !fits("_DAP*", "x_DAP"));
        assert!(fits("*", "") && fits("a*b*c", "abc") && fits("a*b*c", "a--b--c"));
        assert!(!fits("a*b*c", "acb") && !fits("ab*ba", "aba") && fits("ab*ba", "abba"));
        assert!(fits("pool", "pool") && !fits("pool", "pool1") && !fits("", "x") && fits("", ""));
        assert!(fits("*ab", "aab") && fits("*a*a", "aa") && !fits("*a*a", "a"));
    }

    #[test]
    fn patterns() {
        for (pattern, text, wanted) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("?", "ä", true),
            ("?", "", false),
            ("*-01", "gz-01-01", true),
            ("**b*", "aab", true),
            ("a?c", "ac", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), wanted, "{pattern} {text}");
        }
    }
}
