//! Integration tests of bundles: round trips, untrusted bundles, and rewritten recordings.

mod growing;
mod hostile;
mod rewrite;
mod round_trip;
