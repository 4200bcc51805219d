//! Archives of `perf archive`: a compressed tar file with the entries of a build-id cache.

use std::io::{self, Read as _};
use std::path::Path;

use budget::{Allowance, Budget, Resource};
use host::{Host, Origin, ScratchDir};

use crate::elf::FileCompression;

/// Minimum cost of an entry, in bytes: its header, and its entry in the file system.
const SMALLEST: u64 = 512;
/// Limit for the zeros at the end of an archive, in bytes; some writers append 10 KiB.
const TRAILER: u64 = 1 << 20;

/// An archive unpacked into a temporary directory with the layout of a build-id cache. The
/// directory is removed on drop.
///
/// Source: `tools/perf/perf-archive.sh`.
#[derive(Debug)]
pub struct Archive {
    dir: ScratchDir,
}

impl Archive {
    /// Unpacks an archive named by the user, with any compression, into a new directory inside `parent`.
    /// With `--all`, recorders put the archive and the recording into another archive; the inner one is unpacked, too.
    /// The budget of the outer archive limits the size of both together.
    ///
    /// # Errors
    /// If the archive cannot be read, is not a tar file, or cannot be unpacked.
    pub fn unpack(
        host: &dyn Host,
        archive: &Path,
        parent: &Path,
        budget: &Budget,
    ) -> io::Result<Self> {
        let unpacked = Self { dir: ScratchDir::below(parent)? };
        let size = host.stat(archive, Origin::User).map_err(io::Error::other)?.stamp.size;
        let mut allowance = budget.allowance(Resource::UnpackedBytes, size);
        unpacked.add(host, archive, Origin::User, &mut allowance)?;
        // An unpacked entry can be a link.
        let origin = Origin::Stored { root: unpacked.dir() };
        for nested in host.list(unpacked.dir(), origin).map_err(io::Error::other)? {
            if nested.name.to_string_lossy().starts_with("perf.symbols.tar") {
                unpacked.add(host, &unpacked.dir().join(&nested.name), origin, &mut allowance)?;
            }
        }
        Ok(unpacked)
    }

    /// Path of the directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn add(
        &self,
        host: &dyn Host,
        archive: &Path,
        origin: Origin<'_>,
        allowance: &mut Allowance,
    ) -> io::Result<()> {
        let content = host.open(archive, origin).map_err(io::Error::other)?.content;
        let bytes = &content[..];
        let reader: Box<dyn io::Read + '_> = match FileCompression::of(bytes) {
            Some(compression) => compression.reader(bytes)?,
            None => Box::new(bytes),
        };
        // The limit covers headers and names, too, which are read into memory. Entries are counted by their stated
        // size, because the archive omits the holes of sparse files.
        let reader = reader.take(allowance.left().saturating_add(TRAILER));
        let mut archive = tar::Archive::new(reader);
        archive.set_preserve_mtime(false);
        for entry in archive.entries()? {
            let mut entry = entry?;
            // Links lead from the ids to the files of the same archive. Devices and the like are skipped.
            if matches!(
                entry.header().entry_type(),
                tar::EntryType::Regular
                    | tar::EntryType::Directory
                    | tar::EntryType::Symlink
                    | tar::EntryType::Link
            ) {
                let size = entry.size().max(SMALLEST);
                allowance.take(size).map_err(io::Error::other)?;
                self.dir.hold(size);
                entry.unpack_in(self.dir())?;
            }
        }
        Ok(())
    }
}
