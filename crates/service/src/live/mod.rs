//! Front's view of the live recording: its state, and its recent changes for following clients.

mod recent;
mod watched;

pub(crate) use recent::Next;
pub use watched::{LiveInput, LiveStream};
pub(crate) use watched::{Phase, View, Watched};
