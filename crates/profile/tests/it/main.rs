//! Queries on small hand-written profiles.

mod diff;
mod function_filters;
mod query;
