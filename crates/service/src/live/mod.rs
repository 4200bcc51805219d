//! A recording that is watched while it is made, as the front sees it: how that goes, and what came last, for those who
//! look on.

mod recent;
mod watched;

pub(crate) use recent::Next;
pub use watched::{LiveInput, LiveStream};
pub(crate) use watched::{Phase, View, Watched};
