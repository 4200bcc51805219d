//! Archives that `perf archive` made: a compressed tar file of the entries of a build-id cache.

use std::io::{self, Read as _};
use std::path::Path;

use budget::{Allowance, Budget, Resource};
use host::{Host, Origin, ScratchDir};

use crate::elf::FileCompression;

/// What an entry counts at least: its header, and its place in the file system.
const SMALLEST: u64 = 512;
/// The zeros at the end of an archive, of which some writers make 10 KiB.
const TRAILER: u64 = 1 << 20;

/// An archive unpacked into a directory of its own, which has the layout of a build-id cache and is removed with this
/// value.
///
/// Source: `tools/perf/perf-archive.sh`.
#[derive(Debug)]
pub struct Archive {
    dir: ScratchDir,
}

impl Archive {
    /// Unpacks an archive that the user named, however it is compressed, into a fresh directory inside `parent`. With
    /// `--all`, recorders put the archive into another one, beside the recording; that is unpacked, too.
    ///
    /// # Errors
    /// Where it cannot be read, is no tar file, or cannot be unpacked.
    ///
    /// All of them together may unpack to as much as `budget` has for the outer one.
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
        // What was unpacked may be a link.
        let origin = Origin::Stored { root: unpacked.dir() };
        for nested in host.list(unpacked.dir(), origin).map_err(io::Error::other)? {
            if nested.name.to_string_lossy().starts_with("perf.symbols.tar") {
                unpacked.add(host, &unpacked.dir().join(&nested.name), origin, &mut allowance)?;
            }
        }
        Ok(unpacked)
    }

    /// The directory.
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
        // Headers and names are read into memory, too; what is stored is counted by its own size, since that of a sparse
        // file is not in the archive.
        let reader = reader.take(allowance.left().saturating_add(TRAILER));
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
                let size = entry.size().max(SMALLEST);
                allowance.take(size).map_err(io::Error::other)?;
                self.dir.hold(size);
                entry.unpack_in(self.dir())?;
            }
        }
        Ok(())
    }
}
