//! Where an HTTP source is.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// `http://host[:port][/path]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port; 80 unless given.
    pub port: u16,
    /// Path and query, from `/`.
    pub path: String,
    authority: String,
}

/// Why a text is no URL that can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// Another scheme than `http`.
    #[error(
        "`{0}` does not begin with http://, and nothing else is spoken here; put a proxy before what speaks https only"
    )]
    Scheme(String),
    /// No host, or one that is none, or a port that is none.
    #[error("`{0}` has no proper host and port")]
    Authority(String),
    /// Blanks or control characters.
    #[error("`{0}` has blanks or characters that stand in no URL")]
    Characters(String),
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(UrlError::Characters(text.to_owned()));
        }
        let rest = text.strip_prefix("http://").ok_or_else(|| UrlError::Scheme(text.to_owned()))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let wrong = || UrlError::Authority(text.to_owned());
        let (authority, path) = rest.split_at_checked(end).ok_or_else(wrong)?;
        let (host, port) = authority_of(authority).ok_or_else(wrong)?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host, port, path, authority: authority.to_owned() })
    }
}

fn authority_of(text: &str) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (host, behind) = inner.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, behind)
        }
        None => text.split_at_checked(text.find(':').unwrap_or(text.len()))?,
    };
    let named = |b: u8| b.is_ascii_alphanumeric() || b"-._:".contains(&b);
    if host.is_empty() || !host.bytes().all(named) {
        return None;
    }
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        None if port.is_empty() => 80,
        None => return None,
    };
    Some((host.to_owned(), port))
}

impl Url {
    /// Host and port as they stand in the URL.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}
