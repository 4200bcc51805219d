//! The bytes of an opened file: mapped, or held in memory. The one place where files are mapped.
#![allow(unsafe_code, reason = "mapping a file is unsafe by its nature; argued for at each call")]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

use memmap2::{Mmap, UncheckedAdvice};

/// The bytes of a file, shared by all clones.
#[derive(Clone)]
pub struct Content(ContentBytes);

#[derive(Clone)]
enum ContentBytes {
    Mapped(Arc<Mmap>),
    Owned(Arc<Vec<u8>>),
}

impl Content {
    /// Maps an opened regular file of that size.
    pub(crate) fn map(file: &File, size: u64) -> io::Result<Self> {
        if size == 0 {
            return Ok(Self::from(Vec::new()));
        }
        // SAFETY: the mapping is private and read-only, and nothing relies on the bytes staying the same between two
        // reads: every reader checks bounds and treats them as hostile. What remains is a file that another program
        // cuts short while we run, which ends this process with SIGBUS; binaries and libraries are replaced by
        // rename, not cut in place, and reading gigabytes of recordings and debug information in whole instead would
        // cost more than everything else that is done with them.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self(ContentBytes::Mapped(Arc::new(map))))
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
            ContentBytes::Mapped(map) => map,
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
pub struct Pages(Weak<Mmap>);

impl Pages {
    /// How many bytes are mapped; 0 where the content was dropped or is not mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.0.upgrade().map_or(0, |map| map.len())
    }

    /// Gives the pages of a range back; who reads them again gets them from the file again. `range.start` is a multiple
    /// of the size of a page. Where the system refuses, or the content is not mapped any more, nothing happens.
    pub fn give_back(&self, range: Range<usize>) {
        let Some(map) = self.0.upgrade() else { return };
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
