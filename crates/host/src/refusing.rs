//! A machine that opens nothing that a recording names: for recordings of people who may not read its files.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::{DirEntry, FileStamp, FileStat, Host, HostError, HostFile, HostText, Origin};

/// Answers as another host does, but refuses every question whose path is of [`Origin::Recording`], without looking
/// whether anything is there.
#[derive(Clone, Debug)]
pub struct RefusingHost(Arc<dyn Host>);

impl RefusingHost {
    /// Wraps a host.
    #[must_use]
    pub fn new(inner: Arc<dyn Host>) -> Self {
        Self(inner)
    }

    fn allowed(&self, path: &Path, origin: Origin<'_>) -> Result<&dyn Host, HostError> {
        match origin {
            Origin::User | Origin::System | Origin::Stored { .. } => Ok(&*self.0),
            Origin::Recording { .. } => Err(HostError::Refused { path: path.to_owned() }),
        }
    }
}

impl Host for RefusingHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        self.allowed(path, origin)?.open(path, origin)
    }

    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_known: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        self.allowed(path, origin)?.open_unless(path, origin, is_known)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        self.allowed(path, origin)?.text(path, origin)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<Box<dyn Read + Send>, HostError> {
        self.allowed(path, origin)?.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        self.allowed(path, origin)?.stat(path, origin)
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        self.allowed(path, origin)?.list(path, origin)
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        self.0.running_vdso()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.0.variable(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryHost;

    #[test]
    fn what_a_recording_names_is_not_even_looked_at() {
        let machine = MemoryHost::new();
        machine.insert("/dir/file", *b"x");
        machine.set_variable("HOME", "/home/user");
        let host = RefusingHost::new(Arc::new(machine));
        let (file, dir) = (Path::new("/dir/file"), Path::new("/dir"));
        let root = Path::new("/");
        for origin in [Origin::User, Origin::System, Origin::Stored { root }] {
            assert!(host.open(file, origin).is_ok() && host.read(file, origin).is_ok());
            assert!(host.is_file(file, origin) && host.is_dir(dir, origin));
            assert!(host.list(dir, origin).is_ok() && host.stream(file, origin).is_ok());
        }
        let origin = Origin::Recording { root };
        for path in [file, Path::new("/none")] {
            for refused in [
                host.open(path, origin).map(drop),
                host.read(path, origin).map(drop),
                host.stream(path, origin).map(drop),
                host.stat(path, origin).map(drop),
                host.list(path, origin).map(drop),
            ] {
                assert!(matches!(refused, Err(HostError::Refused { path: of }) if of == path));
            }
        }
        assert_eq!(host.home().as_deref(), Some(Path::new("/home/user")));
    }
}
