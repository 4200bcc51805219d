//! The mapped files that samples of a recording have frames in, with the files that their names come from: later
//! runs need them.

use std::sync::Arc;

use address::{ById as _, ModuleId};
use cache::{FilePart, StoreEntry};
use hashbrown::{HashMap, HashSet};
use image_store::{FileProof, Image, ImageStore, LoadError, LoadedImage};
use module_map::{MappedKind, Module};
use profile::Profile;
use profile::query::frame_weights;

use crate::Analysis;

/// A mapped file with frames.
#[derive(Debug)]
pub struct SampledFile<'a> {
    /// The path that it was recorded with.
    pub path: &'a [u8],
    /// Frames of samples in it.
    pub frames: u64,
    /// Whether it is at hand.
    pub at_hand: FileAtHand<'a>,
}

/// Whether a mapped file is at hand.
#[derive(Debug)]
pub enum FileAtHand<'a> {
    /// The recorded file, and then the files that belong to it.
    Proven(Vec<FilePart<'a>>),
    /// Nothing proves that the file at the recorded path is the recorded one.
    Unproven,
    /// It is not at hand.
    Gone,
}

impl Analysis {
    /// The files that samples have frames in, those with most frames first. Separate debug files are looked for.
    /// `recording` is the key of the recording, for files without a recorded build-id.
    #[must_use]
    pub fn sampled_files(&self, recording: &str) -> Vec<SampledFile<'_>> {
        let images = &self.sources.files.images;
        let mut frames: Vec<_> = frames_by_module(&self.profile).into_iter().collect();
        frames.sort_unstable_by_key(|&(module, frames)| (std::cmp::Reverse(frames), module));
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for (module, frames) in frames {
            let Some(module) = self.modules().by_id(module) else { continue };
            let Some(at_hand) = at_hand(module, images, recording) else { continue };
            let is_new = match &at_hand {
                FileAtHand::Proven(parts) => {
                    parts.first().is_some_and(|part| known.insert(part.entry.clone()))
                }
                FileAtHand::Unproven | FileAtHand::Gone => true,
            };
            if is_new {
                found.push(SampledFile { path: &module.path, frames, at_hand });
            }
        }
        found
    }
}

fn frames_by_module(profile: &Profile) -> HashMap<ModuleId, u64> {
    let mut counts = HashMap::new();
    for (frame, &weight) in profile.frames.iter().zip(&frame_weights(profile)) {
        let module = profile.locations.get(frame.location).and_then(|location| location.module);
        if let Some(module) = module.filter(|_| weight > 0) {
            *counts.entry(module).or_default() += weight;
        }
    }
    counts
}

/// Whether the file of a module is at hand; `None` if the module is no file.
fn at_hand<'a>(
    module: &'a Arc<Module>,
    images: &'a ImageStore,
    recording: &str,
) -> Option<FileAtHand<'a>> {
    if !matches!(module.kind, MappedKind::File | MappedKind::Unopened) {
        return None;
    }
    let file = match images.image(module) {
        Ok(file) => file,
        Err(LoadError::NoFile | LoadError::NotOpened) => return None,
        Err(_) => return Some(FileAtHand::Gone),
    };
    let entry = match images.proof(module) {
        // Made of a dump of JIT code, or given by the user.
        Some(FileProof::Given) => return None,
        Some(FileProof::BuildId) => {
            // The whole build-id is in the file; records have 20 bytes at most.
            file.image()
                .build_id()
                .or(images.deciding_build_id(module))
                .map(StoreEntry::of_build_id)
        }
        Some(FileProof::Inode) => {
            module.copy_name().map(|copy| StoreEntry::of_recording(recording, &copy))
        }
        Some(FileProof::None) | None => None,
    };
    Some(match entry {
        Some(entry) => FileAtHand::Proven(parts(module, file, entry, images)),
        None => FileAtHand::Unproven,
    })
}

/// A file, and the files that belong to it.
fn parts<'a>(
    module: &'a Module,
    file: &'a LoadedImage,
    entry: StoreEntry,
    images: &'a ImageStore,
) -> Vec<FilePart<'a>> {
    let part = |entry: StoreEntry, name: &str, image| FilePart {
        entry,
        name: name.to_owned(),
        image,
        recorded: &module.path,
    };
    let own = file.image();
    let mut parts = vec![part(entry.clone(), "elf", own)];
    if let Some(debug) = file.debug(images) {
        // It is found by the build-id, or by the name of the link beside the file that is opened.
        match (debug.build_id(), own.build_id()) {
            (Some(id), Some(own)) if id == own => {
                parts.push(part(StoreEntry::of_build_id(id), "debug", debug));
            }
            _ => parts.extend(link_name(debug).map(|name| part(entry.clone(), name, debug))),
        }
    }
    if let Some(alt) = file.alt(images)
        && let Some(id) = alt.build_id()
    {
        parts.push(part(StoreEntry::of_build_id(id), "debug", alt));
    }
    // It is looked for beside the file that is opened, too.
    parts.extend(file.package(images).map(|package| part(entry, "elf.dwp", package)));
    parts
}

/// The name of a debug file that a link names, unless another file of an entry has it.
fn link_name(debug: &Image) -> Option<&str> {
    let name = debug.path().file_name()?.to_str()?;
    (!["elf", "elf.dwp", "debug", "unwind-perf"].contains(&name)).then_some(name)
}
