//! A descriptor in words: what will be read, and what is made of it.

use std::fmt::Write as _;

use super::cell::{ColumnForm, Written};
use super::descriptor::{Descriptor, On, Only, Otherwise, Own, Pool, Ranges, Recipe, Ref, Table, Vrf};
use super::index::PartForm;

impl Descriptor {
    /// What this descriptor makes poolsync read, in words, one thing a line.
    pub fn describe(&self) -> String {
        let mut out = format!("{}: {}\n", self.name, self.vendor);
        self.describe_detection(&mut out);
        for table in &self.tables {
            self.describe_table(table, &mut out);
        }
        if let Some(contexts) = &self.contexts {
            let table = &self.tables[contexts.table];
            let _ = writeln!(
                out,
                "Each row of {} names an SNMP context ({}) in which the other tables are read again; the VRF there is {}. The context {} is the default one.",
                table.name,
                table.columns[contexts.name].name,
                table.columns[contexts.vrf].name,
                contexts.default
            );
        }
        if let Some(vrf) = &self.default_vrf {
            let _ = writeln!(out, "The VRF {vrf} is the default one, and counts as none.");
        }
        if let Some(encoding) = self.encoding {
            let _ = writeln!(out, "Texts that are not UTF-8 are taken for {encoding:?}.");
        }
        for note in &self.notes {
            let _ = writeln!(out, "Note: {note}");
        }
        out
    }

    fn describe_detection(&self, out: &mut String) {
        let Some(detect) = &self.detect else {
            let _ = writeln!(out, "Never chosen by auto, only by its name.");
            return;
        };
        let prefixes: Vec<String> = detect.prefixes.iter().map(ToString::to_string).collect();
        let _ = write!(out, "Chosen by auto where sysObjectID lies under {}", prefixes.join(" or "));
        let quoted = |texts: &[String]| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>();
        if !detect.accept.is_empty() {
            let _ = write!(out, ", and sysDescr has {}", quoted(&detect.accept).join(" or "));
        }
        if !detect.refuse.is_empty() {
            let _ = write!(out, ", and sysDescr has not {}", quoted(&detect.refuse).join(" or "));
        }
        let _ = writeln!(out, ".");
    }

    fn describe_table(&self, table: &Table, out: &mut String) {
        let mib = table.mib.as_ref().map(|mib| format!("{mib}, ")).unwrap_or_default();
        let _ = writeln!(out, "Table {} ({mib}{}):", table.name, table.entry);
        let parts: Vec<String> =
            table.parts.iter().map(|part| format!("{} ({})", part.name, part_words(part.form))).collect();
        let _ = writeln!(out, "  index: {}", parts.join(", "));
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let otherwise = otherwise_words(table, column.otherwise);
                format!("{} {} ({}{otherwise})", column.number, column.name, column_words(column.form))
            })
            .collect();
        let _ = writeln!(out, "  columns: {}", columns.join(", "));
        if !table.twins.is_empty() {
            let twins: Vec<&str> = table.twins.iter().map(|twin| &*table.parts[twin.0].name).collect();
            let _ = writeln!(out, "  in the index and as a column, and must agree: {}", twins.join(", "));
        }
        if let Some(rows) = table.max_rows {
            let _ = writeln!(out, "  too large to be read beyond {rows} rows");
        }
        for join in &table.joins {
            let there = &self.tables[join.table];
            let _ = writeln!(out, "  joined to {} by {}", there.name, on_words(table, there, &join.on));
        }
        if let Some(ranges) = &table.ranges {
            self.describe_ranges(table, ranges, out);
        }
    }

    fn describe_ranges(&self, table: &Table, ranges: &Ranges, out: &mut String) {
        let name = |field: Ref| self.ref_words(table, field);
        let several = ranges.kinds.len() > 1;
        for (at, kind) in ranges.kinds.iter().enumerate() {
            let only = self.only_words(table, &kind.only);
            let _ = write!(
                out,
                "  {}: {}",
                if at == 0 { "ranges" } else { "    else" },
                self.recipe_words(table, kind.recipe)
            );
            let _ = match (only.is_empty(), several) {
                (false, _) => writeln!(out, ", where {}", only.join(" and ")),
                (true, true) if at + 1 < ranges.kinds.len() => writeln!(out, ", where it is set"),
                (true, _) => writeln!(out),
            };
        }
        let pool = match &ranges.pool {
            Pool::Field(field) => name(*field),
            Pool::Named(name) => format!("\"{name}\""),
        };
        let _ = writeln!(out, "  pool: {pool}");
        let _ = writeln!(out, "  VRF: {}", self.vrf_words(table, ranges.vrf));
        let counts = [("size", ranges.size), ("used", ranges.used)];
        for (what, field) in counts.into_iter().filter_map(|(what, field)| Some((what, field?))) {
            let _ = writeln!(out, "  the router's own count of {what}: {}", name(field));
        }
        if let Some(delegated) = &ranges.delegated {
            let only = self.only_words(table, &delegated.only);
            let only =
                if only.is_empty() { String::new() } else { format!(", where {}", only.join(" and ")) };
            let _ = writeln!(out, "  delegated prefixes are of length {}{only}", name(delegated.length));
        }
        self.describe_filters(table, ranges, out);
    }

    fn recipe_words(&self, table: &Table, recipe: Recipe) -> String {
        let name = |field: Ref| self.ref_words(table, field);
        match recipe {
            Recipe::StartEnd(first, last) => format!("from {} to {}", name(first), name(last)),
            Recipe::NetworkMask(network, mask) => {
                format!("network {} with mask {}", name(network), name(mask))
            }
            Recipe::GatewayMask(gateway, mask) => {
                format!("the network of gateway {} with mask {}", name(gateway), name(mask))
            }
            Recipe::PrefixLength(prefix, Some(length)) => {
                format!("prefix {} of length {}", name(prefix), name(length))
            }
            Recipe::PrefixLength(prefix, None) => format!("prefix {} with its length", name(prefix)),
            Recipe::PrefixRun(first, last, length) => {
                format!("prefixes {} to {}, each of length {}", name(first), name(last), name(length))
            }
        }
    }

    fn vrf_words(&self, table: &Table, vrf: Option<Vrf>) -> String {
        match vrf {
            Some(Vrf { field, group: false }) => self.ref_words(table, field),
            Some(Vrf { field, group: true }) if self.group_as_vrf => {
                format!("the pool group {}, unless group-as-vrf = false", self.ref_words(table, field))
            }
            Some(Vrf { field, group: true }) => {
                format!(
                    "none, unless group-as-vrf = true: then the pool group {}",
                    self.ref_words(table, field)
                )
            }
            None if self.contexts.is_some() => "the context's".to_owned(),
            None => "none".to_owned(),
        }
    }

    /// Conditions, each in words.
    fn only_words(&self, table: &Table, only: &[Only]) -> Vec<String> {
        let words = |only: &Only| {
            let values: Vec<String> = only.values.iter().map(ToString::to_string).collect();
            format!("{} is {}", self.ref_words(table, only.field), values.join(" or "))
        };
        only.iter().map(words).collect()
    }

    fn describe_filters(&self, table: &Table, ranges: &Ranges, out: &mut String) {
        if table.status().is_some() {
            let _ = writeln!(out, "  only rows that are active(1), where they have a status");
        }
        for only in self.only_words(table, &ranges.only) {
            let _ = writeln!(out, "  only rows where {only}");
        }
        for (family, lengths) in [("IPv4", ranges.lengths.v4), ("IPv6", ranges.lengths.v6)] {
            if let Some((from, to)) = lengths {
                let _ = writeln!(out, "  only {family} prefixes of /{from} to /{to}");
            }
        }
        if !ranges.skip_pools.is_empty() {
            let patterns: Vec<&str> = ranges.skip_pools.iter().map(|pattern| pattern.as_str()).collect();
            let _ = writeln!(out, "  not the pools named {}", patterns.join(" or "));
        }
        if let Some(exclude) = &ranges.exclude {
            let field = table.field_name(exclude.field);
            let within: Vec<&str> = exclude.within.iter().map(|field| &**table.field_name(*field)).collect();
            let within = within.join(", ");
            let equals = exclude.equals;
            let _ = writeln!(
                out,
                "  rows where {field} is {equals} are taken out of the others with the same {within}"
            );
        }
        for fallback in &ranges.fallbacks {
            let better = &self.tables[fallback.better].name;
            let same: Vec<&str> = fallback.same.iter().map(|same| &**table.field_name(same.0)).collect();
            let same = same.join(", ");
            let _ = writeln!(
                out,
                "  only where {better} has no row of the same {same}, and was read completely or is not there"
            );
        }
    }

    fn ref_words(&self, table: &Table, field: Ref) -> String {
        match field {
            Ref::Own(field) => own_words(table, field),
            Ref::Joined { join, field } => {
                let there = &self.tables[table.joins[join].table];
                format!("{} of {}", own_words(there, field), there.name)
            }
        }
    }
}

/// What a missing cell stands for.
fn otherwise_words(table: &Table, otherwise: Option<Otherwise>) -> String {
    match otherwise {
        None => String::new(),
        Some(Otherwise::Number(number)) => format!(", {number} where missing"),
        Some(Otherwise::Field(field)) => format!(", {} where missing", table.field_name(field)),
    }
}

fn own_words(table: &Table, field: Own) -> String {
    match field {
        Own::Part(part) => format!("{} (index)", table.parts[part].name),
        Own::Column(column) => {
            format!("{} (column {})", table.columns[column].name, table.columns[column].number)
        }
    }
}

fn on_words(table: &Table, there: &Table, on: &On) -> String {
    match on {
        On::WholeIndex => "the whole index".to_owned(),
        On::Single => "being its only row".to_owned(),
        On::Index(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| &**table.field_name(*field)).collect();
            names.join(", ")
        }
        On::Column { own, column } => {
            format!("{} and its {}", table.field_name(*own), there.columns[*column].name)
        }
    }
}

fn part_words(form: PartForm) -> String {
    match form {
        PartForm::Integer => "one arc".to_owned(),
        PartForm::IpAddress => "IpAddress, four arcs".to_owned(),
        PartForm::Ipv6Address => "Ipv6Address, sixteen arcs".to_owned(),
        PartForm::Octets => "string with its length".to_owned(),
        PartForm::OctetsFixed(length) => format!("string of {length} octets"),
        PartForm::OctetsImplied => "string without its length".to_owned(),
        PartForm::AddressType => "InetAddressType, one arc".to_owned(),
        PartForm::Address { .. } => "InetAddress with its length".to_owned(),
        PartForm::Oid => "OID with its count".to_owned(),
    }
}

fn column_words(form: ColumnForm) -> &'static str {
    match form {
        ColumnForm::Integer => "integer",
        ColumnForm::Count => "count",
        ColumnForm::IpAddress => "IpAddress",
        ColumnForm::Octets4 => "IPv4 address as octets",
        ColumnForm::Octets16 => "IPv6 address as octets",
        ColumnForm::Ipv6Prefix => "IPv6 address as octets, perhaps cut short",
        ColumnForm::AddressInteger => "IPv4 address as an integer",
        ColumnForm::AddressText => "address as text",
        ColumnForm::AddressType => "InetAddressType",
        ColumnForm::Address { .. } => "InetAddress",
        ColumnForm::Network { written: Written::Either, .. } => "network as text or octets",
        ColumnForm::Network { written: Written::Text, .. } => "network as text",
        ColumnForm::Network { written: Written::Octets, .. } => "network as octets",
        ColumnForm::Text => "text",
        ColumnForm::RowStatus => "row status",
        ColumnForm::Bits => "bits",
    }
}
