//! Substitutes for a host and its files in a bundle that must not contain their names.
//!
//! Nothing is copied from the files. Substitutes are generated from the functions in the profile and their locations
//! (program headers, build-ids, lines), so an overlooked name cannot enter the bundle. Paths, threads, hosts and
//! arguments are replaced by pseudonyms, with a salt that is discarded.
//!
//! | original | substitute |
//! |---|---|
//! | an ELF file | program headers, build-id, a symbol per function, debug information of the addresses; no code or data |
//! | the list of kernel symbols | a list of the functions in the profile |
//! | maps of run-time compilers, jitdumps | a map of the functions in the profile, for each process |
//! | host name, release, environment | pseudonyms of the first two; the environment is omitted |

mod compare;
mod dwarf;
mod elf;
mod files;
mod function_names;
mod lists;
mod machine;
mod pseudonyms;
mod source_symbols;

pub use self::compare::{Differences, differences};
pub use self::machine::{AnonymousMachine, KERNEL_LIST, RECORDING};
pub use self::pseudonyms::Pseudonyms;
