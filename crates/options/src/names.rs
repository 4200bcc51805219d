//! Options on names.

use serde::{Deserialize, Serialize};

use crate::{Demangle, json};

/// Options of the look-up of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NameOptions {
    /// If true, names are looked up. Without names, a profile only has addresses and modules.
    #[serde(rename = "symbols", deserialize_with = "json::truth")]
    pub look_up: bool,
    /// If true, inlined functions are looked up.
    #[serde(deserialize_with = "json::truth")]
    pub inlines: bool,
    /// Spelling of function names; `None` for that of the output, mostly [`Demangle::Full`].
    pub demangle: Option<Demangle>,
    /// If true, parts that compilers move out of a function (`.cold`, `.part.0`) have its name.
    #[serde(deserialize_with = "json::truth")]
    pub fold_parts: bool,
    /// If true, the numbers in thread names of pools are omitted: `worker-3` becomes `worker-N`.
    #[serde(deserialize_with = "json::truth")]
    pub fold_threads: bool,
    /// If true, only names that no build-id gives later are looked up: those of code in memory and of files without a
    /// build-id.
    #[serde(deserialize_with = "json::truth")]
    pub only_without_build_id: bool,
}

impl Default for NameOptions {
    fn default() -> Self {
        Self {
            look_up: true,
            inlines: true,
            demangle: None,
            fold_parts: false,
            fold_threads: false,
            only_without_build_id: false,
        }
    }
}
