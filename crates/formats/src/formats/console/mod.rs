//! Tables for people at a terminal: what costs most, and the tree of calls.

mod annotated;
mod labels;
mod look;
mod top;
mod top_rows;
mod tree;

pub use annotated::{AnnotatedFunction, AnnotatedSource};
pub(crate) use labels::cut;
pub use look::ConsoleLook;
pub use top::TopTable;
pub use tree::TreeTable;
