//! Stored data of analysed recordings.

mod artefacts;
mod described;
mod known;
mod used;

pub(crate) use artefacts::{Account, Artefact, Artefacts};
pub(crate) use described::Described;
pub(crate) use known::KnownFiles;
pub(crate) use used::UsedFile;
