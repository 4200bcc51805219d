//! Code of processors with a link register: the extents of functions, and the locations of return addresses.
//!
//! ```text
//!   x86       code/paths.rs, code/effect.rs
//!   others    arch/flow         next instructions
//!             arch/effect       registers and stack slots
//!             explorer.rs       paths
//!             extent.rs         from a function's start: the code that its paths pass through
//!             exits.rs          from a frame's address: the returns, with the return address and saved registers
//! ```

mod called;
mod exits;
mod explorer;
mod extent;

pub(crate) use exits::{LinkExit, LinkPaths};
pub(super) use extent::extent;
