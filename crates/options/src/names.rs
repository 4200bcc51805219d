//! Options on names.

use serde::{Deserialize, Serialize};

use crate::{Demangle, json};

/// Names that are looked up for an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NameOptions {
    /// Whether anything is looked up. Without names, a profile has addresses and modules only.
    #[serde(rename = "symbols", deserialize_with = "json::truth")]
    pub look_up: bool,
    /// Whether inlined functions are looked up.
    #[serde(deserialize_with = "json::truth")]
    pub inlines: bool,
    /// Spelling of function names.
    pub demangle: Demangle,
    /// Whether parts that compilers move out of a function (`.cold`, `.part.0`) have its name.
    #[serde(deserialize_with = "json::truth")]
    pub fold_parts: bool,
    /// Whether the numbers in names of threads of pools are left out: `worker-3` is `worker-N`.
    #[serde(deserialize_with = "json::truth")]
    pub fold_threads: bool,
}

impl Default for NameOptions {
    fn default() -> Self {
        Self {
            look_up: true,
            inlines: true,
            demangle: Demangle::Full,
            fold_parts: false,
            fold_threads: false,
        }
    }
}
