//! Questions about a profile: a table of costs, or the tree of calls.
//!
//! ```text
//!   profile -> Index          once: samples counted together, paths as trees
//!   filter  -> Selection      stacks that pass, with their weights
//!           -> table or tree  one pass over the nodes of a tree each
//! ```

mod call_paths;
mod index;
mod paths;
mod question;
mod selection;
mod table;
mod tree;
mod view;

pub use call_paths::CallLabel;
pub use index::Index;
pub use question::{EventChoice, Filter, Patterns, SelectionError};
pub use selection::Selection;
pub use table::{RowKey, TableRow, TableShape, table};
pub use tree::{TreeRow, TreeShape, tree};

/// Rows, and the number of further ones.
pub type Rows<T> = (Vec<T>, usize);
