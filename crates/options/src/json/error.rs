//! Errors of options.

/// Options that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The text is not one JSON object.
    #[error("the options are not one JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no such option.
    #[error("unknown option '{name}'")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// The value of an option cannot be used.
    #[error("option '{name}': {reason}")]
    Value {
        /// The name of the option.
        name: String,
        /// The reason, as a clause.
        reason: String,
    },
}
