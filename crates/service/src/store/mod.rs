//! What is kept of analysed recordings on the disk.

mod artefacts;
mod described;
mod used;

pub(crate) use artefacts::{Artefact, Artefacts};
pub(crate) use described::Described;
pub(crate) use used::UsedFile;
