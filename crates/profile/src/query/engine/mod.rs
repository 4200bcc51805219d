//! Queries on a profile: a table of costs, or the call tree.
//!
//! ```text
//!   profile -> Index          once: samples grouped, paths as trees
//!   filter  -> Selection      matching stacks, with their weights
//!           -> table or tree  one pass each over the nodes of a tree
//! ```

mod call_paths;
mod filter;
mod index;
mod neighbors;
mod paths;
mod rewrite;
mod rules;
mod sample_sets;
mod selection;
mod table;
mod tree;
mod values;
mod view;
mod waits;

pub use call_paths::CallLabel;
pub use filter::{EventChoice, Filter, FunctionFilter, MOST_NARROWING, Patterns, SelectionError};
pub use index::Index;
pub use neighbors::{Neighbors, neighbors};
pub use rewrite::FilteredSamples;
pub use selection::Selection;
pub use table::{RowKey, TableRow, TableShape, table};
pub use tree::{TreeRow, TreeShape, tree};
pub use values::{NoValue, RowValue, ValueColumns};
pub use waits::{WaitCosts, all_waits, wait_costs};

/// Rows, and the number of omitted ones.
pub type LimitedRows<T> = (Vec<T>, usize);
