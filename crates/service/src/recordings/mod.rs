//! Served recordings: files below the roots that the operator named.

mod listing;
mod place;
mod root;

pub(crate) use place::{Opened, PlaceId, Recording, hex};
pub(crate) use root::{Root, Roots};
