//! The mapped files with frames of samples, and the files with their symbols, which later runs need.

use std::sync::Arc;

use address::ModuleId;
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
    /// The recorded path.
    pub path: &'a [u8],
    /// Number of frames of samples in it.
    pub frames: u64,
    /// Its availability.
    pub availability: FileAvailability<'a>,
}

/// Availability of a mapped file.
#[derive(Debug)]
pub enum FileAvailability<'a> {
    /// The recorded file, followed by the files that belong to it.
    Verified(Vec<FilePart<'a>>),
    /// Nothing verifies that the file at the recorded path is the recorded one.
    Unverified,
    /// The file is missing.
    Missing,
}

impl Analysis {
    /// Returns the files with frames of samples, most frames first, with their separate debug files.
    /// `recording` is the key of the recording, for files without a recorded build-id.
    #[must_use]
    pub fn sampled_files(&self, recording: &str) -> Vec<SampledFile<'_>> {
        let Some(images) = self.sources.images() else { return Vec::new() };
        let mut frames: Vec<_> = frames_by_module(&self.profile).into_iter().collect();
        frames.sort_unstable_by_key(|&(module, frames)| (std::cmp::Reverse(frames), module));
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for (module, frames) in frames {
            let Some(module) = self.sources.module(module) else { continue };
            let Some(availability) = availability(module, images, recording) else { continue };
            let is_new = match &availability {
                FileAvailability::Verified(parts) => {
                    parts.first().is_some_and(|part| known.insert(part.entry.clone()))
                }
                FileAvailability::Unverified | FileAvailability::Missing => true,
            };
            if is_new {
                found.push(SampledFile { path: &module.path, frames, availability });
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

/// Returns the availability of a module's file; `None` if the module is not a file.
fn availability<'a>(
    module: &'a Arc<Module>,
    images: &'a ImageStore,
    recording: &str,
) -> Option<FileAvailability<'a>> {
    if !matches!(module.kind, MappedKind::File | MappedKind::Unopened) {
        return None;
    }
    let file = match images.image(module) {
        Ok(file) => file,
        Err(LoadError::NoFile | LoadError::NotOpened) => return None,
        Err(_) => return Some(FileAvailability::Missing),
    };
    let entry = match images.proof(module) {
        // Made from a dump of JIT code, or given by the user.
        Some(FileProof::UserNamed) => return None,
        Some(FileProof::BuildId) => {
            // The file has the whole build-id; records have 20 bytes at most.
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
        Some(entry) => FileAvailability::Verified(parts(module, file, entry, images)),
        None => FileAvailability::Unverified,
    })
}

/// Returns a file and the files that belong to it.
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
        // A debug file is found by build-id, or by the link's file name next to the opened file.
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
    // A package is also found next to the opened file.
    parts.extend(file.package(images).map(|package| part(entry, "elf.dwp", package)));
    parts
}

/// Returns the name of a debug file for its link, unless an entry uses that name for another file.
fn link_name(debug: &Image) -> Option<&str> {
    let name = debug.path().file_name()?.to_str()?;
    (!["elf", "elf.dwp", "debug", "unwind-perf"].contains(&name)).then_some(name)
}
