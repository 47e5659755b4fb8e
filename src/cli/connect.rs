//! `check --connect`: a first word with every BAS, and a summary by cause.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::exit::Exit;
use super::poll::progress;
use super::site::Site;
use super::stop::Stop;
use super::text::{Grid, counted, dash};
use crate::cycle::{Cause, ConnectShape, Fleet, State};
use crate::snmp::Transport;

/// How many BASes are named with each cause, and listed; `--json` has all of them.
const SHOWN: usize = 20;

/// How the fleet answered.
#[derive(Debug, Serialize)]
pub(crate) struct Connected {
    /// BASes that answer and show a table.
    ready: usize,
    /// The others, by cause: the most common first.
    causes: Vec<OfCause>,
    /// All of them.
    bas: Vec<ConnectShape>,
}

/// The BASes that one thing is the matter with.
#[derive(Debug, Serialize)]
struct OfCause {
    cause: Cause,
    count: usize,
    bas: Vec<String>,
    next: &'static str,
}

/// Says a first word to each BAS.
pub(crate) async fn connect(site: &Site) -> Result<Connected, Stop> {
    let transport =
        Transport::apart().map_err(|e| Stop::failed(format!("no UDP socket can be opened: {e}")))?;
    let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport);
    let state = State::without_store(Arc::clone(&site.config), Arc::clone(&site.exports));
    let bar = progress(site.config.bas.len());
    let bas = state.connect(&fleet, Timestamp::now(), |one| {
        bar.set_message(one.name.clone());
        bar.inc(1);
    });
    let bas = bas.await?;
    bar.finish_and_clear();
    Ok(Connected::of(bas))
}

impl Connected {
    fn of(bas: Vec<ConnectShape>) -> Self {
        let mut by_cause: BTreeMap<Cause, Vec<String>> = BTreeMap::new();
        for one in bas.iter().filter(|one| one.cause != Cause::None) {
            by_cause.entry(one.cause).or_default().push(one.name.clone());
        }
        let of =
            |(cause, bas): (Cause, Vec<String>)| OfCause { cause, count: bas.len(), bas, next: cause.next() };
        let mut causes: Vec<OfCause> = by_cause.into_iter().map(of).collect();
        causes.sort_by_key(|of| std::cmp::Reverse(of.count));
        let ready = bas.iter().filter(|one| one.cause == Cause::None).count();
        Self { ready, causes, bas }
    }

    /// The summary for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "\n{} of {} and show a table\n",
            self.ready,
            counted(self.bas.len(), "BAS answers", "BASes answer")
        );
        for of in &self.causes {
            let mut names = of.bas.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            if let Some(more @ 1..) = of.bas.len().checked_sub(SHOWN) {
                let _ = write!(names, " and {}", counted(more, "other", "others"));
            }
            let _ = writeln!(text, "\n{}: {names}\n  {}", words(of.cause, of.count), of.next);
        }
        let mut grid = Grid::new(&["BAS", "ADDRESS", "IS", "DETAIL"]);
        let wrong: Vec<&ConnectShape> = self.bas.iter().filter(|one| one.cause != Cause::None).collect();
        for one in wrong.iter().take(SHOWN) {
            let is = dash(one.descriptor.as_deref());
            grid.row([one.name.as_str(), &one.address, is, dash(one.detail.as_deref())]);
        }
        let grid = grid.finish();
        if !grid.is_empty() {
            let _ = write!(text, "\n{grid}");
        }
        if let Some(more @ 1..) = wrong.len().checked_sub(SHOWN) {
            let _ = writeln!(text, "and {}; `--json` has all", counted(more, "other", "others"));
        }
        text
    }

    /// 0: all are ready; 3: some are not; 1: none is.
    pub(crate) fn exit(&self) -> Exit {
        match (self.ready, self.causes.is_empty()) {
            (_, true) => Exit::Ok,
            (0, false) => Exit::Failed,
            (_, false) => Exit::Incomplete,
        }
    }
}

fn words(cause: Cause, count: usize) -> String {
    let what = match cause {
        Cause::None => "ready",
        Cause::Unresolved => "name not resolved",
        Cause::Unreachable => "unreachable",
        Cause::UnreachableOrWrongCommunity => "unreachable, or another community",
        Cause::WrongCommunity => "wrong community",
        Cause::UnknownUser => "unknown user",
        Cause::WrongKey => "wrong key",
        Cause::WrongLevel => "wrong level of security",
        Cause::UnknownContext => "unknown context",
        Cause::ViewHidesTable => "a view hides the table, or there is no pool",
        Cause::UnknownBox => "unknown box",
        Cause::Other => "something else",
    };
    format!("{what} ({})", counted(count, "BAS", "BASes"))
}
