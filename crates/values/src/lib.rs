//! DWARF location expressions and types: from a frame to a typed value, or to the reason why it is not there.
//!
//! [`Sources`] holds the debug information of one image. [`Variables`] finds the values that [`Request`]s name, and
//! has them by address, without the sections. [`Match::value`] reads a value in a [`Frame`], which its owner provides.
//! [`Functions`] lists parameters and locals, and where they are available.
//!
//! Addresses are those that the image states (SVMA) unless they say otherwise.
//! A value that cannot be proven is an [`Absence`] with its reason.

mod absence;
mod dwarf;
mod error;
mod expr;
mod functions;
mod listing;
mod probe;
mod probe_argument;
mod probe_fetch;
mod probe_request;
mod request;
mod table;
mod thread_context;
mod thread_locals;
mod types;

pub use absence::Absence;
pub use dwarf::Sources;
pub use error::Error;
pub use expr::{CallSites, Caller, Frame};
pub use functions::{Functions, Instance};
pub use listing::VariableListing;
pub use probe::ProbePoint;
pub use probe_argument::{ProbeArgument, ProbeError};
pub use probe_request::{ProbeField, ProbeRequest};
pub use request::{Path, PathStep, Request};
pub use table::{Match, Variables};
pub use thread_locals::ThreadLocal;
pub use types::{Kind, Value};
