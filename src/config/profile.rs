//! How routers are spoken to: `[snmp.NAME]`.

use super::context::Context;
use super::error::Problem;
use super::node::{Entry, Node};
use super::poll::Overrides;
use super::print::{self, Writer};
use super::secret::{Secret, secret};
use super::section::Section;
use super::service::word;
use super::text::{CONTEXT_COMMUNITIES, ContextCommunity, Encoding, EngineId, hex};
use super::value::{choice, name, parsed};
use crate::snmp::{self, AuthProtocol, KeyExtension, PrivacyProtocol};
use crate::table::Name;

/// `[snmp.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// SNMPv2c or SNMPv3, and what each needs.
    pub version: Version,
    /// The context that polls begin in; the default one has an empty name.
    pub context: snmp::Context,
    /// The encoding of pool names that are not UTF-8.
    pub encoding: Option<Encoding>,
    /// What it sets differently from `[poll]`.
    pub overrides: Overrides,
}

/// The version of SNMP, and what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// SNMPv2c (RFC 1901).
    V2c {
        /// The community.
        community: Secret,
        /// How the community of another context is made; without it only the default
        /// context is walked.
        context_community: Option<ContextCommunity>,
    },
    /// SNMPv3 with USM (RFC 3414).
    V3 {
        /// msgUserName.
        user: Name,
        /// Protocol and password; none: noAuthNoPriv.
        auth: Option<(AuthProtocol, Secret)>,
        /// Protocol and password; only beside `auth`.
        privacy: Option<(PrivacyProtocol, Secret)>,
        /// How keys that are too short for AES-192/256 are stretched.
        key_extension: KeyExtension,
        /// The authoritative engine id, where it is pinned.
        engine_id: Option<Vec<u8>>,
    },
}

const AUTH: [(&str, AuthProtocol); 6] = [
    ("md5", AuthProtocol::Md5),
    ("sha1", AuthProtocol::Sha1),
    ("sha224", AuthProtocol::Sha224),
    ("sha256", AuthProtocol::Sha256),
    ("sha384", AuthProtocol::Sha384),
    ("sha512", AuthProtocol::Sha512),
];

const PRIVACY: [(&str, PrivacyProtocol); 4] = [
    ("des", PrivacyProtocol::Des),
    ("aes128", PrivacyProtocol::Aes128),
    ("aes192", PrivacyProtocol::Aes192),
    ("aes256", PrivacyProtocol::Aes256),
];

const EXTENSIONS: [(&str, KeyExtension); 2] =
    [("blumenthal", KeyExtension::Blumenthal), ("reeder", KeyExtension::Reeder)];

/// SNMPv3 takes no shorter password (RFC 3414, 11.2).
const PASSWORD: usize = 8;

const V2C: &[&str] = &["community", "context-community"];
const V3: &[&str] =
    &["user", "auth", "privacy", "key-extension", "engine-id", "context", "context-engine-id"];

impl Profile {
    /// The keys of `[snmp.NAME]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "version",
        "community",
        "context-community",
        "user",
        "auth",
        "privacy",
        "key-extension",
        "engine-id",
        "context",
        "context-engine-id",
        "encoding",
        "timeout",
        "retries",
        "deadline",
        "max-rows",
        "max-bytes",
        "max-requests",
        "max-repetitions",
        "msg-max-size",
        "pps",
        "source",
        "reply-from",
    ];
    /// The keys of `auth` and `privacy`.
    pub(super) const PROTOCOL_KEYS: &'static [&'static str] = &["protocol", "secret"];

    /// The credentials; none where the configuration was loaded without its secrets.
    pub fn credentials(&self) -> Option<snmp::Credentials> {
        match &self.version {
            Version::V2c { community, .. } => community.value.clone().map(snmp::Credentials::V2c),
            Version::V3 { user, auth, privacy, key_extension, engine_id } => {
                Some(snmp::Credentials::V3(snmp::User {
                    name: user.clone(),
                    auth: with_value(auth)?,
                    privacy: with_value(privacy)?,
                    key_extension: *key_extension,
                    engine_id: engine_id.clone(),
                }))
            }
        }
    }

    pub(super) fn read(cx: &mut Context, entry: &Entry) -> Option<Self> {
        let title = format!("[snmp.{}]", print::key(&entry.key));
        let section = Section::open(cx, &entry.node, &title, Self::KEYS)?;
        let version =
            match section.required(cx, "version", |cx, n| choice(cx, n, &[("2c", false), ("3", true)]))? {
                false => Self::v2c(cx, &section),
                true => Self::v3(cx, &section),
            };
        let context = section.read_or(cx, "context", Name::default(), name);
        let engine_id = section.read(cx, "context-engine-id", parsed).map(|id: EngineId| id.0);
        let encoding = section.read(cx, "encoding", parsed);
        let overrides = Overrides::read(cx, &section);
        Some(Self {
            version: version?,
            context: snmp::Context { name: context.as_bytes().to_vec(), engine_id },
            encoding,
            overrides,
        })
    }

    fn v2c(cx: &mut Context, section: &Section<'_>) -> Option<Version> {
        for key in V3 {
            section.refuse(cx, key, "is a key of SNMPv3; this profile has version = \"2c\"");
        }
        let community = section.required(cx, "community", |cx, n| secret(cx, n, 1, section.title()));
        let context_community =
            section.read(cx, "context-community", |cx, n| choice(cx, n, &CONTEXT_COMMUNITIES));
        Some(Version::V2c { community: community?, context_community })
    }

    fn v3(cx: &mut Context, section: &Section<'_>) -> Option<Version> {
        for key in V2C {
            section.refuse(cx, key, "is a key of SNMPv2c; this profile has version = \"3\"");
        }
        let user = section.required(cx, "user", user);
        let auth = section
            .read(cx, "auth", |cx, n| protected(cx, n, &format!("`auth` of {}", section.title()), &AUTH));
        let privacy = section.read(cx, "privacy", |cx, n| {
            protected(cx, n, &format!("`privacy` of {}", section.title()), &PRIVACY)
        });
        if section.get("auth").is_none() {
            section.refuse(
                cx,
                "privacy",
                "needs `auth` beside it: USM has no privacy without authentication",
            );
        }
        let key_extension = section.read(cx, "key-extension", |cx, n| choice(cx, n, &EXTENSIONS));
        let engine_id = section.read(cx, "engine-id", parsed).map(|id: EngineId| id.0);
        let stretched = matches!(privacy, Some((PrivacyProtocol::Aes192 | PrivacyProtocol::Aes256, _)));
        if let (Some(node), Some(_), false) = (section.get("key-extension"), key_extension, stretched) {
            cx.warn(Problem::new(node.place, "this has no effect: only aes192 and aes256 stretch keys"));
        }
        let key_extension = key_extension.unwrap_or_default();
        Some(Version::V3 { user: user?, auth, privacy, key_extension, engine_id })
    }

    pub(super) fn write(&self, name: &str, out: &mut Writer) {
        out.table(&["snmp", name]);
        match &self.version {
            Version::V2c { community, context_community } => {
                out.string("version", "2c");
                out.secret("community", community);
                out.optional(
                    "context-community",
                    context_community.map(|form| word(&CONTEXT_COMMUNITIES, form)),
                );
            }
            Version::V3 { user, auth, privacy, key_extension, engine_id } => {
                out.string("version", "3");
                out.string("user", user);
                write_protected(out, "auth", auth.as_ref().map(|(p, s)| (word(&AUTH, *p), s)));
                write_protected(out, "privacy", privacy.as_ref().map(|(p, s)| (word(&PRIVACY, *p), s)));
                if matches!(privacy, Some((PrivacyProtocol::Aes192 | PrivacyProtocol::Aes256, _))) {
                    out.string("key-extension", word(&EXTENSIONS, *key_extension));
                }
                out.optional("engine-id", engine_id.as_deref().map(hex));
            }
        }
        if !self.context.name.is_empty() {
            out.string("context", String::from_utf8_lossy(&self.context.name));
        }
        out.optional("context-engine-id", self.context.engine_id.as_deref().map(hex));
        out.optional("encoding", self.encoding.map(|encoding| encoding.0.name()));
        self.overrides.write(out);
    }
}

/// A protocol with its resolved secret; the outer `None` where that was left out.
fn with_value<P: Copy>(pair: &Option<(P, Secret)>) -> Option<Option<(P, snmp::Secret)>> {
    match pair {
        None => Some(None),
        Some((protocol, secret)) => Some(Some((*protocol, secret.value.clone()?))),
    }
}

/// A user's name has 1 to 32 octets (RFC 3414, usmUserName).
fn user(cx: &mut Context, node: &Node) -> Option<Name> {
    let user = name(cx, node)?;
    if user.len() > 32 {
        cx.wrong(Problem::new(node.place, "this user's name is too long").help("expected at most 32 octets"));
        return None;
    }
    Some(user)
}

/// `{ protocol = ..., secret = ... }`.
fn protected<P: Copy>(
    cx: &mut Context,
    node: &Node,
    title: &str,
    protocols: &[(&str, P)],
) -> Option<(P, Secret)> {
    let section = Section::open(cx, node, title, Profile::PROTOCOL_KEYS)?;
    let protocol = section.required(cx, "protocol", |cx, n| choice(cx, n, protocols));
    let secret = section.required(cx, "secret", |cx, n| secret(cx, n, PASSWORD, title));
    Some((protocol?, secret?))
}

fn write_protected(out: &mut Writer, key: &str, pair: Option<(&str, &Secret)>) {
    if let Some((protocol, secret)) = pair {
        let secret = print::secret(secret);
        out.raw(key, format_args!("{{ protocol = {}, secret = {secret} }}", print::quote(protocol)));
    }
}
