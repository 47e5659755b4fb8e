//! A descriptor in words: what will be read, and what is made of it.

use std::fmt::Write as _;

use super::cell::ColumnForm;
use super::descriptor::{Descriptor, On, Own, Ranges, Recipe, Ref, Table};
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
            .map(|column| format!("{} {} ({})", column.number, column.name, column_words(column.form)))
            .collect();
        let _ = writeln!(out, "  columns: {}", columns.join(", "));
        if !table.twins.is_empty() {
            let twins: Vec<&str> = table.twins.iter().map(|twin| &*table.parts[twin.0].name).collect();
            let _ = writeln!(out, "  in the index and as a column, and must agree: {}", twins.join(", "));
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
        let recipe = match ranges.recipe {
            Recipe::StartEnd(first, last) => format!("from {} to {}", name(first), name(last)),
            Recipe::NetworkMask(network, mask) => {
                format!("network {} with mask {}", name(network), name(mask))
            }
            Recipe::PrefixLength(prefix, length) => {
                format!("prefix {} of length {}", name(prefix), name(length))
            }
        };
        let vrf = match ranges.vrf {
            Some(field) => format!("VRF {}", name(field)),
            None if self.contexts.is_some() => "the VRF is the context's".to_owned(),
            None => "no VRF".to_owned(),
        };
        let _ = writeln!(out, "  ranges: {recipe}; pool {}; {vrf}", name(ranges.pool));
        let counts = [("size", ranges.size), ("used", ranges.used)];
        for (what, field) in counts.into_iter().filter_map(|(what, field)| Some((what, field?))) {
            let _ = writeln!(out, "  the router's own count of {what}: {}", name(field));
        }
        self.describe_filters(table, ranges, out);
    }

    fn describe_filters(&self, table: &Table, ranges: &Ranges, out: &mut String) {
        if table.status().is_some() {
            let _ = writeln!(out, "  only rows that are active(1), where they have a status");
        }
        for (field, values) in &ranges.only {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let name = self.ref_words(table, *field);
            let _ = writeln!(out, "  only rows where {name} is {}", values.join(" or "));
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
        if let Some(better) = ranges.fallback_for {
            let better = &self.tables[better].name;
            let _ = writeln!(
                out,
                "  only for pools that {better} lacks, where {better} was read completely or is not there"
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
        ColumnForm::AddressInteger => "IPv4 address as an integer",
        ColumnForm::AddressText => "address as text",
        ColumnForm::AddressType => "InetAddressType",
        ColumnForm::Address { .. } => "InetAddress",
        ColumnForm::Text => "text",
        ColumnForm::RowStatus => "row status",
        ColumnForm::Bits => "bits",
    }
}
