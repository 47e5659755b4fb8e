//! Formats of one prefix and token a line: nginx's `geo` and HAProxy's maps.
//!
//! ```text
//! # poolsync haproxy-map, session 00000000000000aa, generation 42, committed 2026-01-02T03:04:05Z
//! # default centre
//! 10.0.0.0/8 gz-01
//! # end 1
//! ```
//!
//! Both consumers skip lines that begin with `#`. The last line tells a whole file from one
//! that was cut short. Touching rows of one group are one: the consumer is told nothing
//! else of them.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use super::readback::Collector;
use super::{Format, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View, one_space};
use crate::address::{Range, prefixes};

/// The rows of an nginx `geo` block, for `geo $edge { default TOKEN; include FILE; }`
/// (ngx_http_geo_module). The default stays in nginx's own file: a second one here would
/// make nginx warn at each reload. nginx takes 255.255.255.255 for no address and refuses
/// the whole file: a row of this address alone, which no viewer has, is left out.
pub(super) const NGINX_GEO: Lines = Lines {
    name: "nginx-geo",
    about: "rows of an nginx geo block: prefix, group",
    end: ";",
    all_ones: false,
};

/// A HAProxy map file, for `map_ip(FILE,TOKEN)`.
pub(super) const HAPROXY_MAP: Lines =
    Lines { name: "haproxy-map", about: "a HAProxy map: prefix, group", end: "", all_ones: true };

/// A format of one prefix and token a line.
#[derive(Debug)]
pub(super) struct Lines {
    name: &'static str,
    about: &'static str,
    /// What ends a row.
    end: &'static str,
    /// Whether the consumer can read the address of all ones.
    all_ones: bool,
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
        let mut body = format!("# default {}\n", view.default_group().token);
        let mut rows = 0;
        for answer in view.answers() {
            for prefix in self.carried(answer.range).into_iter().flat_map(prefixes) {
                push(&mut body, format_args!("{prefix} {}{}\n", answer.token, self.end));
                rows += 1;
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

    fn carried(&self, range: Range) -> Option<Range> {
        let ones = IpAddr::V4(Ipv4Addr::BROADCAST);
        (self.all_ones || range != Range::single(ones)).then_some(range)
    }
}

impl Lines {
    fn row<'l>(&self, line: &'l str) -> Result<(Range, &'l str), String> {
        let refuse = || format!("`{}` is no row", line.escape_debug());
        let (prefix, token) =
            line.strip_suffix(self.end).and_then(|l| l.split_once(' ')).ok_or_else(refuse)?;
        let net: IpNet = prefix.parse().map_err(|_| refuse())?;
        if net.addr() != net.network() || net.to_string() != prefix {
            return Err(format!("{prefix} is not written as a prefix"));
        }
        Ok((net.into(), token))
    }
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

fn is_head(line: &str, format: &str) -> bool {
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
