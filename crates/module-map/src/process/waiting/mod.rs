//! Maps that wait until a space is needed: known maps, their lists, and the spaces built from these.

mod cached_map;
mod lazy_space;
mod list;

pub use cached_map::{CachedMap, CachedNames};
pub(crate) use lazy_space::BuiltSpace;
pub use lazy_space::LazySpace;
pub(crate) use list::WaitingMaps;
