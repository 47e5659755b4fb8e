//! Which descriptors a router may answer to, by what it says of itself.

use super::descriptor::Descriptor;
use crate::snmp::Oid;

impl Descriptor {
    /// How many arcs of a router's sysObjectID this descriptor knows it by, where it does and
    /// the sysDescr does not speak against it.
    pub(super) fn knows(&self, sys_object_id: &Oid, sys_descr: &str) -> Option<usize> {
        let detect = self.detect.as_ref()?;
        let accepted = detect.accept.is_empty() || detect.accept.iter().any(|text| sys_descr.contains(text));
        if !accepted || detect.refuse.iter().any(|text| sys_descr.contains(text)) {
            return None;
        }
        let under = detect.prefixes.iter().filter(|prefix| sys_object_id.suffix(prefix).is_some());
        under.map(|prefix| prefix.arcs().len()).max()
    }

    /// Whether a router is one of this descriptor's, by what it says of itself.
    pub fn is_for(&self, sys_object_id: &Oid, sys_descr: &str) -> bool {
        self.knows(sys_object_id, sys_descr).is_some()
    }

    /// The tables whose rows tell that a router answers to this descriptor.
    pub fn probes(&self) -> impl Iterator<Item = super::TableRef<'_>> {
        self.tables().filter(|table| table.has_ranges())
    }
}
