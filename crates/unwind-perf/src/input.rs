//! The recording's bytes: mapped, never copied.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at the call")]

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};

use anyhow::{Context as _, bail};
use memmap2::{Mmap, UncheckedAdvice};

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

impl Mapped {
    /// What gives pages back that are done with.
    pub(crate) fn behind(&self) -> Behind {
        Behind { map: Arc::downgrade(&self.0), ranges: None, from: 0 }
    }
}

/// Gives the pages of a mapping back behind the work, so that a recording does not stay in memory as a whole. A thread of
/// its own does it, since it takes as long as mapping them did.
#[derive(Debug)]
pub(crate) struct Behind {
    map: Weak<Mmap>,
    /// To the thread, which is started with the first pages.
    ranges: Option<Sender<Range<usize>>>,
    /// Everything up to here was given back.
    from: usize,
}

impl Behind {
    /// Nothing below this offset is needed soon.
    pub(crate) fn is_done_up_to(&mut self, offset: u64) {
        let Some(map) = self.map.upgrade() else { return };
        let end = usize::try_from(offset).unwrap_or(usize::MAX).min(map.len()) / STEP * STEP;
        if end > self.from {
            let ranges = self.ranges.get_or_insert_with(|| {
                let (ranges, done) = channel::<Range<usize>>();
                std::thread::spawn(move || done.iter().for_each(|range| give_back(&map, range)));
                ranges
            });
            // The thread ends with the sender, never before it.
            let _ = ranges.send(self.from..end);
            self.from = end;
        }
    }
}

/// A multiple of every size of pages.
const STEP: usize = 2 << 20;

fn give_back(map: &Mmap, range: Range<usize>) {
    // SAFETY: `MADV_DONTNEED` loses what was written to private pages; these are mapped read-only from a file, so that who
    // reads them again gets them from the file again.
    let advice =
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len()) };
    // Where it is refused they stay in memory.
    let _ = advice;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_is_read_again() {
        let path = std::env::temp_dir().join(format!("unwind-perf-behind-{}", std::process::id()));
        let bytes: Vec<u8> = (0..2 * STEP as u32 + 5).map(|at| (at / 7) as u8).collect();
        std::fs::write(&path, &bytes).expect("a temporary file");
        let mapped = map(&path).expect("a regular file");
        assert!(*mapped == bytes[..]);
        let mut behind = mapped.behind();
        behind.is_done_up_to(STEP as u64 - 1);
        assert_eq!(behind.from, 0);
        behind.is_done_up_to(STEP as u64 + 1);
        behind.is_done_up_to(9);
        assert_eq!(behind.from, STEP);
        behind.is_done_up_to(u64::MAX);
        assert_eq!(behind.from, 2 * STEP);
        give_back(&mapped.0, 0..STEP);
        assert!(*mapped == bytes[..]);
        std::fs::remove_file(&path).expect("what was written");
    }
}
