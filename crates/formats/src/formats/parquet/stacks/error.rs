//! Reasons that a file is not read as aggregated stacks.

/// Reason that a file is not read as aggregated stacks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StacksError {
    /// Not a Parquet file, or a damaged one.
    #[error("not a Parquet file, or a damaged one: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// Another kind of table.
    #[error(
        "its rows are {found}; expected unwind-perf-stacks, as `unwind-perf -f parquet --stacks` writes them"
    )]
    OtherSchema {
        /// The stated schema.
        found: String,
    },
    /// Another version of the columns.
    #[error("its stacks have version {found}; this program reads version {expected}")]
    OtherVersion {
        /// The stated version.
        found: String,
        /// The version that this program writes.
        expected: &'static str,
    },
    /// A column is missing or has another type.
    #[error("its column {column} is missing or has another type")]
    Column {
        /// The column.
        column: &'static str,
    },
    /// A page of a column is damaged, or a value is missing.
    #[error("the column {column} is damaged: it has other values than rows or frames")]
    Damaged {
        /// The column.
        column: &'static str,
    },
    /// An encoding of values that is not read.
    #[error(
        "the column {column} is encoded as {encoding}; this program reads plain values and dictionaries"
    )]
    Encoding {
        /// The column.
        column: &'static str,
        /// The encoding.
        encoding: String,
    },
    /// More rows than the bytes of a file can hold.
    #[error("it states {rows} rows in {bytes} bytes, which is damage")]
    TooManyRows {
        /// The stated number of rows.
        rows: u64,
        /// Size of the file.
        bytes: u64,
    },
    /// A value has no meaning.
    #[error("the column {column} has the value {value:?}, which this version does not know")]
    Value {
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
    },
}

impl StacksError {
    /// A value without a meaning.
    pub(super) fn value(column: &'static str, value: &[u8]) -> Self {
        Self::Value { column, value: String::from_utf8_lossy(value).into_owned() }
    }
}
