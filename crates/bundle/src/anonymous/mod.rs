//! What a bundle has in the place of a machine and its files when no name of these may leave it.
//!
//! Nothing is taken out of the files: what stands for them is made anew, of the names of the functions that the profile
//! shows and of what tells where they are (program headers, build-ids, lines). So a name that nobody thought of has no way
//! into the bundle. Paths, threads, hosts and arguments have pseudonyms, by a salt that is forgotten.
//!
//! | what | what stands for it |
//! |---|---|
//! | an ELF file | one without code and data: program headers, build-id, a symbol for each function, debug information of the addresses alone |
//! | the list of kernel symbols | one of the functions in the profile |
//! | maps of run-time compilers, jitdumps | a map of the functions in the profile, for each process |
//! | host name, release, environment | pseudonyms of the first two; nothing |

mod compare;
mod dwarf;
mod elf;
mod files;
mod function_names;
mod lists;
mod machine;
mod pseudonyms;

pub use self::compare::{Differences, differences};
pub use self::machine::{AnonymousMachine, KERNEL_LIST, RECORDING};
pub use self::pseudonyms::Pseudonyms;
