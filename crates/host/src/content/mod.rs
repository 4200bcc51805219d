//! Bytes of an opened file: small files are read, large ones are mapped. The only place that maps files.
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
use self::watch::ReadWatch;

pub use self::guard::Damage;
pub use self::watch::Reads;

/// Bytes of a file, shared by all clones.
#[derive(Clone)]
pub struct Content(ContentBytes);

#[derive(Clone)]
enum ContentBytes {
    Mapped(Arc<Mapped>),
    Owned(Arc<Vec<u8>>),
}

/// A mapping with its guard and watch, which are dropped before the mapping.
struct Mapped {
    /// Guard against truncation; `None` for mappings without a file.
    guard: Option<Guard>,
    /// Watch of its reads.
    watch: OnceLock<ReadWatch>,
    map: Mmap,
}

impl Mapped {
    const fn new(guard: Option<Guard>, map: Mmap) -> Self {
        Self { guard, watch: OnceLock::new(), map }
    }
}

/// Maximum size of files that are read, in bytes: reading them takes no longer than page faults of a mapping.
const SMALL: u64 = 256 << 10;

impl Content {
    /// Returns the content of an opened regular file of that size.
    ///
    /// # Errors
    /// If it cannot be read or mapped, or has become shorter.
    pub(crate) fn of_file(file: &File, size: u64) -> io::Result<Self> {
        if size <= SMALL {
            return Self::read(file, size);
        }
        let len = usize::try_from(size).map_err(io::Error::other)?;
        // SAFETY: the mapping is read-only, and nothing relies on the bytes staying the same between two
        // reads: every reader checks bounds and treats them as hostile. Bytes truncated by another program read
        // as zeros, and the guard marks them.
        let map = unsafe { MmapOptions::new().len(len).map(file) }?;
        let guard = Guard::watch(&map)?;
        Ok(Self(ContentBytes::Mapped(Arc::new(Mapped::new(Some(guard), map)))))
    }

    /// Watches all reads from now on. `None` if the content is in memory, or already watched.
    /// Until [`Self::stop_watching`], the content must not be passed to system calls.
    ///
    /// # Errors
    /// If it cannot be watched.
    pub fn watched(&self) -> io::Result<Option<Reads>> {
        let ContentBytes::Mapped(mapped) = &self.0 else { return Ok(None) };
        if mapped.watch.get().is_some() {
            return Ok(None);
        }
        let watch = ReadWatch::whole(&mapped.map)?;
        let reads = watch.reads();
        Ok(mapped.watch.set(watch).is_ok().then_some(reads))
    }

    /// Stops watching reads.
    ///
    /// # Errors
    /// If the system refuses.
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

    /// Flag for bytes that go missing after the opening, now or later; they read as zeros.
    #[must_use]
    pub fn damage(&self) -> Damage {
        match &self.0 {
            ContentBytes::Mapped(mapped) => {
                mapped.guard.as_ref().map(Guard::damage).unwrap_or_default()
            }
            ContentBytes::Owned(_) => Damage::default(),
        }
    }

    /// Returns a handle for releasing pages; it does not keep the content alive.
    #[must_use]
    pub fn pages(&self) -> Pages {
        Pages(match &self.0 {
            ContentBytes::Mapped(mapped) if mapped.guard.is_some() => Arc::downgrade(mapped),
            // Bytes without a file would be lost.
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

/// Content that is assembled in memory and may have unknown parts: holes. Only written pages take memory.
#[derive(Debug)]
pub struct NewContent {
    map: MmapMut,
    is_empty: bool,
}

impl NewContent {
    /// Creates content of `len` zeros.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(len: usize) -> io::Result<Self> {
        // An empty range cannot be mapped.
        Ok(Self { map: MmapMut::map_anon(len.max(1))?, is_empty: len == 0 })
    }

    /// Returns a range of bytes for writing; `None` if it is out of bounds.
    pub fn part(&mut self, part: Range<usize>) -> Option<&mut [u8]> {
        self.map.get_mut(part)
    }

    /// Returns the content, and the reads of its holes from now on.
    ///
    /// # Errors
    /// If the holes cannot be watched.
    pub fn finish(self, holes: &[Range<usize>]) -> io::Result<(Content, Reads)> {
        let map = self.map.make_read_only()?;
        let mapped = Mapped::new(None, map);
        let watch = ReadWatch::parts(&mapped.map, holes)?;
        let reads = watch.reads();
        // No other owner exists.
        let _ = mapped.watch.set(watch);
        let content = if self.is_empty {
            Content::from(Vec::new())
        } else {
            Content(ContentBytes::Mapped(Arc::new(mapped)))
        };
        Ok((content, reads))
    }
}

/// Releases the pages of a mapped file, so that a large file that is read once does not stay in memory.
#[derive(Clone, Debug)]
pub struct Pages(Weak<Mapped>);

impl Pages {
    /// Number of mapped bytes; 0 if the content was dropped or is not mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.0.upgrade().map_or(0, |mapped| mapped.map.len())
    }

    /// Releases the pages of a range; later reads get them from the file again.
    /// `range.start` must be a multiple of the page size.
    /// Does nothing if the system refuses, or if the content is not mapped any more.
    pub fn give_back(&self, range: Range<usize>) {
        let Some(mapped) = self.0.upgrade() else { return };
        let map = &mapped.map;
        if range.start >= range.end || range.end > map.len() {
            return;
        }
        // SAFETY: `MADV_DONTNEED` loses writes to private pages;
        // these are mapped read-only from a file, so there cannot have been any.
        let advice = unsafe {
            map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len())
        };
        // If it is refused, the pages stay in memory.
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
        // Bytes without a file are not released.
        assert_eq!(content.pages().mapped(), 0);
        assert!(!reads.any() && !content.damage().happened());
        assert_eq!(content[2 * PART - 1], 0);
        assert!(reads.any());
        let (empty, reads) = NewContent::new(0).and_then(|new| new.finish(&[])).expect("memory");
        assert_eq!((empty.len(), reads.any()), (0, false));
    }
}
