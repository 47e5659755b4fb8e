//! Writes a configuration as TOML: what is in force, defaults included, secrets masked.

use std::fmt::{Display, Write as _};
use std::path::Path;
use std::time::Duration;

use super::duration;
use super::secret::{MASK, Origin, Secret};

/// TOML under construction.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
}

impl Writer {
    /// The text so far.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A header, `[a."b c"]`.
    pub(super) fn table(&mut self, path: &[&str]) {
        let path: Vec<String> = path.iter().map(|part| key(part)).collect();
        self.line(format_args!("\n[{}]", path.join(".")));
    }

    /// The header of one element of a list of tables, `[[a]]`.
    pub(super) fn element(&mut self, name: &str) {
        self.line(format_args!("\n[[{name}]]"));
    }

    /// A key and a value that is TOML already.
    pub(super) fn raw(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{} = {value}", key(name)));
    }

    /// A key and a string.
    pub(super) fn string(&mut self, name: &str, value: impl Display) {
        self.raw(name, quote(value));
    }

    /// A key and a string, where there is one.
    pub(super) fn optional(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.string(name, value);
        }
    }

    /// A key and a duration.
    pub(super) fn duration(&mut self, name: &str, value: Duration) {
        self.string(name, duration::show(value));
    }

    /// A key and a path.
    pub(super) fn path(&mut self, name: &str, value: &Path) {
        self.string(name, value.display());
    }

    /// A key and a list of strings.
    pub(super) fn strings<T: Display>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        self.raw(name, list(values));
    }

    /// A key and a secret: where it comes from, or stars.
    pub(super) fn secret(&mut self, name: &str, value: &Secret) {
        self.raw(name, secret(value));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }
}

/// A secret as a TOML value.
pub(super) fn secret(value: &Secret) -> String {
    match &value.origin {
        Origin::Inline => quote(MASK),
        Origin::Variable(name) => format!("{{ env = {} }}", quote(name)),
        Origin::File(path) => format!("{{ file = {} }}", quote(path.display())),
        Origin::Credential(name) => format!("{{ credential = {} }}", quote(name)),
    }
}

/// A list of strings as TOML.
pub(super) fn list<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(quote).collect();
    format!("[{}]", values.join(", "))
}

/// A string as TOML.
pub(super) fn quote(value: impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A key as TOML: bare where it can be.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if bare { name.to_owned() } else { quote(name) }
}
