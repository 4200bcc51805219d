//! A host that opens nothing that a recording names: for recordings of users who may not read its files.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    ByteStream, DirEntry, Distrust, FileStamp, FileStat, Host, HostError, HostFile, HostFinding,
    HostText, Origin, RecordedFile,
};

/// Wraps another host and refuses each path of [`Origin::Recording`]
/// or [`Origin::Process`] without checking its existence.
///
/// For untrusted recordings it also hides the system itself:
/// files below `/proc`, `/sys`, `/dev` and `/tmp`, vdso, and names.
#[derive(Clone, Debug)]
pub struct RestrictedHost {
    inner: Arc<dyn Host>,
    /// True if the recording was made elsewhere, by another user.
    foreign: bool,
}

/// Folders with files of the system itself, or writable for all users.
const SYSTEM_FOLDERS: [&str; 4] = ["/proc", "/sys", "/dev", "/tmp"];

impl RestrictedHost {
    /// Wraps a host.
    #[must_use]
    pub fn new(inner: Arc<dyn Host>) -> Self {
        Self { inner, foreign: false }
    }

    /// Wraps a host, for untrusted recordings.
    #[must_use]
    pub fn for_untrusted(inner: Arc<dyn Host>) -> Self {
        Self { inner, foreign: true }
    }

    fn allowed(&self, path: &Path, origin: Origin<'_>) -> Result<&dyn Host, HostError> {
        let is_of_system = || SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
        let refused = match origin {
            Origin::User => self.foreign && is_of_system(),
            Origin::System => self.foreign,
            Origin::Stored { root } => {
                self.foreign && is_of_system() && !is_below_system_folder(root)
            }
            Origin::Recording { .. } | Origin::Process => true,
        };
        if refused { Err(HostError::Refused { path: path.to_owned() }) } else { Ok(&*self.inner) }
    }
}

impl Host for RestrictedHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        self.allowed(path, origin)?.open(path, origin)
    }

    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_cached: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        self.allowed(path, origin)?.open_unless(path, origin, is_cached)
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        self.allowed(path, origin)?.descriptor(path, origin)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        self.allowed(path, origin)?.text(path, origin)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        self.allowed(path, origin)?.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        self.allowed(path, origin)?.stat(path, origin)
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        self.allowed(path, origin)?.recorded_file(path, origin)
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        self.allowed(path, origin)?.list(path, origin)
    }

    fn clock(&self, id: i32) -> Option<u64> {
        self.inner.clock(id)
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        if self.foreign { None } else { self.inner.running_vdso() }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.inner.variable(name)
    }

    fn file_store(&self) -> Option<PathBuf> {
        self.inner.file_store()
    }

    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        self.inner.distrust(folder)
    }

    fn findings(&self) -> Vec<HostFinding> {
        self.inner.findings()
    }
}

/// A store in a folder that the operator named is allowed.
fn is_below_system_folder(root: &Path) -> bool {
    SYSTEM_FOLDERS.iter().any(|own| root.starts_with(own))
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
        let host = RestrictedHost::new(Arc::new(machine));
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

    #[test]
    fn strangers_get_nothing_of_this_machine() {
        let machine = MemoryHost::new();
        for path in ["/proc/kallsyms", "/tmp/perf-1.map", "/store/ab/elf", "/tmp/store/elf"] {
            machine.insert(path, *b"x");
        }
        machine.insert("/proc/sys/kernel/hostname", *b"here");
        let host = RestrictedHost::for_untrusted(Arc::new(machine));
        let root = Path::new("/");
        let is_open = |path: &str, origin| host.open(Path::new(path), origin).is_ok();
        assert!(!is_open("/proc/kallsyms", Origin::User));
        assert!(!is_open("/proc/kallsyms", Origin::System));
        assert!(!is_open("/tmp/perf-1.map", Origin::Stored { root }));
        assert!(is_open("/store/ab/elf", Origin::Stored { root }));
        assert!(is_open("/tmp/store/elf", Origin::Stored { root: Path::new("/tmp/store") }));
        assert!(!is_open("/store/ab/elf", Origin::Recording { root }));
        assert_eq!((host.hostname(), host.running_vdso()), (Vec::new(), None));
    }
}
