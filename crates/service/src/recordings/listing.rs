//! Detection of recordings below a root, by their names and their first bytes.
#![allow(clippy::disallowed_methods, reason = "folders are listed here, below the roots")]

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType};

use super::root::RecordingRoot;

/// Maximum depth of searched folders.
const DEEPEST: usize = 6;

/// Maximum total number of inspected entries.
const MOST: usize = 50_000;

/// File extensions of recordings, of compressed recordings, and of bundles.
const ENDINGS: &[&str] = &["data", "perf", "old", "gz", "zst", "xz", "bz2", "upb"];

/// Magic bytes of recordings (both byte orders, and the oldest perf) and of compressed files.
/// Source: the kernel's tools/perf/Documentation/perf.data-file-format.txt; RFC 1952, RFC 8878; the formats of xz,
/// bzip2.
const MAGICS: &[&[u8]] = &[
    b"PERFILE2",
    b"2ELIFREP",
    b"PERFFILE",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"\xfd7zXZ\0",
    b"BZh",
];

/// Returns the names of the recordings below a root. Names that are not UTF-8 are omitted.
pub(super) fn names(root: &RecordingRoot) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![(PathBuf::new(), 0)];
    let mut left = MOST;
    while let Some((folder, depth)) = todo.pop() {
        let at = if depth == 0 { Path::new(".") } else { &folder };
        let Ok(opened) = root.open(at) else { continue };
        let Ok(entries) = Dir::read_from(opened.as_fd()) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name.starts_with('.') || left == 0 {
                continue;
            }
            left -= 1;
            let path = folder.join(name);
            let is_recording = root.serves(&path) && is_recording(root, &path);
            if is_recording && let Some(text) = path.to_str() {
                found.push(text.to_owned());
            } else if entry.file_type() == FileType::Directory && depth < DEEPEST {
                todo.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Returns true if the path is a recording, or a folder of `perf record --threads`.
fn is_recording(root: &RecordingRoot, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !ENDINGS.contains(&ending) && !name.starts_with("perf") {
        return false;
    }
    let Ok(file) = root.open(path) else { return false };
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return root.open(&path.join("data")).is_ok_and(|data| begins_as_recording(&data));
    }
    begins_as_recording(&file)
}

fn begins_as_recording(file: &File) -> bool {
    let mut first = [0; 8];
    let got = file.read_at(&mut first, 0).unwrap_or(0);
    let first = first.get(..got).unwrap_or_default();
    has_magic(first)
}

/// Returns true if the first bytes are those of a recording, of a compressed file, or of a bundle.
pub(crate) fn has_magic(first: &[u8]) -> bool {
    MAGICS.iter().any(|magic| first.starts_with(magic))
}
