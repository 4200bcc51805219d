//! Stored data of analysed recordings.

mod artefacts;
mod file_paths;
mod header_cache;
mod used;

pub(crate) use artefacts::{Account, Artefact, Artefacts};
pub(crate) use file_paths::FilePaths;
pub(crate) use header_cache::HeaderCache;
pub(crate) use used::UsedFile;
