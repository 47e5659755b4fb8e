//! Descriptors: what a vendor's pool tables look like, as data.
//!
//! A descriptor is a TOML file of `mibs/`. Its keys:
//!
//! ```toml
//! name = "juniper-junose"          # by which the configuration chooses it
//! vendor = "Juniper JUNOSe"        # for people
//! notes = ["..."]                  # for people: what is known to lie, what is not known
//! encoding = "gbk"                 # of texts that are not UTF-8; a WHATWG label
//!
//! [detect]                         # left out: never chosen by `mib = "auto"`
//! sys-object-id = ["1.3.6.1.4.1.4874.1.1.1"]          # longest prefix wins
//! sys-descr = { accept = ["..."], refuse = ["..."] }  # plain substrings
//!
//! [contexts]                       # SNMP contexts to read all other tables again in
//! table = "routers"                # the table that lists them
//! vrf = "name"                     # its text column: the VRF of the pools read there
//! name = "context"                 # its text column: contextName
//! engine-id = "engine"             # its text column: contextEngineID; may be left out
//! default = "router1"              # the context that is the default one, and skipped
//!
//! [[table]]
//! name = "profiles"                # any name; it stands in messages and in `walk`
//! mib = "juniAddressPoolProfileTable"
//! entry = "1.3.6.1.4.1.4874.2.2.21.1.1.3.1"           # the row object: the table's OID and .1
//! index = [{ name = "pool", type = "integer" }, { name = "profile", type = "integer" }]
//!
//! [table.columns]                  # what is read; a column that bears an index part's name
//! start = { number = 3, type = "ip-address" }         # is that part, and must agree with it
//! end = { number = 4, type = "ip-address" }
//!
//! [table.joins]                    # rows of other tables, found by equal values
//! pools = { by = ["pool"] }        # these fields = the other's index parts
//! # pools = { by = ["pool-name"], to = "name" }       # this field = a column of the other
//! # pools = { whole-index = true }                    # the same index
//!
//! [table.ranges]                   # how a row becomes a range
//! start = "start"                  # start and end, or network and mask, or prefix and length
//! end = "end"
//! pool = "pools.name"              # a field of this table, or `table.field` of a joined one
//! vrf = "pools.vrf"
//! size = "size"                    # the router's own counts, for people
//! used = "used"
//! only = { type = [1, 3] }         # other rows are no ranges (numbers, or bits)
//! skip-pools = ["_DAP*"]           # nor are pools of these names
//! exclude = { field = "kind", equals = 0, within = ["pool"] }  # these rows are taken out
//!                                  # of the others with the same `within`
//! fallback-for = "better"          # used only for pools that `better` lacks
//! ```
//!
//! Types of index parts: `integer`, `ip-address`, `octets` (with its length), `octets-fixed`
//! (with `length`), `octets-implied` (last), `inet-address-type`, `inet-address` (with
//! `address-type`), `oid`. Types of columns: `integer`, `count`, `ip-address`, `octets4`,
//! `octets16`, `address-integer`, `address-text`, `inet-address-type`, `inet-address` (with
//! `address-type`), `text`, `row-status`, `bits`.
//!
//! A column that a range needs makes its row unread where it is missing; `optional = true`
//! allows a VRF, or an index part's twin, to be missing. A row status counts where it is there.
//! Whatever else is not understood, or read for nothing, is refused when the file is read.

mod cell;
mod compile;
mod decode;
mod describe;
mod descriptor;
mod detect;
mod empty;
mod error;
mod fault;
mod field;
mod file;
mod index;
mod library;
mod rejected;
mod summary;
mod text;

pub use decode::{
    ContextRead, DecodedTable, FoundContext, FoundContexts, Read, ReadOutcome, contexts, decode,
};
pub use descriptor::{Descriptor, Origin, TableRef};
pub use empty::{Known, judge_empty, judge_list};
pub use error::DescriptorError;
pub use fault::Fault;
pub use library::{Library, LibraryError};
pub use rejected::{RejectReason, Rejected};
pub use summary::{Summary, TableSummary};
pub use text::{Encoding, Glob, UnknownEncoding};

#[cfg(test)]
mod tests;
