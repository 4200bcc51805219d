//! JSON forms of options: single values, and objects, which reject unknown options by name.

mod error;
pub(crate) mod object;
mod values;

pub use error::OptionsError;
pub(crate) use values::{
    NumberOrText, count, each, ids, names, parsed, parsed_option, path, paths, size, texts, truth,
};
