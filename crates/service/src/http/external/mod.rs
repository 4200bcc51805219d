//! External protocols for programs, each with a token in its address.

mod debuginfod;
mod firefox;

pub(super) use debuginfod::routes as debuginfod;
pub(super) use firefox::routes as firefox;
