//! Files with the debug information of another file: its separate debug file, the supplementary file that it shares
//! with others, and the files of its split units.

mod search;
mod separate;
mod split_dwarf;

pub(crate) use separate::{find, find_alt, find_by_id};
pub(crate) use split_dwarf::SplitFiles;
