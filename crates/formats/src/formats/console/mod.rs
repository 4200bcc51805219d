//! Tables for people at a terminal: the highest costs, and the call tree.

mod annotated;
mod annotated_json;
mod labels;
mod look;
mod row_keys;
mod short_names;
mod span_table;
mod top;
mod top_columns;
mod top_rows;
mod top_waits;
mod tree;
mod tree_rows;

pub use annotated::{AnnotatedFunction, AnnotatedSource};
pub use labels::{cost as cost_text, unit as cost_title};
pub use look::ConsoleLook;
pub use row_keys::RowKeys;
pub use span_table::{SpanDocument, SpanDurations};
pub use top::TopTable;
pub use tree::TreeTable;
