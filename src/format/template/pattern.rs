//! A section of a template: text with fields in it, to be filled and to be recognised.

use std::fmt::Write;

use super::escape::Escape;
use crate::address::Family;
use crate::format::rest::{Addresses, Rest};

/// What a field stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    /// `10.0.0.0/8`.
    Prefix,
    /// The first address.
    First,
    /// The last address.
    Last,
    /// The prefix's address.
    Network,
    /// The prefix's length.
    Length,
    /// 4 or 6.
    Family,
    /// The group's token.
    Group,
    /// The default group's token.
    Default,
    /// The nearest edge's host, else its first address.
    Target,
    /// One address of a group; for one without any, its first host.
    Address,
    /// A, AAAA or CNAME: what the address is.
    Type,
    /// The BAS.
    Bas,
    /// The pool.
    Pool,
    /// The VRF.
    Vrf,
}

const FIELDS: [(&str, Field); 14] = [
    ("prefix", Field::Prefix),
    ("first", Field::First),
    ("last", Field::Last),
    ("network", Field::Network),
    ("length", Field::Length),
    ("family", Field::Family),
    ("group", Field::Group),
    ("default", Field::Default),
    ("target", Field::Target),
    ("address", Field::Address),
    ("type", Field::Type),
    ("bas", Field::Bas),
    ("pool", Field::Pool),
    ("vrf", Field::Vrf),
];

impl Field {
    fn name(self) -> &'static str {
        FIELDS.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }

    /// Whether its text is a name that is to be escaped.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::Bas | Self::Pool | Self::Vrf)
    }

    /// Whether a value may hold the character.
    fn holds(self, c: char) -> bool {
        match self {
            Self::Prefix => c.is_ascii_hexdigit() || matches!(c, '.' | ':' | '/'),
            Self::First | Self::Last | Self::Network => c.is_ascii_hexdigit() || matches!(c, '.' | ':'),
            Self::Length | Self::Family => c.is_ascii_digit(),
            Self::Group | Self::Default => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            Self::Target | Self::Address => {
                c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '[' | ']')
            }
            Self::Type => c.is_ascii_uppercase(),
            Self::Bas | Self::Pool | Self::Vrf => false,
        }
    }
}

/// Fields and the texts that were found for them.
pub(super) type Found<'t> = Vec<(Field, &'t str)>;

/// The text of a field in what a pattern found.
pub(super) fn value<'t>(found: &Found<'t>, wanted: Field) -> Option<&'t str> {
    found.iter().find(|(field, _)| *field == wanted).map(|(_, text)| *text)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// One or more whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
    escape: Escape,
}

/// What a section may have, and what stands for the same everywhere.
pub(super) struct Rules<'r> {
    /// The fields that have a meaning in it.
    pub(super) allowed: &'r [Field],
    /// Words with one value for the whole file; none where the export does not say it.
    pub(super) constants: &'r [(&'r str, Option<String>)],
    /// How names are written.
    pub(super) escape: Escape,
}

impl Pattern {
    /// Reads a section: `{field}` is a field, `{{` and `}}` are braces.
    ///
    /// # Errors
    /// In words, what is wrong.
    pub(super) fn parse(text: &str, rules: &Rules<'_>) -> Result<Self, String> {
        let mut pattern = Self { pieces: Vec::new(), escape: rules.escape };
        let mut rest = text.strip_suffix('\n').unwrap_or(text);
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            pattern.text(before);
            if let Some(behind) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
                pattern.text(&brace[..1]);
                rest = behind;
                continue;
            }
            let (word, behind) = brace
                .strip_prefix('{')
                .and_then(|b| b.split_once('}'))
                .ok_or("a single brace; write `{{` or `}}` for a brace of the text")?;
            pattern.word(word, rules)?;
            rest = behind;
        }
        pattern.text(rest);
        pattern.text("\n");
        pattern.check_ends()?;
        Ok(pattern)
    }

    /// Whether it has a field.
    pub(super) fn has(&self, field: Field) -> bool {
        self.pieces.contains(&Piece::Field(field))
    }

    /// Whether it has a field that differs within touching rows of one group.
    pub(super) fn has_names(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Field(field) if field.is_name()))
    }

    /// Appends the text with the fields' values.
    pub(super) fn fill<'v>(&self, out: &mut String, value: impl Fn(Field) -> &'v dyn std::fmt::Display) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(field) if field.is_name() => {
                    self.escape.write(out, &value(*field).to_string());
                }
                // Writing to a String cannot fail.
                Piece::Field(field) => drop(write!(out, "{}", value(*field))),
            }
        }
    }

    /// Recognises the section at the beginning of a text: its fields, and what follows.
    pub(super) fn scan<'t>(&self, text: &'t str) -> Option<(Found<'t>, &'t str)> {
        let mut found: Found<'t> = Vec::with_capacity(self.pieces.len() / 2);
        let mut rest = text;
        for piece in &self.pieces {
            let field = match piece {
                Piece::Text(text) => {
                    rest = rest.strip_prefix(text.as_str())?;
                    continue;
                }
                Piece::Field(field) => *field,
            };
            let length = if field.is_name() {
                self.escape.scan(rest)?
            } else {
                rest.find(|c| !field.holds(c)).unwrap_or(rest.len())
            };
            let (own, behind) = rest.split_at_checked(length)?;
            // A field that is there twice says the same twice.
            if own.is_empty() || value(&found, field).is_some_and(|before| before != own) {
                return None;
            }
            found.push((field, own));
            rest = behind;
        }
        Some((found, rest))
    }

    /// Takes a row with this group from a file. Gives its addresses; nothing also where the row
    /// has other fields than prefix, first, last and group.
    pub(super) fn row(&self, rest: &mut Rest<'_>, token: &str) -> Option<Addresses> {
        let (mut prefix, mut first, mut last) = (None, None, None);
        // A field that is there twice says the same twice.
        fn put<T: PartialEq>(place: &mut Option<T>, value: T) -> Option<()> {
            let fits = place.as_ref().is_none_or(|before| *before == value);
            *place = Some(value);
            fits.then_some(())
        }
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => rest.text(text)?,
                Piece::Field(Field::Group) => rest.text(token)?,
                Piece::Field(Field::Prefix) => put(&mut prefix, rest.prefix()?)?,
                Piece::Field(Field::First) => put(&mut first, rest.address()?)?,
                Piece::Field(Field::Last) => put(&mut last, rest.address()?)?,
                Piece::Field(_) => return None,
            }
        }
        let ends = |(family, first): (Family, u128), (other, last): (Family, u128)| {
            (family == other).then_some(Addresses { family, first, last })
        };
        let Some(addresses) = prefix else { return ends(first?, last?) };
        let agrees = first.is_none_or(|first| first == (addresses.family, addresses.first))
            && last.is_none_or(|last| last == (addresses.family, addresses.last));
        agrees.then_some(addresses)
    }

    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn word(&mut self, word: &str, rules: &Rules<'_>) -> Result<(), String> {
        if let Some((_, value)) = rules.constants.iter().find(|(name, _)| *name == word) {
            let value = value.as_ref().ok_or_else(|| {
                format!("`{{{word}}}` needs what the export does not say: `name`, `ttl` or `nameservers`")
            })?;
            self.text(value);
            return Ok(());
        }
        let field = FIELDS.iter().find(|(name, field)| *name == word && rules.allowed.contains(field));
        let Some((_, field)) = field else {
            let allowed = rules.allowed.iter().map(|field| field.name());
            let known: Vec<&str> = rules.constants.iter().map(|(name, _)| *name).chain(allowed).collect();
            return Err(format!("no field `{}` here; there are: {}", word.escape_debug(), known.join(", ")));
        };
        self.pieces.push(Piece::Field(*field));
        Ok(())
    }

    /// A reader must see where a field ends.
    fn check_ends(&self) -> Result<(), String> {
        for pair in self.pieces.windows(2) {
            let [Piece::Field(field), next] = pair else { continue };
            let unclear = match next {
                Piece::Field(_) => true,
                Piece::Text(text) => text.chars().next().is_some_and(|c| self.goes_on_with(*field, c)),
            };
            if unclear {
                return Err(format!(
                    "nobody can tell where `{{{}}}` ends: put another character behind it",
                    field.name()
                ));
            }
        }
        Ok(())
    }

    fn goes_on_with(&self, field: Field, c: char) -> bool {
        if field.is_name() { self.escape.goes_on_with(c) } else { field.holds(c) }
    }
}
