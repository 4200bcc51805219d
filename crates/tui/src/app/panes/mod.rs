//! The parts of the view that are made when they are shown.

mod callers;
mod source;
mod tree;

pub(crate) use callers::CallersPane;
pub(crate) use source::{SourcePane, SourceRow};
pub(crate) use tree::TreePane;
