//! Tables for people at a terminal: the highest costs, and the call tree.

mod annotated;
mod labels;
mod look;
mod top;
mod top_rows;
mod top_waits;
mod tree;

pub use annotated::{AnnotatedFunction, AnnotatedSource};
pub(crate) use labels::truncate;
pub use look::ConsoleLook;
pub use top::TopTable;
pub use tree::TreeTable;
