//! Text from routers: encodings and patterns.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::table::PoolName;

/// The encoding of a router's texts where they are not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

/// No encoding bears this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no encoding known here (a WHATWG label such as gbk, gb18030, latin1, big5, shift_jis)")]
pub struct UnknownEncoding(String);

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(label: &str) -> Result<Self, Self::Err> {
        encoding_rs::Encoding::for_label(label.as_bytes())
            .filter(|encoding| encoding.is_ascii_compatible())
            .map(Self)
            .ok_or_else(|| UnknownEncoding(label.to_owned()))
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// A pool's name for people: UTF-8 where it is, else in the encoding, else with `\xNN`.
/// Its identity stays the octets.
pub(crate) fn pool_name(raw: &[u8], encoding: Option<Encoding>) -> PoolName {
    // Without an encoding there is nothing to decode.
    match encoding.and_then(|encoding| decoded(raw, Some(encoding))) {
        Some(text) => PoolName::decoded(raw, &text),
        None => PoolName::new(raw),
    }
}

/// Text for people, by the same rule.
pub(crate) fn text(raw: &[u8], encoding: Option<Encoding>) -> String {
    decoded(raw, encoding).unwrap_or_else(|| PoolName::new(raw).text().to_owned())
}

fn decoded(raw: &[u8], encoding: Option<Encoding>) -> Option<String> {
    if std::str::from_utf8(raw).is_ok() {
        return None;
    }
    let text = encoding?.0.decode_without_bom_handling_and_without_replacement(raw)?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_in_their_encoding_and_kept_as_octets() {
        let gbk: Encoding = "gbk".parse().unwrap();
        let raw = [0xbf, 0xed, 0xb4, 0xf8, 0xb5, 0xd8, 0xd6, 0xb7, 0xb3, 0xd8];
        let name = pool_name(&raw, Some(gbk));
        assert_eq!(name.text(), "宽带地址池");
        assert_eq!(name.raw(), raw);
        assert_eq!(pool_name(&raw, None).text(), r"\xbf\xed\xb4\xf8\xb5\xd8ַ\xb3\xd8");
        let latin: Encoding = "latin1".parse().unwrap();
        assert_eq!(pool_name(b"Pool-Z\xfcrich", Some(latin)).text(), "Pool-Zürich");
    }

    #[test]
    fn octets_that_are_not_of_the_encoding_are_escaped() {
        let gbk: Encoding = "gbk".parse().unwrap();
        assert_eq!(pool_name(&[0xff, 0xfe, 0xfd], Some(gbk)).text(), r"\xff\xfe\xfd");
    }

    #[test]
    fn utf_8_goes_before_the_encoding() {
        let gbk: Encoding = "gbk".parse().unwrap();
        assert_eq!(pool_name("宽带".as_bytes(), Some(gbk)).text(), "宽带");
    }

    #[test]
    fn unknown_and_unfit_encodings_are_refused() {
        assert!("klingon".parse::<Encoding>().is_err());
        assert!("utf-16".parse::<Encoding>().is_err());
    }
}
