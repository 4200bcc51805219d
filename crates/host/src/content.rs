//! The bytes of an opened file: what is small is read, what is large is mapped. The one place where files are mapped.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at each call")]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Weak};

use memmap2::{Mmap, MmapOptions, UncheckedAdvice};

use crate::guard::{Damage, Guard};

/// The bytes of a file, shared by all clones.
#[derive(Clone)]
pub struct Content(ContentBytes);

#[derive(Clone)]
enum ContentBytes {
    Mapped(Arc<Mapped>),
    Owned(Arc<Vec<u8>>),
}

/// A mapping, and what watches for its file being cut short; dropped before the mapping is.
#[derive(Debug)]
struct Mapped {
    guard: Guard,
    map: Mmap,
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
        Ok(Self(ContentBytes::Mapped(Arc::new(Mapped { guard, map }))))
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
            ContentBytes::Mapped(mapped) => mapped.guard.damage(),
            ContentBytes::Owned(_) => Damage::default(),
        }
    }

    /// What gives pages of this content back; it does not keep the content alive.
    #[must_use]
    pub fn pages(&self) -> Pages {
        Pages(match &self.0 {
            ContentBytes::Mapped(map) => Arc::downgrade(map),
            ContentBytes::Owned(_) => Weak::new(),
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
