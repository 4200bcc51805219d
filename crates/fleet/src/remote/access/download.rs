//! Download of an object to a local file, with bounded memory.
#![allow(clippy::disallowed_methods, reason = "the private file of a download is written here")]

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::statvfs;

use super::address::Address;
use super::failure::Failure;
use super::stores::{Object, ObjectState, Stores};
use crate::manifest::Status;

/// Space that a download leaves free on the disk, in bytes.
const RESERVE: u64 = 64 << 20;
/// Number of bytes after which the free space is checked again.
const CHECKED: u64 = 16 << 20;

/// A complete local file with an object.
#[derive(Debug)]
pub(crate) struct Download {
    pub(crate) path: PathBuf,
    pub(crate) state: ObjectState,
}

/// Downloads an object into a folder. Returns `None` if it is in the `known` state.
///
/// # Errors
/// If the object cannot be read, or the disk has not enough space.
pub(super) fn download(
    stores: &Stores,
    address: &Address,
    known: Option<&ObjectState>,
    folder: &Path,
) -> Result<Option<Download>, Failure> {
    let Some(mut object) = stores.get(address, known)? else { return Ok(None) };
    require_space(folder, object.state.bytes)?;
    let path = folder.join(address.name());
    let file = File::create_new(&path).map_err(|error| cannot_write(folder, &error))?;
    copy(&mut object, &file, folder)?;
    let modified = u64::try_from(object.state.modified).unwrap_or(0);
    if modified > 0 {
        let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(modified));
        // The day of the recording; a file system without times has that of the download.
        let _ = modified.map(|modified| file.set_modified(modified));
    }
    Ok(Some(Download { path, state: object.state }))
}

/// Writes the bytes of an object to a file.
fn copy(object: &mut Object<'_>, mut file: &File, folder: &Path) -> Result<(), Failure> {
    let expected = object.state.bytes;
    let (mut received, mut checked) = (0_u64, 0_u64);
    while let Some(chunk) = object.next()? {
        received = received.saturating_add(chunk.len() as u64);
        if received > expected {
            break;
        }
        if received - checked >= CHECKED {
            checked = received;
            require_space(folder, 0)?;
        }
        file.write_all(&chunk).map_err(|error| cannot_write(folder, &error))?;
    }
    if received == expected {
        return Ok(());
    }
    let amount = if received > expected { "more than" } else { "only a part of" };
    let message = format!("the server sent {amount} the {expected} bytes of the object");
    Err(Failure::new(Status::GaveUp, message))
}

/// Returns an error unless the disk of a folder has space for `bytes` and a reserve.
fn require_space(folder: &Path, bytes: u64) -> Result<(), Failure> {
    let Ok(disk) = statvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes.saturating_add(RESERVE) <= free {
        return Ok(());
    }
    let parent = folder.ancestors().nth(2).unwrap_or(folder).display();
    let message = format!(
        "no space: {parent} has {} MiB free, and {} MiB are required (TMPDIR names another folder)",
        free >> 20,
        bytes.saturating_add(RESERVE) >> 20
    );
    Err(Failure::new(Status::GaveUp, message))
}

fn cannot_write(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(Status::GaveUp, format!("cannot write {}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_larger_than_the_disk_is_not_downloaded() {
        let folder = std::env::temp_dir().join("a/b");
        assert_eq!(require_space(&std::env::temp_dir(), 0), Ok(()));
        // The folder is missing, so its disk is unknown.
        assert_eq!(require_space(&folder, u64::MAX), Ok(()));
        let failure = require_space(&std::env::temp_dir(), u64::MAX).expect_err("no space");
        assert_eq!(failure.status, Status::GaveUp);
        let required =
            " MiB free, and 17592186044415 MiB are required (TMPDIR names another folder)";
        assert!(failure.message.ends_with(required), "{}", failure.message);
    }
}
