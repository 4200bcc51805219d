//! Files of the kernel and its modules: paths and contents.

mod candidates;
mod content;
mod module_lists;

pub(crate) use candidates::candidates;
pub(crate) use content::parse;
pub(crate) use module_lists::{LimitedLists, ModuleLists};
