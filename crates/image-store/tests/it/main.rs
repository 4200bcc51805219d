//! Integration tests of the public interface.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

mod bounds;
mod by_content;
mod dumps;
mod elf;
mod files;
mod kernel;
mod memory;
mod perf_maps;
mod remapped;
mod sharing;
mod split;
mod support;
