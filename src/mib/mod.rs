//! mib
