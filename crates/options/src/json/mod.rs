//! JSON forms of options: single values, and objects that name every option that is not known.

mod error;
pub(crate) mod object;
mod values;

pub use error::OptionsError;
pub(crate) use values::{NumberOrText, count, each, ids, names, path, paths, size, texts, truth};
