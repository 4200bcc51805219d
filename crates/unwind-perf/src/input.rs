//! The recording's bytes: mapped, never copied.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at the call")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use memmap2::Mmap;

/// A recording in memory.
pub(crate) struct Mapped(Arc<Mmap>);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Mapped {
    /// Nobody waits until the pages of a large recording are given back.
    fn drop(&mut self) {
        if self.0.len() > SMALL {
            let map = Arc::clone(&self.0);
            std::thread::spawn(move || drop(map));
        }
    }
}

impl std::ops::Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// What is given back at once; more is given back while other work goes on.
const SMALL: usize = 8 << 20;

/// Maps the recording. Only regular files are opened: a FIFO would block, a directory is no recording.
pub(crate) fn map(path: &Path) -> anyhow::Result<Mapped> {
    let metadata =
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if metadata.is_dir() {
        bail!(
            "{} is a directory; recordings of perf record --threads are not read yet",
            path.display()
        );
    }
    if !metadata.is_file() {
        bail!("{} is not a regular file", path.display());
    }
    if metadata.len() == 0 {
        bail!("{} is empty", path.display());
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    // SAFETY: the mapping is private and read-only, and the parser treats every byte as hostile and checks all bounds
    // each time it reads. A file that is cut short by another program while we run ends the process with SIGBUS;
    // copying recordings of gigabytes to be safe from that would cost more than everything else that is done here.
    let map =
        unsafe { Mmap::map(&file) }.with_context(|| format!("cannot map {}", path.display()))?;
    Ok(Mapped(Arc::new(map)))
}
