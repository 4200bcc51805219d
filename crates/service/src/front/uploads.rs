//! Untrusted uploaded recordings: stored in their own folder under the hash of their content, with limits per file and
//! in total. Files that a recording names are not opened.
#![allow(clippy::disallowed_methods, reason = "the folder of uploads is listed here")]

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use host::NewFile;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use super::service::{Service, no_space};
use crate::problem::{Problem, ProblemKind, not_a_recording};
use crate::recordings::{Opened, has_magic, hex};

/// Maximum pause of a client between parts of the body.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(30);

/// Number of first bytes that identify a recording, and of hexadecimal digits in a stored name.
const MAGIC: usize = 8;
const HASH: usize = 16;

/// Maximum bytes of one recording.
const MOST_OF_ONE: u64 = 4 << 30;
/// Maximum bytes of all recordings.
const MOST: u64 = 20 << 30;

/// Folder of uploaded recordings.
#[derive(Debug)]
pub(crate) struct Uploads {
    folder: PathBuf,
    /// Serializes uploads, so that the limit on their total size holds.
    turn: Mutex<()>,
}

impl Uploads {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), turn: Mutex::new(()) }
    }

    /// Returns the total size of the uploads, in bytes.
    fn size(&self) -> u64 {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return 0 };
        entries.filter_map(|it| it.ok()?.metadata().ok()).map(|it| it.size()).sum()
    }

    /// Removes an upload. Other files, which the operator put there, are retained.
    pub(super) fn remove(&self, name: &str) {
        if is_stored_name(name) {
            // It may be removed already.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

/// Receives a recording. Its file name consists of the plain characters of the sender's name and the hash of its
/// content.
pub(crate) async fn receive(
    service: &Arc<Service>,
    name: &str,
    body: Body,
) -> Result<Opened, Problem> {
    let off = || {
        Problem::new(ProblemKind::NotAllowed)
            .hint("the operator of the service can name a folder for uploads")
    };
    let uploads = service.uploads.as_ref().ok_or_else(off)?;
    let _turn = uploads.turn.lock().await;
    let room = MOST.saturating_sub(uploads.size()).min(MOST_OF_ONE);
    let too_large =
        || Problem::new(ProblemKind::TooLarge).detail(format!("more than {room} bytes"));
    if body.size_hint().lower() > room {
        return Err(too_large());
    }
    let place = uploads.folder.join("upload");
    let mut file = NewFile::create(&place).map_err(|error| no_space(&error))?;
    let mut digest = Sha256::new();
    let (mut size, mut first) = (0, Vec::new());
    let mut body = body;
    loop {
        let late = |_| Problem::new(ProblemKind::Deadline).detail("the upload paused for too long");
        let Some(frame) = tokio::time::timeout(PAUSE, body.frame()).await.map_err(late)? else {
            break;
        };
        let broken = |_| Problem::new(ProblemKind::BadRequest).detail("the upload was interrupted");
        let Ok(bytes) = frame.map_err(broken)?.into_data() else { continue };
        size += bytes.len() as u64;
        if size > room {
            return Err(too_large());
        }
        first.extend(bytes.iter().take(MAGIC - first.len()));
        if first.len() == MAGIC && !has_magic(&first) {
            break;
        }
        digest.update(&bytes);
        file.write_all(&bytes).map_err(|error| no_space(&error))?;
    }
    if !has_magic(&first) {
        let text = not_a_recording(&sent_name(name));
        return Err(Problem::new(ProblemKind::NotARecording).detail(text));
    }
    let hash: String = hex(&digest.finalize()).chars().take(HASH).collect();
    let name = format!("{}-{hash}.data", plain(name));
    let place = uploads.folder.join(&name);
    // An existing file has the same bytes, and may have a result.
    if !place.is_file() {
        file.complete_as(&place).map_err(|error| no_space(&error))?;
    }
    let stored = service.roots.by_name(&place.to_string_lossy());
    stored.map_err(|problem| service.roots.named(problem))
}

/// Returns the file name that the sender stated, for messages.
fn sent_name(name: &str) -> String {
    let name: String = name.rsplit('/').next().unwrap_or_default().chars().take(100).collect();
    if name.is_empty() { "the upload".to_owned() } else { name }
}

/// Returns true for names of received recordings.
fn is_stored_name(name: &str) -> bool {
    let hash = name.strip_suffix(".data").and_then(|stem| stem.rsplit_once('-'));
    let is_hash = |hash: &str| hash.len() == HASH && hash.bytes().all(|it| it.is_ascii_hexdigit());
    !name.contains('/') && hash.is_some_and(|(_, hash)| is_hash(hash))
}

/// Returns the plain characters of a name.
fn plain(name: &str) -> String {
    let stem = name.rsplit('/').next().unwrap_or_default();
    let stem = stem.strip_suffix(".data").unwrap_or(stem);
    let letters = stem.chars().filter(|it| it.is_ascii_alphanumeric() || "_-".contains(*it));
    let plain: String = letters.take(40).collect();
    if plain.is_empty() { "upload".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use host::ScratchDir;

    use super::*;

    #[test]
    fn only_received_files_are_removed() {
        let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let uploads = Uploads::new(folder.path());
        let names = ["a-0123456789abcdef.data", "a-0123.data", "perf.data", "0123456789abcdef"];
        for name in names {
            std::fs::write(folder.path().join(name), b"x").unwrap();
            uploads.remove(name);
        }
        uploads.remove("../a-0123456789abcdef.data");
        let left = names.map(|name| folder.path().join(name).exists());
        assert_eq!(left, [false, true, true, true]);
        assert_eq!(sent_name("../my notes.cpp"), "my notes.cpp");
        assert_eq!(sent_name(""), "the upload");
    }

    #[test]
    fn names_of_senders_are_plain() {
        assert_eq!(plain("../../etc/passwd"), "passwd");
        assert_eq!(plain("my perf<b>.data"), "myperfb");
        assert_eq!(plain(".."), "upload");
        assert_eq!(plain(&"a".repeat(100)).len(), 40);
    }
}
