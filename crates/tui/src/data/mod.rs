//! The data of the view: a profile prepared for queries, the results of queries, and text of names.

mod callers;
mod code;
mod costs;
mod names;
mod results;
mod snapshot;
mod tree;

pub(crate) use callers::{Neighbour, neighbours};
pub(crate) use code::{CodeLine, code_lines, hottest_code};
pub(crate) use costs::share_of;
pub(crate) use names::{cut, file_name, safe, short};
pub(crate) use results::{PATTERN_BYTES, Query, Results, SourceLine, events, exactly};
pub(crate) use snapshot::Snapshot;
pub(crate) use tree::{OpenNodes, Tree};
