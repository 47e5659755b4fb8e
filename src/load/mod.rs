//! The load of edges: read by SNMP, as Prometheus text or as JSON over HTTP, or not at all.
//!
//! Reading text and counters is pure; what talks to edges is thin and stands in [`Reader`]. A
//! sample is whole or it is none: where one configured field cannot be read, the edge's load
//! is unknown in that cycle, and never nought.

mod counter;
mod error;
mod expression;
mod get;
mod interfaces;
mod json;
mod prometheus;
mod reader;
mod report;
mod url;

pub use counter::{Counted, Octets, Rate, rate};
pub use error::{CountError, LoadError};
pub use expression::{Expression, ExpressionError, Gather};
pub use interfaces::{Direction, Interfaces};
pub use json::{JsonError, Pointer, PointerError, number_at};
pub use prometheus::{Metric, PrometheusError, Selector, matching};
pub use reader::{Collected, Field, Fields, Reader, Source, collect};
pub use report::EdgeLoadReport;
pub use url::{Url, UrlError};
