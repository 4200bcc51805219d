//! Questions about a profile: a table of what costs most, or the tree of calls.
//!
//! ```text
//!   profile -> Index          once: samples counted together, paths as trees
//!   filter  -> Selection      what passes: stacks, with their weights
//!           -> table or tree  one pass over the nodes of a tree each
//! ```

mod answer;
mod index;
mod paths;
mod selection;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use answer::rows;
pub(super) use index::Index;
