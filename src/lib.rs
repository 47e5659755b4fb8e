//! poolsync keeps a CDN's routing table true by reading address pools from broadband
//! routers over SNMP.

pub mod address;
pub mod cli;
pub mod config;
pub mod cycle;
pub mod daemon;
pub mod format;
pub mod http;
pub mod logging;
pub mod mib;
pub mod poll;
pub mod publish;
pub mod snmp;
pub mod steer;
pub mod store;
pub mod table;
