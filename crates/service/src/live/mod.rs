//! A recording that is watched while it is made, as the front sees it: how that goes, and what came last, for those who
//! look on.

mod recent;
mod run;
mod watched;

pub(crate) use recent::Next;
pub(crate) use run::run;
pub use watched::{LiveInput, LiveStream};
pub(crate) use watched::{View, Watched};
