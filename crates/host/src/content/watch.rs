//! Detection of reads from a mapping: its pages are made unreadable,
//! and the first read of each is recorded and allowed.
//!
//! A read of such a page raises SIGSEGV in the reading thread.
//! The handler looks up the address in a table of atomics, marks the granule of the address, and makes it readable.
//! Then the read continues. The handler takes no lock, allocates nothing, and calls only mprotect(2).
//! Addresses outside of such mappings are passed to the previous handler.
//! System calls on such pages fail with `EFAULT`: only the program itself may read watched bytes.
//!
//! Source: mprotect(2); signal-safety(7).
#![allow(
    unsafe_code,
    reason = "a signal handler, and the protection of mappings; argued for at each place"
)]

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libc::{c_int, c_void, siginfo_t};

use super::signals::{Fault, page_size};
use super::slots::{RangeEntry, RangeMatch, RangeTable};

/// Maximum number of granules per mapping: each read one can become a separate mapping, and a process has 65,530.
const MOST_GRANULES: usize = 8192;

static TABLE: RangeTable<Granules> = RangeTable::new();
static SEGMENT_FAULT: Fault = Fault::new(libc::SIGSEGV);

/// Granules of a mapping, with a bit for each that was read.
#[derive(Debug)]
struct Granules {
    /// Size of a granule in bytes: pages times a power of two.
    size: usize,
    /// Size of the mapping in bytes.
    len: usize,
    read: Box<[AtomicU64]>,
    /// True if everything became readable at once, so that the reads are unknown.
    all: AtomicBool,
}

/// Reads of a mapping that is, or was, watched. Clones share the state.
#[derive(Clone, Debug)]
pub struct Reads(Arc<Granules>);

/// A mapping that is watched while this value lives; the mapping must live as long.
pub(super) struct ReadWatch(RangeEntry<Granules>);

impl ReadWatch {
    /// Watches a whole private, read-only mapping.
    ///
    /// # Errors
    /// If it cannot be protected, or the signal cannot be handled.
    pub(super) fn whole(map: &[u8]) -> io::Result<Self> {
        let mut size = page_size_now()?;
        while map.len() / size >= MOST_GRANULES {
            size *= 2;
        }
        let watch = Self::new(map, size)?;
        protect(map, 0..map.len(), libc::PROT_NONE)?;
        Ok(watch)
    }

    /// Watches parts of such a mapping: the whole pages in each.
    ///
    /// # Errors
    /// The same as of [`Self::whole`].
    pub(super) fn parts(map: &[u8], parts: &[Range<usize>]) -> io::Result<Self> {
        let page = page_size_now()?;
        let watch = Self::new(map, page)?;
        for part in parts {
            // The last page of the mapping counts as whole, even if the mapping ends in it.
            let end = if part.end >= map.len() { map.len() } else { part.end / page * page };
            let start = part.start.next_multiple_of(page);
            if start < end {
                protect(map, start..end, libc::PROT_NONE)?;
            }
        }
        Ok(watch)
    }

    fn new(map: &[u8], size: usize) -> io::Result<Self> {
        SEGMENT_FAULT.install(on_segment_fault)?;
        let words = map.len().div_ceil(size).div_ceil(64);
        let read = (0..words).map(|_| AtomicU64::new(0)).collect();
        let granules = Granules { size, len: map.len(), read, all: AtomicBool::new(false) };
        let entry = TABLE.add(map, Arc::new(granules));
        entry.map(Self).ok_or_else(|| io::Error::other("too many files are watched"))
    }

    /// Returns the recorded reads.
    pub(super) fn reads(&self) -> Reads {
        Reads(Arc::clone(self.0.value()))
    }
}

/// Makes a whole mapping readable again.
///
/// # Errors
/// If the system refuses.
pub(super) fn unprotect(map: &[u8]) -> io::Result<()> {
    protect(map, 0..map.len(), libc::PROT_READ)
}

impl Reads {
    /// Returns true if anything was read.
    #[must_use]
    pub fn any(&self) -> bool {
        self.0.all.load(Ordering::Acquire)
            || self.0.read.iter().any(|word| word.load(Ordering::Acquire) != 0)
    }

    /// Returns the ranges of bytes that were read, in whole granules, in order and not adjacent.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range<u64>> {
        let Granules { size, len, .. } = *self.0;
        if self.0.all.load(Ordering::Acquire) {
            return std::iter::once(0..len as u64).collect();
        }
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let is_read = |at: &usize| {
            let word = self.0.read.get(at / 64);
            word.is_some_and(|word| word.load(Ordering::Acquire) & (1 << (at % 64)) != 0)
        };
        for at in (0..len.div_ceil(size)).filter(is_read) {
            let (start, end) = ((at * size) as u64, len.min((at + 1) * size) as u64);
            match ranges.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => ranges.push(start..end),
            }
        }
        ranges
    }
}

fn page_size_now() -> io::Result<usize> {
    SEGMENT_FAULT.install(on_segment_fault)?;
    Ok(page_size())
}

/// Sets the protection of whole pages of a mapping.
fn protect(map: &[u8], part: Range<usize>, protection: c_int) -> io::Result<()> {
    let start = map.as_ptr() as usize + part.start;
    // SAFETY: the pages belong to a mapping of the caller, which is private, and which Rust code only reads.
    // The bytes stay the same: a read of an unreadable page waits until the handler has made it readable.
    let done = unsafe { libc::mprotect(start as *mut c_void, part.len(), protection) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The signal handler.
extern "C" fn on_segment_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO, and `si_addr` is set for SIGSEGV.
    // If a process sent the signal, as `si_code` shows, the field overlaps others.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    let found = if is_fault { TABLE.find(address) } else { None };
    if !found.is_some_and(|found| let_through(&found, address)) {
        SEGMENT_FAULT.call_previous(signal, info, context);
    }
}

/// Marks the granule of the address as read, and makes it readable. Returns whether that succeeded.
fn let_through(found: &RangeMatch<Granules>, address: usize) -> bool {
    // SAFETY: the signalled thread reads from this mapping, so its watch,
    // the mapping and the bits live until the handler returns.
    let granules = unsafe { &*found.value };
    let at = (address - found.start) / granules.size;
    if let Some(word) = granules.read.get(at / 64) {
        word.fetch_or(1 << (at % 64), Ordering::Release);
    }
    let start = found.start + at * granules.size;
    let len = granules.size.min(found.end - start);
    // SAFETY: the granule belongs only to that mapping, which is private and only read.
    // mprotect is a system call that takes no lock of this process.
    unsafe {
        if libc::mprotect(start as *mut c_void, len, libc::PROT_READ) == 0 {
            return true;
        }
        // A process has a limited number of mappings. Fully readable, this is a single one.
        granules.all.store(true, Ordering::Release);
        let len = found.end - found.start;
        libc::mprotect(found.start as *mut c_void, len, libc::PROT_READ) == 0
    }
}

#[cfg(test)]
mod tests {
    use memmap2::MmapMut;

    use super::*;

    fn map(pages: usize) -> memmap2::Mmap {
        let mut map = MmapMut::map_anon(pages * page_size_now().expect("a page")).expect("memory");
        map.fill(7);
        map.make_read_only().expect("memory")
    }

    #[test]
    fn reads_are_noted_by_all_threads() {
        let page = page_size_now().expect("a page");
        let map = map(10);
        let watch = ReadWatch::whole(&map).expect("watched");
        assert!(!watch.reads().any());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!([map[page], map[3 * page - 1], map[9 * page]], [7; 3]));
            }
        });
        let page = page as u64;
        assert_eq!(watch.reads().ranges(), [page..3 * page, 9 * page..10 * page]);
        unprotect(&map).expect("readable");
        assert!(map.iter().all(|&byte| byte == 7));
        assert_eq!(watch.reads().ranges(), [page..3 * page, 9 * page..10 * page]);
    }

    #[test]
    fn parts_are_watched_by_whole_pages() {
        let page = page_size_now().expect("a page");
        let map = map(10);
        let watch = ReadWatch::parts(&map, &[page - 1..3 * page + 1, 4 * page..4 * page + 9]);
        let watch = watch.expect("watched");
        assert_eq!([map[page - 1], map[3 * page], map[4 * page]], [7; 3]);
        assert!(!watch.reads().any());
        assert_eq!(map[2 * page], 7);
        let (start, end) = (2 * page as u64, 3 * page as u64);
        assert_eq!(watch.reads().ranges(), std::slice::from_ref(&(start..end)));
    }

    #[test]
    fn large_mappings_have_large_granules() {
        let page = page_size_now().expect("a page");
        let map = MmapMut::map_anon(page * MOST_GRANULES * 3).expect("memory");
        let map = map.make_read_only().expect("memory");
        let watch = ReadWatch::whole(&map).expect("watched");
        assert_eq!(map[5 * page], 0);
        let (start, end) = (4 * page as u64, 8 * page as u64);
        assert_eq!(watch.reads().ranges(), std::slice::from_ref(&(start..end)));
    }
}
