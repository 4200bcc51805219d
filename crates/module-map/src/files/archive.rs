//! Archives that `perf archive` made: a packed tar file of the entries of a build-id cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::elf::FileBytes;
use crate::elf::Packing;

/// An archive unpacked into a directory of its own, which has the layout of a build-id cache and is removed with this
/// value.
///
/// Source: `tools/perf/perf-archive.sh`.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
}

impl Archive {
    /// Unpacks the archive, by whatever it is packed with, into a fresh directory inside `parent`. With `--all`,
    /// recorders put the archive into another one, beside the recording; that is unpacked, too.
    ///
    /// # Errors
    /// Where it cannot be read, is no tar file, or cannot be unpacked.
    pub fn unpack(archive: &Path, parent: &Path) -> io::Result<Self> {
        let dir = fresh_dir(parent)?;
        let unpacked = Self { dir };
        unpacked.add(archive)?;
        for nested in fs::read_dir(&unpacked.dir)? {
            let path = nested?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("perf.symbols.tar") {
                unpacked.add(&path)?;
            }
        }
        Ok(unpacked)
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn add(&self, archive: &Path) -> io::Result<()> {
        let bytes = FileBytes::map(archive).map_err(io::Error::other)?;
        let packed = bytes.as_slice();
        let reader: Box<dyn io::Read> = match Packing::of(packed) {
            Some(packing) => packing.reader(packed)?,
            None => Box::new(packed),
        };
        let mut archive = tar::Archive::new(reader);
        archive.set_preserve_mtime(false);
        for entry in archive.entries()? {
            let mut entry = entry?;
            // Links lead from the ids to the files of the same archive. Devices and the like are left out.
            if matches!(
                entry.header().entry_type(),
                tar::EntryType::Regular
                    | tar::EntryType::Directory
                    | tar::EntryType::Symlink
                    | tar::EntryType::Link
            ) {
                entry.unpack_in(&self.dir)?;
            }
        }
        Ok(())
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        // What cannot be removed is left to who cleans the directory of temporary files.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A directory that nobody had before.
fn fresh_dir(parent: &Path) -> io::Result<PathBuf> {
    for attempt in 0..1000 {
        let dir = parent.join(format!("unwind-perf-{}-{attempt}", std::process::id()));
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}
