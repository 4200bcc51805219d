//! Locations of variables: expressions, lists of them, and their evaluation for a frame.

mod call_sites;
mod evaluate;
mod frame;
mod location;
mod place;
mod program;
mod simple;
mod words;

#[cfg(test)]
mod tests;

pub use call_sites::CallSites;
pub use frame::{Caller, Frame};

pub(crate) use call_sites::{CallSite, CallTarget, Identity, ParameterKey};
pub(crate) use evaluate::Context;
pub(crate) use location::{Location, compile_attribute};
pub(crate) use place::{Place, Pointee, TEXT_BYTES};
pub(crate) use program::{Compiler, Program};
