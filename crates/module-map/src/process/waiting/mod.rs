//! Maps that wait until a space is needed: known maps, their lists, and the spaces built from these.

mod known_map;
mod lazy_space;
mod list;

pub use known_map::{KnownMap, KnownNames};
pub use lazy_space::LazySpace;
pub(crate) use lazy_space::MadeSpace;
pub(crate) use list::WaitingMaps;
