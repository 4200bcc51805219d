//! Protection against truncation of mapped files: missing pages read as zeros, and the mapping is marked as damaged.
//!
//! Reading a page beyond the end of its file raises SIGBUS in the reading thread.
//! The handler looks up the address in a table of atomics,
//! maps zero pages over the rest of that mapping, and sets its mark.
//! Then the read continues. The handler takes no lock, allocates nothing, and calls only mmap(2).
//! Addresses outside of such mappings are passed to the previous handler.
//!
//! Source: mmap(2), "ERRORS", SIGBUS; signal-safety(7).
#![allow(
    unsafe_code,
    reason = "a signal handler, and what it does to mappings; argued for at each place"
)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void, siginfo_t};

use super::signals::{Fault, page_size};
use super::slots::{RangeEntry, RangeTable};

/// The guarded mappings.
static TABLE: RangeTable<AtomicBool> = RangeTable::new();
static BUS_ERROR: Fault = Fault::new(libc::SIGBUS);

/// Flag for bytes that went missing after a file was opened.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Returns true if bytes went missing so far.
    #[must_use]
    pub fn happened(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A mapping that is guarded while this value lives; the mapping must live as long.
pub(super) struct Guard(RangeEntry<AtomicBool>);

impl Guard {
    /// Guards a mapping of a file.
    ///
    /// # Errors
    /// If the process has too many mappings, or the signal cannot be handled.
    pub(super) fn watch(bytes: &[u8]) -> io::Result<Self> {
        BUS_ERROR.install(on_bus_error)?;
        let entry = TABLE.add(bytes, Arc::default());
        entry.map(Self).ok_or_else(|| io::Error::other("too many large files are open"))
    }

    /// Flag for missing bytes.
    pub(super) fn damage(&self) -> Damage {
        Damage(Arc::clone(self.0.value()))
    }
}

/// The signal handler.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO, and `si_addr` is set for SIGBUS. If
    // a process sent the signal, as `si_code` shows, the field overlaps others.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    if !is_fault || !put_zeros(address) {
        BUS_ERROR.call_previous(signal, info, context);
    }
}

/// Maps zero pages over the rest of the guarded mapping at the address:
/// everything after the end of a truncated file is missing.
/// Returns whether there is such a mapping.
fn put_zeros(address: usize) -> bool {
    let Some(found) = TABLE.find(address) else { return false };
    let from = address & !(page_size() - 1);
    // SAFETY: the signalled thread reads from this mapping, so its guard, the mapping and the mark live until
    // the handler returns. The pages from `from` to `end` belong only to that mapping, which is read-only and private:
    // only zeros can replace unreadable bytes. mmap is a system call that takes no lock of this process.
    unsafe {
        let zeros = libc::mmap(
            from as *mut c_void,
            found.end - from,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        );
        if zeros == libc::MAP_FAILED {
            return false;
        }
        (*found.value).store(true, Ordering::Release);
    }
    true
}
