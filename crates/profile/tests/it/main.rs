//! Queries on small hand-written profiles.

mod diff;
mod query;
