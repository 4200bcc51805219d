//! The bytes of an opened file: what is small is read, what is large is mapped. The one place where files are mapped.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at each call")]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, OnceLock, Weak};

use memmap2::{Mmap, MmapMut, MmapOptions, UncheckedAdvice};

mod guard;
mod signals;
mod slots;
mod watch;

use self::guard::Guard;
use self::watch::Watch;

pub use self::guard::Damage;
pub use self::watch::Reads;

/// The bytes of a file, shared by all clones.
#[derive(Clone)]
pub struct Content(ContentBytes);

#[derive(Clone)]
enum ContentBytes {
    Mapped(Arc<Mapped>),
    Owned(Arc<Vec<u8>>),
}

/// A mapping, and what watches it; dropped before the mapping is.
struct Mapped {
    /// Whether its file is cut short; `None` where it is of no file.
    guard: Option<Guard>,
    /// What of it is read.
    watch: OnceLock<Watch>,
    map: Mmap,
}

impl Mapped {
    const fn new(guard: Option<Guard>, map: Mmap) -> Self {
        Self { guard, watch: OnceLock::new(), map }
    }
}

/// Files up to that size are read: that takes no longer than the page faults of a mapping.
const SMALL: u64 = 256 << 10;

impl Content {
    /// The content of an opened regular file of that size.
    ///
    /// # Errors
    /// Where it cannot be read or mapped, or is shorter now.
    pub(crate) fn of_file(file: &File, size: u64) -> io::Result<Self> {
        if size <= SMALL {
            return Self::read(file, size);
        }
        let len = usize::try_from(size).map_err(io::Error::other)?;
        // SAFETY: the mapping is read-only, and nothing relies on the bytes staying the same between two
        // reads: every reader checks bounds and treats them as hostile. What another program cuts off while we run
        // reads as zeros, and the guard marks it.
        let map = unsafe { MmapOptions::new().len(len).map(file) }?;
        let guard = Guard::watch(&map)?;
        Ok(Self(ContentBytes::Mapped(Arc::new(Mapped::new(Some(guard), map)))))
    }

    /// Notes from now on what is read of it. `None` for what was read into memory, and where somebody watches it already.
    /// Until [`Self::stop_watching`] nothing of it can be passed to the system.
    ///
    /// # Errors
    /// Where it cannot be watched.
    pub fn watched(&self) -> io::Result<Option<Reads>> {
        let ContentBytes::Mapped(mapped) = &self.0 else { return Ok(None) };
        if mapped.watch.get().is_some() {
            return Ok(None);
        }
        let watch = Watch::whole(&mapped.map)?;
        let reads = watch.reads();
        Ok(mapped.watch.set(watch).is_ok().then_some(reads))
    }

    /// Notes no more what is read of it.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn stop_watching(&self) -> io::Result<()> {
        match &self.0 {
            ContentBytes::Mapped(mapped) => watch::unprotect(&mapped.map),
            ContentBytes::Owned(_) => Ok(()),
        }
    }

    fn read(file: &File, size: u64) -> io::Result<Self> {
        let mut bytes = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Self::from(bytes))
    }

    /// Tells, now or later, whether bytes of it went missing after it was opened: then they read as zeros.
    #[must_use]
    pub fn damage(&self) -> Damage {
        match &self.0 {
            ContentBytes::Mapped(mapped) => {
                mapped.guard.as_ref().map(Guard::damage).unwrap_or_default()
            }
            ContentBytes::Owned(_) => Damage::default(),
        }
    }

    /// What gives pages of this content back; it does not keep the content alive.
    #[must_use]
    pub fn pages(&self) -> Pages {
        Pages(match &self.0 {
            ContentBytes::Mapped(mapped) if mapped.guard.is_some() => Arc::downgrade(mapped),
            // What is of no file would be lost.
            _ => Weak::new(),
        })
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            ContentBytes::Mapped(mapped) => &mapped.map,
            ContentBytes::Owned(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self(ContentBytes::Owned(Arc::new(bytes)))
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.len())
    }
}

/// A content that is put together in memory, of which parts may stay unknown: its holes. It takes memory only where
/// something is written.
#[derive(Debug)]
pub struct NewContent {
    map: MmapMut,
    is_empty: bool,
}

impl NewContent {
    /// So many zeros.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn new(len: usize) -> io::Result<Self> {
        // Nothing cannot be mapped.
        Ok(Self { map: MmapMut::map_anon(len.max(1))?, is_empty: len == 0 })
    }

    /// The bytes from one to another, to be written; `None` where there are none.
    pub fn part(&mut self, part: Range<usize>) -> Option<&mut [u8]> {
        self.map.get_mut(part)
    }

    /// The content, and what is read of the holes from now on.
    ///
    /// # Errors
    /// Where the holes cannot be watched.
    pub fn finish(self, holes: &[Range<usize>]) -> io::Result<(Content, Reads)> {
        let map = self.map.make_read_only()?;
        let mapped = Mapped::new(None, map);
        let watch = Watch::parts(&mapped.map, holes)?;
        let reads = watch.reads();
        // Nobody else has it.
        let _ = mapped.watch.set(watch);
        let content = if self.is_empty {
            Content::from(Vec::new())
        } else {
            Content(ContentBytes::Mapped(Arc::new(mapped)))
        };
        Ok((content, reads))
    }
}

/// Gives the pages of a mapped file back to the system, so that a large file that is read once does not stay in memory
/// as a whole.
#[derive(Clone, Debug)]
pub struct Pages(Weak<Mapped>);

impl Pages {
    /// How many bytes are mapped; 0 where the content was dropped or is not mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.0.upgrade().map_or(0, |mapped| mapped.map.len())
    }

    /// Gives the pages of a range back; who reads them again gets them from the file again. `range.start` is a multiple
    /// of the size of a page. Where the system refuses, or the content is not mapped any more, nothing happens.
    pub fn give_back(&self, range: Range<usize>) {
        let Some(mapped) = self.0.upgrade() else { return };
        let map = &mapped.map;
        if range.start >= range.end || range.end > map.len() {
            return;
        }
        // SAFETY: `MADV_DONTNEED` loses what was written to private pages; these are mapped read-only from a file, so
        // that nothing can have been written to them.
        let advice = unsafe {
            map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len())
        };
        // Where it is refused the pages stay in memory.
        let _ = advice;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_zeros_and_their_reads_are_noted() {
        const PART: usize = 64 << 10;
        let mut new = NewContent::new(3 * PART).expect("memory");
        new.part(0..PART).expect("there").fill(1);
        new.part(2 * PART..3 * PART).expect("there").fill(3);
        assert!(new.part(0..3 * PART + 1).is_none());
        let (content, reads) =
            new.finish(std::slice::from_ref(&(PART..2 * PART))).expect("watched");
        assert_eq!((content.len(), content[0], content[3 * PART - 1]), (3 * PART, 1, 3));
        // Bytes that are of no file are not given back.
        assert_eq!(content.pages().mapped(), 0);
        assert!(!reads.any() && !content.damage().happened());
        assert_eq!(content[2 * PART - 1], 0);
        assert!(reads.any());
        let (empty, reads) = NewContent::new(0).and_then(|new| new.finish(&[])).expect("memory");
        assert_eq!((empty.len(), reads.any()), (0, false));
    }
}
