//! Maps that wait until a space is needed: what is known of each by then, the lists that they wait in, and the spaces that
//! are made of these.

mod known_map;
mod lazy_space;
mod list;

pub use known_map::{KnownMap, KnownNames};
pub use lazy_space::LazySpace;
pub(crate) use lazy_space::MadeSpace;
pub(crate) use list::WaitingMaps;
