//! What is kept of analysed recordings on the disk.

mod artefacts;
mod described;
mod known;
mod used;

pub(crate) use artefacts::{Account, Artefact, Artefacts};
pub(crate) use described::Described;
pub(crate) use known::KnownFiles;
pub(crate) use used::UsedFile;
