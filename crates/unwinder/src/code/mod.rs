//! Analysis of a file's instructions for frames without call frame information. It follows a function's code to its
//! return, and decides whether a call can be the one that called a function.
//!
//! Code of x86, of 64 and of 32 bits, is followed here; that of processors with a link register in `link`. From the
//! start of a function (`depth`, `forward`), the instructions of all processors have a common interface
//! (`instructions`).

mod allowance;
mod bytes;
mod called;
mod callee;
mod depth;
mod direct_calls;
mod effect;
mod entered;
mod entry;
mod forward;
mod instructions;
mod link;
mod paths;
mod references;
mod visits;

pub use allowance::CodeAllowance;
pub(crate) use called::{Called, FunctionAnalyses, ImageAddress, locate};
pub(crate) use callee::MappedFunction;
pub(crate) use depth::{Depth, FunctionStart, RegisterLocation};
pub(crate) use entered::enters;
pub(crate) use link::{LinkExit, LinkPaths};
pub(crate) use paths::{Exit, Extent, Paths, Reach};
