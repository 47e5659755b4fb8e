//! What the programs of a scenario are told: `--key value` pairs.

use std::collections::HashMap;
use std::str::FromStr;

#[derive(Clone)]
pub(crate) struct Options(HashMap<String, String>);

impl Options {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Self {
        let mut options = HashMap::new();
        while let Some(key) = words.next() {
            let key = key.strip_prefix("--").unwrap_or_else(|| panic!("`{key}` is no option")).to_owned();
            options.insert(key, words.next().unwrap());
        }
        Self(options)
    }

    pub(crate) fn get<T: FromStr>(&self, key: &str, default: T) -> T {
        self.0.get(key).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("--{key} {text}")))
    }
}
