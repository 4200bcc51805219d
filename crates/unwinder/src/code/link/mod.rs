//! Code of processors whose calls put the return address into a link register: the parts of a function that its paths come
//! through, the places where return addresses are.
//!
//! ```text
//!   x86       code/paths.rs, code/effect.rs
//!   others    arch/flow         next instructions
//!             machine.rs        registers and stack slots; a file for each processor
//!             explorer.rs       paths
//!             extent.rs         from a function's start: what it comes through
//!             exits.rs          from a frame's address: the returns, with the return address and saved registers
//! ```

mod aarch64;
mod arm;
mod called;
mod exits;
mod explorer;
mod extent;
mod loongarch64;
mod machine;
mod ppc64;
mod riscv64;
mod s390x;

pub(crate) use exits::{LinkExit, LinkPaths};
pub(super) use explorer::{effect as effect_of, forget_changed};
pub(super) use extent::extent;
