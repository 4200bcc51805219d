//! Helpers that printers share: parallel rendering in chunks, text of numbers and names, trees of names.

pub(crate) mod chunks;
pub(crate) mod code_ranges;
pub(crate) mod encoding;
pub(crate) mod escaped;
pub(crate) mod field_value;
pub(crate) mod frame_texts;
pub(crate) mod inline_rows;
pub(crate) mod joined_paths;
pub(crate) mod name_tree;
pub(crate) mod numbers;
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod row_group;
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod start;
pub(crate) mod text;
pub(crate) mod truncation;
pub(crate) mod width;
