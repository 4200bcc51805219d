//! Code of processors whose calls put the return address into a link register: the parts of a function that its paths come
//! through, the places where return addresses are.
//!
//! ```text
//!   x86       code/paths.rs, code/effect.rs
//!   others    arch/flow         next instructions
//!             arch/effect       registers and stack slots
//!             explorer.rs       paths
//!             extent.rs         from a function's start: what it comes through
//!             exits.rs          from a frame's address: the returns, with the return address and saved registers
//! ```

mod called;
mod exits;
mod explorer;
mod extent;

pub(crate) use exits::{LinkExit, LinkPaths};
pub(super) use extent::extent;
