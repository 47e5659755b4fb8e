//! Why an edge's load is unknown.

use thiserror::Error;

use super::json::JsonError;
use super::prometheus::PrometheusError;
use crate::snmp::Reason;

/// Why two readings of a counter give no rate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CountError {
    /// There is none before it.
    #[error("this is the first reading; there is a rate from the next on")]
    First,
    /// No time passed, or the clock went back.
    #[error("no time has passed since the reading before")]
    Clock,
    /// The device restarted, or its counters were set back.
    #[error("the counters were set back")]
    Reset,
    /// Other interfaces than before.
    #[error("these are other counters than before")]
    Others,
}

/// Why an edge's load is unknown.
#[derive(Debug, Error)]
pub enum LoadError {
    /// Two readings give no rate.
    #[error(transparent)]
    Count(#[from] CountError),
    /// SNMP failed.
    #[error("SNMP: {detail}")]
    Snmp {
        /// The stable reason.
        reason: Reason,
        /// What went wrong.
        detail: String,
    },
    /// A name that has no address.
    #[error("{host}: {detail}")]
    Resolve {
        /// The name.
        host: String,
        /// What went wrong.
        detail: String,
    },
    /// An interface that is not there, or tells no 64-bit counter.
    #[error("interface {name}: {detail}")]
    Interface {
        /// Its name or index.
        name: String,
        /// What is wrong.
        detail: String,
    },
    /// HTTP failed.
    #[error("{url}: {detail}")]
    Http {
        /// What was asked.
        url: String,
        /// What went wrong.
        detail: String,
    },
    /// A Prometheus text lacks what is wanted.
    #[error(transparent)]
    Prometheus(#[from] PrometheusError),
    /// A JSON text lacks what is wanted.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A number that is negative or infinite.
    #[error("{field} is {value}")]
    Number {
        /// The field.
        field: &'static str,
        /// The number.
        value: f64,
    },
    /// Nothing came in time.
    #[error("no answer in time")]
    Timeout,
}

impl LoadError {
    /// A stable word for it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Count(CountError::First) => "first-reading",
            Self::Count(CountError::Reset) => "counter-reset",
            Self::Count(_) => "no-rate",
            Self::Snmp { .. } => "snmp",
            Self::Resolve { .. } => "unresolved",
            Self::Interface { .. } => "interface",
            Self::Http { .. } => "http",
            Self::Prometheus(_) => "prometheus",
            Self::Json(_) => "json",
            Self::Number { .. } => "number",
            Self::Timeout => "timeout",
        }
    }
}
