//! Questions about a profile: a table of costs, or the tree of calls.
//!
//! ```text
//!   profile -> Index          once: samples counted together, paths as trees
//!   filter  -> Selection      stacks that pass, with their weights
//!           -> table or tree  one pass over the nodes of a tree each
//! ```

mod index;
mod paths;
mod question;
mod selection;
mod table;
mod tree;

pub use index::Index;
pub use question::{Filter, Patterns, SelectionError};
pub use selection::Selection;
pub use table::{RowKey, TableRow, table};
pub use tree::{TreeRow, TreeShape, tree};

/// Rows, and how many more there are.
pub type Rows<T> = (Vec<T>, usize);
