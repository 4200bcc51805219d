//! Questions about small profiles that are written here.

mod diff;
mod query;
