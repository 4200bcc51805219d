//! A regular file between its check and its opening: the checked file is the one that is opened.
#![allow(clippy::disallowed_methods, reason = "the host that everything else asks is made of this")]

use std::fs::{File, Metadata, OpenOptions};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::confined::{open_inside, reopen};
use crate::error::io_error;
use crate::forbidden::{location_of, open_folder};
use crate::{HostError, HostFile, Origin};

/// A regular file that was checked, and not opened yet: opening a device can have side effects.
pub(crate) struct CheckedFile<'q> {
    path: &'q Path,
    /// Root and descriptor; `None` for a file that the user named, which is opened by path.
    inside: Option<(&'q Path, OwnedFd)>,
    metadata: Metadata,
}

impl<'q> CheckedFile<'q> {
    /// Checks the file at a path.
    ///
    /// # Errors
    /// If it is missing, or not a regular file.
    pub(crate) fn at(path: &'q Path, origin: Origin<'q>) -> Result<Self, HostError> {
        let io = |source| io_error(path, source);
        let (inside, metadata) = match origin.root() {
            Some(root) => {
                let location = File::from(open_inside(root, path, OFlags::PATH).map_err(io)?);
                let metadata = location.metadata().map_err(io)?;
                (Some((root, OwnedFd::from(location))), metadata)
            }
            None => (None, std::fs::metadata(path).map_err(io)?),
        };
        if metadata.is_file() {
            Ok(Self { path, inside, metadata })
        } else {
            Err(HostError::NotRegular { path: path.to_owned() })
        }
    }

    /// Metadata from the check.
    pub(crate) const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns true if the kernel's path of the file is below that of an absolute folder other than `/`.
    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        let opened = Some(folder).filter(|it| it.is_absolute()).map(open_folder);
        let Some(Ok(opened)) = opened else { return false };
        let place = self.inside.as_ref().and_then(|(_, file)| location_of(file.as_fd()));
        let (Some(place), Some(folder)) = (place, location_of(opened.as_fd())) else {
            return false;
        };
        folder != Path::new("/") && place.starts_with(folder)
    }

    /// Opens it without blocking, and checks it again if it may have been replaced.
    pub(crate) fn open(self) -> Result<(File, Metadata), HostError> {
        let io = |source| io_error(self.path, source);
        let file = match &self.inside {
            Some((root, location)) => match reopen(location.as_fd()).map_err(io)? {
                Some(same) => return Ok((File::from(same), self.metadata)),
                None => File::from(open_inside(root, self.path, OFlags::RDONLY).map_err(io)?),
            },
            None => {
                let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
                OpenOptions::new().read(true).custom_flags(flags).open(self.path).map_err(io)?
            }
        };
        let metadata = file.metadata().map_err(io)?;
        if metadata.is_file() {
            Ok((file, metadata))
        } else {
            Err(HostError::NotRegular { path: self.path.to_owned() })
        }
    }

    /// Returns its bytes and its stamp.
    pub(crate) fn content(self) -> Result<HostFile, HostError> {
        let path = self.path;
        HostFile::of(path, &self.open()?.0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::ScratchDir;

    #[test]
    fn what_was_looked_at_is_what_is_opened() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("a");
        std::fs::write(&path, b"first").expect("a file");
        let found = CheckedFile::at(&path, Origin::Stored { root: dir.path() }).expect("a file");
        std::fs::write(dir.path().join("b"), b"second").expect("a file");
        std::fs::rename(dir.path().join("b"), &path).expect("renamed");
        let (mut file, metadata) = found.open().expect("the file");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("text");
        assert_eq!((text.as_str(), metadata.len()), ("first", 5));
        let again = CheckedFile::at(&path, Origin::Stored { root: dir.path() }).expect("a file");
        assert_eq!(&again.content().expect("bytes").content[..], b"second");
    }

    #[test]
    fn a_folder_in_the_place_of_another_is_seen() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let root = dir.path().join("root");
        let read = || {
            let path = root.join("file");
            let found = CheckedFile::at(&path, Origin::Recording { root: &root }).ok()?;
            Some(found.content().expect("bytes").content.to_vec())
        };
        assert_eq!(read(), None);
        for text in [b"first", b"other"] {
            std::fs::create_dir(&root).expect("a folder");
            std::fs::write(root.join("file"), text).expect("a file");
            assert_eq!(read(), Some(text.to_vec()));
            let old = dir.path().join(String::from_utf8_lossy(text).as_ref());
            std::fs::rename(&root, old).expect("renamed");
            assert_eq!(read(), None);
        }
    }
}
