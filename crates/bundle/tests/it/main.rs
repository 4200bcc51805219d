//! Bundles, written and read: those of this crate, those of strangers, and recordings that are written anew for them.

mod hostile;
mod rewrite;
mod round_trip;
