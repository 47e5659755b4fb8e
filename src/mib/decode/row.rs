//! What one row says.

use std::borrow::Cow;

use smallvec::smallvec;

use super::super::cell::bits_set;
use super::super::descriptor::{Only, Own, Pool, RangeKind, Ranges, Recipe, Ref, Vrf};
use super::super::field::{Field, Kind};
use super::super::rejected::{Reject, RejectReason};
use super::super::text;
use super::range::{self, Ends};
use super::rows::Row;
use super::{Decoder, Found};
use crate::address::{Family, Range};
use crate::table::{Name, PoolName};

/// A row as found, or the pool as far as it was read, and why the row claims nothing.
pub(super) type Outcome = Result<Found, (Option<PoolName>, Reject)>;

impl Decoder<'_> {
    /// What a row says.
    pub(super) fn found(&self, at: usize, ranges: &Ranges, row: &Row<'_>) -> Outcome {
        let pool = match &ranges.pool {
            Pool::Named(name) => Ok(PoolName::new(name.as_bytes())),
            Pool::Field(field) => {
                self.octets(at, row, *field).map(|raw| text::pool_name(&raw, self.encoding))
            }
        };
        match (self.read_row(at, ranges, row, &pool), pool) {
            (Ok(found), Ok(pool)) => Ok(found(pool)),
            (Err(reject), pool) => Err((pool.ok(), reject)),
            (Ok(_), Err(reject)) => Err((None, reject)),
        }
    }

    /// All but the pool, which is only looked at: it is put in where the row claims something.
    fn read_row(
        &self,
        at: usize,
        ranges: &Ranges,
        row: &Row<'_>,
        pool: &Result<PoolName, Reject>,
    ) -> Result<impl FnOnce(PoolName) -> Found + use<>, Reject> {
        self.rows[at].check(row)?;
        for only in &ranges.only {
            self.check_only(at, row, only)?;
        }
        let pool = pool.as_ref().map_err(Clone::clone)?;
        if let Some(pattern) = ranges.skip_pools.iter().find(|pattern| pattern.matches(pool.text())) {
            let detail = format!("pools named {} are no ranges", pattern.as_str());
            return Err(Reject::new(RejectReason::Filtered, detail));
        }
        let vrf = self.vrf(at, ranges.vrf, row)?;
        let range = match self.plain_range(at, ranges, row) {
            Some(range) => range,
            None => self.range(at, ranges, row)?,
        };
        range::check_lengths(ranges.lengths, range)?;
        let count = |field: Option<Ref>| self.count(at, row, field?);
        let (size, used) = (count(ranges.size), count(ranges.used));
        let delegated_len = self.delegated_len(at, ranges, row, range);
        Ok(move |pool| Found { ranges: smallvec![range], pool, vrf, size, used, delegated_len })
    }

    fn count(&self, at: usize, row: &Row<'_>, field: Ref) -> Option<u64> {
        if let Ref::Own(own) = field
            && let Some(count) = self.rows[at].plain_count(row, own)
        {
            return Some(count);
        }
        match self.field(at, row, field) {
            Ok(Field::Integer(n)) => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// The range of a row that says it in the form of most: the first kind is for every row, and
    /// has both ends as IpAddress. For everything else, and all that is wrong, there is `range`.
    fn plain_range(&self, at: usize, ranges: &Ranges, row: &Row<'_>) -> Option<Range> {
        let kind = ranges.kinds.first().filter(|kind| kind.only.is_empty())?;
        let Recipe::StartEnd(Ref::Own(first), Ref::Own(last)) = kind.recipe else { return None };
        let rows = &self.rows[at];
        let (first, last) = (rows.plain_address(row, first)?, rows.plain_address(row, last)?);
        Range::new(first.into(), last.into()).ok()
    }

    /// The range by the first kind that is for the row and whose addresses are set.
    fn range(&self, at: usize, ranges: &Ranges, row: &Row<'_>) -> Result<Range, Reject> {
        let mut unset = None;
        let mut other = None;
        for kind in &ranges.kinds {
            match kind.only.iter().try_for_each(|only| self.check_only(at, row, only)) {
                Ok(()) => {}
                Err(reject) if reject.reason == RejectReason::Filtered => {
                    other.get_or_insert(reject);
                    continue;
                }
                Err(reject) => return Err(reject),
            }
            let ends = self.ends(at, row, kind)?;
            if !ends.are_unset() {
                return range::range(ends);
            }
            unset.get_or_insert(ends);
        }
        match (unset, other) {
            (Some(ends), _) => range::range(ends),
            (None, Some(reject)) => Err(reject),
            (None, None) => Err(Reject::new(RejectReason::Filtered, "there is no way to make a range of it")),
        }
    }

    fn ends(&self, at: usize, row: &Row<'_>, kind: &RangeKind) -> Result<Ends, Reject> {
        Ends::read(kind.recipe, |field| self.field(at, row, field), |field| self.is_optional(at, field))
    }

    fn is_optional(&self, at: usize, field: Ref) -> bool {
        let (table, own) = self.resolve(at, field);
        matches!(own, Own::Column(column) if self.rows[table].table.columns[column].optional)
    }

    fn check_only(&self, at: usize, row: &Row<'_>, only: &Only) -> Result<(), Reject> {
        let (table, own) = self.resolve(at, only.field);
        let value = self.field(at, row, only.field)?;
        let wanted = match &value {
            Field::Integer(n) => only.values.contains(n),
            Field::Octets(octets) if self.rows[table].table.kind(own) == Kind::Bits => {
                bits_set(octets).any(|bit| only.values.contains(&bit))
            }
            _ => false,
        };
        if wanted {
            return Ok(());
        }
        let name = self.rows[table].table.field_name(own);
        let values: Vec<String> = only.values.iter().map(i128::to_string).collect();
        let detail = format!("{name} is {value}; rows with {} are ranges", values.join(", "));
        Err(Reject::new(RejectReason::Filtered, detail))
    }

    fn vrf(&self, at: usize, vrf: Option<Vrf>, row: &Row<'_>) -> Result<Name, Reject> {
        let Some(vrf) = vrf.filter(|vrf| self.groups || !vrf.group) else {
            return Ok(self.read.vrf.clone().unwrap_or_default());
        };
        match self.octets(at, row, vrf.field) {
            Ok(raw) => {
                let name = text::text(&raw, self.encoding);
                let is_default = self.default_vrf.is_some_and(|default| name == default);
                Ok(if is_default { Name::default() } else { name.into() })
            }
            Err(reject) if reject.reason == RejectReason::MissingCell && self.is_optional(at, vrf.field) => {
                Ok(Name::default())
            }
            Err(reject) => Err(reject),
        }
    }

    /// How long the prefixes are that are delegated out of an IPv6 range. For people: what
    /// cannot be read, or cannot be, is left out.
    fn delegated_len(&self, at: usize, ranges: &Ranges, row: &Row<'_>, range: Range) -> Option<u8> {
        let delegated = ranges.delegated.as_ref()?;
        if range.family() != Family::V6
            || delegated.only.iter().any(|only| self.check_only(at, row, only).is_err())
        {
            return None;
        }
        let Ok(Field::Integer(length)) = self.field(at, row, delegated.length) else { return None };
        let length = u8::try_from(length).ok().filter(|length| (1..128).contains(length))?;
        // One of them must fit.
        (range.span() >= (u128::MAX >> length)).then_some(length)
    }

    fn octets<'r>(&self, at: usize, row: &'r Row<'_>, field: Ref) -> Result<Cow<'r, [u8]>, Reject> {
        if let Ref::Own(own) = field
            && let Some(text) = self.rows[at].text(row, own)
        {
            return Ok(Cow::Borrowed(text));
        }
        match self.field(at, row, field)? {
            Field::Octets(octets) => Ok(Cow::Owned(octets)),
            other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no text"))),
        }
    }

    fn field(&self, at: usize, row: &Row<'_>, field: Ref) -> Result<Field, Reject> {
        match field {
            Ref::Own(field) => self.rows[at].field(row, field),
            Ref::Joined { join, field } => {
                let on = &self.rows[at].table.joins[join];
                let there = &self.rows[on.table];
                let row = self.joined[at][join].find(&self.rows[at], row, &on.on, there)?;
                there.check(row)?;
                there.field(row, field)
            }
        }
    }

    fn resolve(&self, at: usize, field: Ref) -> (usize, Own) {
        match field {
            Ref::Own(field) => (at, field),
            Ref::Joined { join, field } => (self.rows[at].table.joins[join].table, field),
        }
    }
}
