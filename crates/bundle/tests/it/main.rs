//! Integration tests of bundles: round trips, untrusted bundles, and rewritten recordings.

mod hostile;
mod rewrite;
mod round_trip;
