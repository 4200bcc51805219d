//! Samples through the whole replay, with the programs and stacks of the tests of the crate `unwinder`.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod beginnings;
mod emulated;
mod late;
mod processors;
mod recorded;
mod repair;
mod replayed;
mod stored_rules;
mod tail_calls;
mod walked;
mod withheld;
#[path = "../../../unwinder/tests/it/world.rs"]
#[allow(dead_code, reason = "the tests of the crate `unwinder` use more of it")]
mod world;
