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
use crate::problem::{Problem, ProblemKind};
use crate::recordings::{Opened, hex};

/// Maximum pause of a client between parts of the body.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(30);

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
    let mut size = 0;
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
        digest.update(&bytes);
        file.write_all(&bytes).map_err(|error| no_space(&error))?;
    }
    let hash: String = hex(&digest.finalize()).chars().take(16).collect();
    let name = format!("{}-{hash}.data", plain(name));
    let place = uploads.folder.join(&name);
    // An existing file has the same bytes, and may have a result.
    if !place.is_file() {
        file.complete_as(&place).map_err(|error| no_space(&error))?;
    }
    service.roots.by_name(&place.to_string_lossy())
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
    use super::*;

    #[test]
    fn names_of_senders_are_plain() {
        assert_eq!(plain("../../etc/passwd"), "passwd");
        assert_eq!(plain("my perf<b>.data"), "myperfb");
        assert_eq!(plain(".."), "upload");
        assert_eq!(plain(&"a".repeat(100)).len(), 40);
    }
}
