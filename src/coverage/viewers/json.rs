//! Values out of lines of JSON, without taking the lines apart as a whole.

use memchr::memchr2;

/// Finds the values of keys in JSON objects. A key is a path of names.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// The address's, then the time's.
    paths: Vec<Vec<Vec<u8>>>,
}

/// As many values as are looked for at once.
pub(super) type Found<'l> = [Option<&'l [u8]>; 2];

impl Keys {
    /// Keys with `.` between the names of a path.
    pub(super) fn new(keys: &[&str]) -> Self {
        let path = |key: &&str| key.split('.').map(|name| name.as_bytes().to_vec()).collect();
        Self { paths: keys.iter().take(2).map(path).collect() }
    }

    /// The values as they are written, strings without their quotes. None where the line is no object.
    pub(super) fn values<'l>(&self, line: &'l [u8]) -> Option<Found<'l>> {
        let mut found: Found<'l> = [None; 2];
        let mut missing = self.paths.len();
        // How many names of each path lead to where we are.
        let mut led = [0usize; 2];
        let (mut depth, mut at) = (0usize, 0);
        if line.first() != Some(&b'{') {
            return None;
        }
        while let Some(octet) = line.get(at) {
            at += 1;
            match octet {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    led.iter_mut().for_each(|led| *led = (*led).min(depth.saturating_sub(1)));
                    if depth == 0 {
                        break;
                    }
                }
                b'"' => {
                    let end = string_end(line, at)?;
                    let name = line.get(at..end)?;
                    at = end + 1;
                    let behind = blanks(line, at);
                    if line.get(behind) != Some(&b':') {
                        continue;
                    }
                    at = blanks(line, behind + 1);
                    for ((path, led), found) in self.paths.iter().zip(&mut led).zip(&mut found) {
                        if *led + 1 != depth || path.get(*led).is_none_or(|wanted| wanted != name) {
                            continue;
                        }
                        if *led + 1 == path.len() {
                            missing -= usize::from(found.is_none());
                            *found = found.or(Some(value(line, at)?));
                        } else if line.get(at) == Some(&b'{') {
                            *led += 1;
                        }
                    }
                    if missing == 0 {
                        break;
                    }
                }
                _ => (),
            }
        }
        Some(found)
    }
}

/// Where a string ends whose first octet is at a place.
fn string_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', line.get(at..)?)?;
        if line.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|octet| octet.is_ascii_whitespace()).count()
}

/// A value as it is written; of a string what is in its quotes.
fn value(line: &[u8], at: usize) -> Option<&[u8]> {
    let rest = line.get(at..)?;
    match rest.split_first()? {
        (b'"', _) => line.get(at + 1..string_end(line, at + 1)?),
        _ => {
            let end = rest.iter().position(|octet| b",}] \t\r\n".contains(octet)).unwrap_or(rest.len());
            rest.get(..end)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(keys: &[&str], line: &str) -> Option<[Option<String>; 2]> {
        let text = |value: Option<&[u8]>| value.map(|v| String::from_utf8(v.to_vec()).unwrap());
        Keys::new(keys).values(line.as_bytes()).map(|found| found.map(text))
    }

    fn one(key: &str, line: &str) -> Option<String> {
        values(&[key], line).and_then(|[value, _]| value)
    }

    #[test]
    fn the_key_is_the_one_at_the_top() {
        let line = r#"{"a":{"ip":"1.1.1.1","b":["ip",{"ip":"2.2.2.2"}]},"x":"\"ip\":\"3.3.3.3\"","ip" : "4.4.4.4","t":12.5}"#;
        assert_eq!(one("ip", line).as_deref(), Some("4.4.4.4"));
        assert_eq!(one("a.ip", line).as_deref(), Some("1.1.1.1"));
        assert_eq!(one("t", line).as_deref(), Some("12.5"));
        assert_eq!(one("b", line), None);
        assert_eq!(one("a.b.ip", line), None);
        let both = values(&["ip", "t"], line).unwrap();
        assert_eq!(both.map(Option::unwrap), ["4.4.4.4", "12.5"]);
    }

    #[test]
    fn what_is_no_object_has_no_values() {
        for line in ["", "1", "[{\"ip\":\"1.1.1.1\"}]", "x{\"ip\":1}"] {
            assert_eq!(values(&["ip"], line), None, "{line}");
        }
        for line in ["{", "{}", "{\"ip\"", "{\"ip\":", "{\"ip\":\"1.1", "{\"ip\\\":\"1\"}"] {
            assert_eq!(one("ip", line), None, "{line}");
        }
        // The line was cut behind what is asked for.
        assert_eq!(one("ip", "{\"ip\":\"1.1.1.1\",\"x").as_deref(), Some("1.1.1.1"));
    }

    fn document() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            "[a-c\"\\\\{}\\[\\]:,]{0,6}".prop_map(serde_json::Value::from),
            any::<u32>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null),
        ];
        leaf.prop_recursive(4, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[abc]", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equals_taking_the_line_apart(top in prop::collection::btree_map("[abc]", document(), 0..4)) {
            let document = serde_json::Value::Object(top.into_iter().collect());
            let line = document.to_string();
            for key in ["a", "a.b", "c.a.b"] {
                let slow = key.split('.').try_fold(&document, |value, name| value.as_object()?.get(name));
                let slow = slow.filter(|value| !value.is_object() && !value.is_array());
                let written = slow.map(|value| value.to_string()).map(|text| {
                    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(&text).to_owned()
                });
                let found = one(key, &line).filter(|text| !text.starts_with(['{', '[']) || slow.is_some());
                prop_assert_eq!(found, written, "{} in {}", key, line);
            }
        }
    }
}
