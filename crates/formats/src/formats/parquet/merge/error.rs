//! Reasons that files are not merged.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// Reason that files are not merged. Each message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A file cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Not a Parquet file, or a damaged one.
    #[error("cannot read {}: not a Parquet file, or a damaged one: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: ParquetError,
    },
    /// A column has other values than rows.
    #[error("cannot read {}: the column {column} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A file states places outside of it, or more rows than its bytes can hold.
    #[error("cannot read {}: its footer is damaged", path.display())]
    Footer {
        /// The file.
        path: PathBuf,
    },
    /// A file changed while it was read.
    #[error("{} changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A type of values or an encoding that is not read.
    #[error("cannot merge {}: the column {column} is {found}, which is not supported", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The type or encoding.
        found: String,
    },
    /// A column occurs twice, or also in the path.
    #[error("cannot merge {}: it has the column {column} twice, or also in its path", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// Two files have columns of the same name with other types.
    #[error(
        "cannot merge {} with {}: the column {column} has another type",
        path.display(),
        other.display()
    )]
    OtherType {
        /// The file.
        path: PathBuf,
        /// The earlier file.
        other: PathBuf,
        /// The column.
        column: String,
    },
    /// Two files have other kinds of rows, or other versions of them.
    #[error(
        "cannot merge {} with {}: one has {found}, the other {expected}",
        path.display(),
        other.display()
    )]
    OtherRows {
        /// The file.
        path: PathBuf,
        /// The earlier file.
        other: PathBuf,
        /// Kind and version of the rows.
        found: String,
        /// Kind and version of the earlier rows.
        expected: String,
    },
    /// The merged file cannot be written.
    #[error("{0}")]
    Output(#[source] io::Error),
    /// Columns cannot be encoded.
    #[error("cannot encode the merged rows: {0}")]
    Encode(#[source] ParquetError),
}

impl MergeError {
    pub(super) fn parquet(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        |source| Self::Parquet { path: path.to_owned(), source }
    }

    /// Returns the error of writing to a file, which the parquet crate wraps.
    pub(super) fn output(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(source) => Self::Output(*source),
                Err(cause) => Self::Encode(ParquetError::External(cause)),
            },
            error => Self::Encode(error),
        }
    }
}
