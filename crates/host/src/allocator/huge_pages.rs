//! Huge pages for large tables: the first use of a page of 4 KiB costs the kernel more than the table's use of it.
#![allow(unsafe_code, reason = "the kernel is advised by a C function; argued for at the call")]

/// Minimum size of an allocation, in bytes. Allocations of this size are mappings of their own
/// ([`FreedMemory::set`](super::FreedMemory::set)).
const LARGE: usize = 4 << 20;

/// Minimum size of a page, in bytes. With larger pages, the kernel refuses addresses that are not at their start.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

/// Advises the kernel to use huge pages for an allocation, if it is large.
#[inline]
pub(super) fn use_huge_pages(memory: *mut u8, size: usize) {
    if size >= LARGE && !memory.is_null() {
        advise(memory, size);
    }
}

/// Source: madvise(2), `MADV_HUGEPAGE`.
#[cold]
fn advise(memory: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    {
        // A mapping starts at a page, shortly before the memory. It is advised as a whole: mremap cannot move one that has
        // two kinds of pages.
        let inside = memory.addr() % PAGE;
        let first = memory.wrapping_sub(inside);
        // SAFETY: the range has the pages of a live allocation. The advice changes neither their content nor their
        // protection, and an error has no effect.
        let _is_known = unsafe { libc::madvise(first.cast(), inside + size, libc::MADV_HUGEPAGE) };
    }
}
