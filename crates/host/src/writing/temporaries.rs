//! Registry of temporary files, so that a signal that ends the process can remove them first.
#![allow(clippy::disallowed_methods, reason = "temporary files and folders are removed here")]

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::allocator::{clean_up_at_end, restore};
use crate::writing::leftovers::HOST_HASH;

/// Present temporary files.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporaries() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or folder that is removed when this value is dropped, or when a signal ends the process.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    keep: bool,
}

impl Temporary {
    /// Creates a file or folder at `path` and registers it; also returns the result of `create`.
    pub(crate) fn file<T>(
        path: PathBuf,
        create: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        clean_up_at_end(remove_now);
        // A signal waits for the registration, and nothing is created after a signal.
        let mut known = temporaries();
        let made = create(&path)?;
        known.insert(path.clone());
        Ok((Self { path, keep: false }, made))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file permanent.
    pub(crate) const fn persist(&mut self) {
        self.keep = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            remove(&self.path);
        }
        temporaries().remove(&self.path);
    }
}

/// Removes a file, or a folder with its contents; failures are left to other cleanup.
pub(crate) fn remove(path: &Path) {
    /// Other processes may still write into a folder.
    const ATTEMPTS: u32 = 16;
    let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if !is_dir {
        let _ = std::fs::remove_file(path);
        return;
    }
    for _ in 0..ATTEMPTS {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

/// Returns an unpredictable name that contains the machine.
pub(crate) fn random_name(prefix: &str) -> String {
    // Its keys come from the system's random numbers.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{prefix}{:08x}-{random:016x}", *HOST_HASH)
}

/// Removes temporary files and folders when SIGINT, SIGTERM or SIGHUP ends this process, from now on.
/// For commands, because a process has one place that decides about its signals. Ignored signals stay ignored.
///
/// # Errors
/// If the signals cannot be caught.
pub fn clean_up_on_signals() -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            restore();
            let known = temporaries();
            known.iter().for_each(|path| remove(path));
            // Held until the process has ended, so that nothing new is created.
            let _ = emulate_default_handler(signal);
            drop(known);
        }
    })?;
    Ok(())
}

/// Removes the present files, for a process that ends at once. It does not block: files being created remain.
fn remove_now() {
    if let Ok(known) = TEMPORARIES.try_lock() {
        known.iter().for_each(|path| remove(path));
    }
}

/// Source: proc(5), `SigIgn` in `/proc/PID/status`: signal 1 is the lowest bit.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_gone_and_what_is_kept_stays() {
        let path = |name| std::env::temp_dir().join(random_name(name));
        let create = |path: &Path| std::fs::write(path, b"x");
        let (mut kept, ()) = Temporary::file(path("kept"), create).expect("a file");
        let (gone, ()) = Temporary::file(path("gone"), create).expect("a file");
        let paths = [kept.path().to_owned(), gone.path().to_owned()];
        assert!(paths.iter().all(|path| temporaries().contains(path)));
        kept.persist();
        drop((kept, gone));
        assert!(paths.iter().all(|path| !temporaries().contains(path)));
        assert_eq!(paths.each_ref().map(|path| path.exists()), [true, false]);
        std::fs::remove_file(&paths[0]).expect("what was kept");
    }

    #[test]
    fn names_differ() {
        let names: BTreeSet<String> = (0..100).map(|_| random_name("x")).collect();
        assert_eq!(names.len(), 100);
    }
}
