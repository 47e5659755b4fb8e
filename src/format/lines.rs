//! Formats of addresses and a token a line: plain lists, nginx's `geo`, HAProxy's maps,
//! gdnsd's nets.
//!
//! ```text
//! # poolsync haproxy-map, session 00000000000000aa, generation 42, committed 2026-01-02T03:04:05Z
//! # default centre
//! 10.0.0.0/8 gz-01
//! # end 1
//! ```
//!
//! All their consumers skip lines that begin with `#`. The last line tells a whole file from one
//! that was cut short. Touching rows of one group are one: the consumer is told nothing
//! else of them.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::carried::{carried, part};
use super::readback::Collector;
use super::rest::Rest;
use super::text::{self, push_prefix, push_range};
use super::{
    Format, Limit, Limits, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View, one_space,
};
use crate::address::{Family, Range, prefixes};
use crate::table::Token;

/// Prefix and group, for `grep`, scripts and eyes.
pub(super) const LIST: Lines = Lines {
    name: "list",
    about: "prefix and group, for scripts and eyes",
    shape: Shape::Prefix,
    between: " ",
    end: "",
    excluded: &[],
    limits: Limits::NONE,
};

/// The rows of an nginx `geo` block, for `geo $edge { default TOKEN; include FILE; }`
/// (ngx_http_geo_module). The default stays in nginx's own file: a second one here would
/// make nginx warn at each reload.
pub(super) const NGINX_GEO: Lines = Lines {
    name: "nginx-geo",
    about: "rows of an nginx geo block: prefix, group",
    shape: Shape::Prefix,
    between: " ",
    end: ";",
    excluded: &ALL_ONES,
    limits: Limits::NONE,
};

/// The same for `geo $edge { ranges; default TOKEN; include FILE; }`: IPv4 alone. nginx
/// keeps a compiled copy beside a large file; see [`Format::derived`].
pub(super) const NGINX_GEO_RANGES: Lines = Lines {
    name: "nginx-geo-ranges",
    about: "rows of an nginx geo block with `ranges`: first-last, group; IPv4 only",
    shape: Shape::Ends,
    between: " ",
    end: ";",
    excluded: &ALL_ONES_AND_IPV6,
    limits: Limits::NONE,
};

/// A HAProxy map file, for `map_ip(FILE,TOKEN)`.
pub(super) const HAPROXY_MAP: Lines = Lines {
    name: "haproxy-map",
    about: "a HAProxy map: prefix, group",
    shape: Shape::Prefix,
    between: " ",
    end: "",
    excluded: &[],
    limits: Limits::NONE,
};

/// A nets file of gdnsd's geoip plugin, whose datacenters are the groups. gdnsd looks
/// addresses that carry an IPv4 address (::/96, mapped, SIIT, NAT64, Teredo, 6to4) up as
/// that IPv4 address, and refuses rows for them.
pub(super) const GDNSD_NETS: Lines = Lines {
    name: "gdnsd-nets",
    about: "a nets file of gdnsd's geoip plugin: prefix => group",
    shape: Shape::Prefix,
    between: " => ",
    end: "",
    excluded: &IPV4_LIKE,
    limits: Limits {
        groups: Some(GDNSD_DATACENTERS),
        rows: None,
        // It waits 5 s for the file to rest and 7 s more; each change begins this anew.
        settles: Some(Duration::from_secs(15)),
    },
};

/// How many datacenters a map of gdnsd holds.
pub(super) const GDNSD_DATACENTERS: Limit =
    Limit { most: 254, above: "gdnsd refuses its configuration: a map holds 254 datacenters" };

/// nginx takes 255.255.255.255 for no address and refuses the whole file.
const ALL_ONES: [Range; 1] = [Range::single(IpAddr::V4(Ipv4Addr::BROADCAST))];
const ALL_ONES_AND_IPV6: [Range; 2] =
    [Range::single(IpAddr::V4(Ipv4Addr::BROADCAST)), Range::all(Family::V6)];
const F: u16 = 0xffff;
const IPV4_LIKE: [Range; 6] = [
    part([0; 8], [0, 0, 0, 0, 0, 0, F, F]),
    part([0, 0, 0, 0, 0, F, 0, 0], [0, 0, 0, 0, 0, F, F, F]),
    part([0, 0, 0, 0, F, 0, 0, 0], [0, 0, 0, 0, F, 0, F, F]),
    part([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], [0x64, 0xff9b, 0, 0, 0, 0, F, F]),
    part([0x2001, 0, 0, 0, 0, 0, 0, 0], [0x2001, 0, F, F, F, F, F, F]),
    part([0x2002, 0, 0, 0, 0, 0, 0, 0], [0x2002, F, F, F, F, F, F, F]),
];

/// How a row says which addresses it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `10.0.0.0/8`.
    Prefix,
    /// `10.0.0.0-10.0.0.9`.
    Ends,
}

/// A format of addresses and a token a line.
#[derive(Debug)]
pub(super) struct Lines {
    name: &'static str,
    about: &'static str,
    shape: Shape,
    /// What stands between addresses and token.
    between: &'static str,
    /// What ends a row.
    end: &'static str,
    /// What the consumer cannot read.
    excluded: &'static [Range],
    limits: Limits,
}

impl Format for Lines {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        one_space(self.name, view)?;
        self.refuse_too_many(view)?;
        let mut body = String::with_capacity(view.rows().len() * 32 + 64);
        push(&mut body, format_args!("# default {}\n", view.default_group().token));
        let mut rows = 0;
        for answer in view.answers() {
            for range in carried(answer.range, self.excluded) {
                rows += self.rows(&mut body, range, answer.token);
            }
        }
        push(&mut body, format_args!("# end {rows}\n"));
        Ok(Rendered {
            head: head(self.name, stamp).into_bytes(),
            body: body.into_bytes(),
            tail: vec![],
            rows,
        })
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        let mut lines = Reader::new(file, self.name)?;
        let mut collector = Collector::default();
        let default = lines.tagged("# default ")?;
        let default = collector.token(default).map_err(|e| lines.error(e))?;
        let mut rows: u64 = 0;
        loop {
            let line = lines.line()?;
            if let Some(count) = line.strip_prefix("# end ") {
                if count != rows.to_string() {
                    return Err(lines.error(format!("it ends after {rows} rows and says {count}")));
                }
                lines.end()?;
                return Ok(collector.finish(Some(default)));
            }
            let (range, token) = self.row(line).map_err(|e| lines.error(e))?;
            collector.push(None, range, token).map_err(|e| lines.error(e))?;
            rows += 1;
        }
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        self.agrees(file, view)
    }

    fn excluded(&self) -> &'static [Range] {
        self.excluded
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn derived(&self) -> Option<&'static str> {
        (self.shape == Shape::Ends).then_some(".bin")
    }
}

impl Lines {
    fn refuse_too_many(&self, view: &View<'_>) -> Result<(), RenderError> {
        let (found, most) = (view.groups().count() as u64, self.limits.groups.map_or(u64::MAX, |l| l.most));
        if found <= most {
            return Ok(());
        }
        Err(RenderError::TooManyGroups { format: self.name, most, found })
    }

    /// Appends the rows of one stretch, and says how many these are.
    fn rows(&self, body: &mut String, range: Range, token: &Token) -> u64 {
        let rest = [self.between, token.as_str(), self.end, "\n"];
        if self.shape == Shape::Ends {
            push_range(body, range);
            body.extend(rest);
            return 1;
        }
        let mut rows = 0;
        for prefix in prefixes(range) {
            push_prefix(body, prefix);
            body.extend(rest);
            rows += 1;
        }
        rows
    }

    /// Whether the file says what the view says, row by row. See [`Format::proves`].
    fn agrees(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        let mut rest = behind_head(file, self.name, view)?;
        let end_of_row = [self.end, "\n"].concat();
        let mut rows: u64 = 0;
        for answer in view.answers() {
            let row = |rest: &mut Rest<'_>| {
                let addresses = match self.shape {
                    Shape::Prefix => rest.prefix()?,
                    Shape::Ends => rest.ends("-")?,
                };
                rest.text(self.between)?;
                rest.text(answer.token.as_str())?;
                rest.text(&end_of_row)?;
                Some(addresses)
            };
            for range in carried(answer.range, self.excluded) {
                rows += rest.rows(range, row)?;
            }
        }
        rest.text(&format!("# end {rows}\n"))?;
        rest.is_empty().then_some(())
    }

    fn row<'l>(&self, line: &'l str) -> Result<(Range, &'l str), String> {
        let refuse = || format!("`{}` is no row", line.escape_debug());
        let (addresses, token) =
            line.strip_suffix(self.end).and_then(|l| l.split_once(self.between)).ok_or_else(refuse)?;
        let range = match self.shape {
            Shape::Prefix => prefix(addresses)?,
            Shape::Ends => text::range(addresses).ok_or_else(refuse)?,
        };
        Ok((range, token))
    }
}

/// A prefix, written as we write it.
pub(super) fn prefix(text: &str) -> Result<Range, String> {
    text::prefix(text).ok_or_else(|| format!("`{}` is not written as a prefix", text.escape_debug()))
}

/// Appends formatted text.
pub(super) fn push(text: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(args);
}

/// The first line of a text file: what it is and which generation it was made from.
pub(super) fn head(format: &str, stamp: &Stamp) -> String {
    format!(
        "# poolsync {format}, session {}, generation {}, committed {}\n",
        stamp.session, stamp.generation, stamp.committed
    )
}

/// Reads a text file of ours line by line, after its first line.
pub(super) struct Reader<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Reader<'a> {
    /// Begins behind the first line, which must be that of the format.
    pub(super) fn new(file: &'a [u8], format: &str) -> Result<Self, ReadError> {
        let text = std::str::from_utf8(file)
            .map_err(|e| ReadError::new(format!("byte {}", e.valid_up_to()), "not UTF-8"))?;
        let mut reader = Self { rest: text, number: 0 };
        let line = reader.line()?;
        if !is_head(line, format) {
            return Err(reader.error(format!("not the first line of a {format} file")));
        }
        Ok(reader)
    }

    /// The next line, without its end. A last line without one was cut short.
    pub(super) fn line(&mut self) -> Result<&'a str, ReadError> {
        self.number += 1;
        let (line, rest) =
            self.rest.split_once('\n').ok_or_else(|| self.error("the file ends too early".to_owned()))?;
        self.rest = rest;
        Ok(line)
    }

    /// What follows `tag` in the next line.
    pub(super) fn tagged(&mut self, tag: &str) -> Result<&'a str, ReadError> {
        self.line()?.strip_prefix(tag).ok_or_else(|| self.error(format!("`{tag}` is missing")))
    }

    /// Makes sure that nothing is left.
    pub(super) fn end(&self) -> Result<(), ReadError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error("there is more behind the end".to_owned())) }
    }

    /// An error at the line read last.
    pub(super) fn error(&self, problem: String) -> ReadError {
        ReadError::new(format!("line {}", self.number), problem)
    }
}

/// What is behind the first two lines of a file of ours, where they are right.
pub(super) fn behind_head<'f>(file: &'f [u8], format: &str, view: &View<'_>) -> Option<Rest<'f>> {
    let mut rest = Rest(file);
    if !is_head(str::from_utf8(rest.line()?).ok()?, format) {
        return None;
    }
    rest.text("# default ")?;
    rest.text(view.default_group().token.as_str())?;
    rest.text("\n")?;
    Some(rest)
}

/// Whether a line is the first of a file of the format.
pub(super) fn is_head(line: &str, format: &str) -> bool {
    let parts = || {
        let rest = line.strip_prefix("# poolsync ")?.strip_prefix(format)?.strip_prefix(", session ")?;
        let (session, rest) = rest.split_once(", generation ")?;
        let (generation, committed) = rest.split_once(", committed ")?;
        Some((session, generation, committed))
    };
    parts().is_some_and(|(session, generation, committed)| {
        session.len() == 16
            && session.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
            && generation.parse::<u64>().is_ok()
            && committed.parse::<jiff::Timestamp>().is_ok()
    })
}
