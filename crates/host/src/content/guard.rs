//! Files that others cut short while they are mapped here: instead of ending the process, the missing pages read as zeros
//! from then on, and the mapping is marked as damaged.
//!
//! A page that lies beyond the end of its file raises SIGBUS in whoever reads it. The handler looks the address up in a
//! table of atomics, puts zero pages over the rest of that mapping, sets its mark and lets the read go on. It takes no
//! lock, allocates nothing, and calls nothing but mmap(2). An address that is in no such mapping goes to the handler that
//! was there before.
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
use super::slots::{Entry, Table};

/// The watched mappings.
static TABLE: Table<AtomicBool> = Table::new();
static BUS_ERROR: Fault = Fault::new(libc::SIGBUS);

/// Whether bytes of a file went missing after it was opened.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Whether that happened up to now.
    #[must_use]
    pub fn happened(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A mapping that is watched for as long as this value lives; the mapping has to live as long.
pub(super) struct Guard(Entry<AtomicBool>);

impl Guard {
    /// Watches a mapping of a file.
    ///
    /// # Errors
    /// Where a process can have no more mappings, or the signal cannot be handled.
    pub(super) fn watch(bytes: &[u8]) -> io::Result<Self> {
        BUS_ERROR.install(on_bus_error)?;
        let entry = TABLE.add(bytes, Arc::default());
        entry.map(Self).ok_or_else(|| io::Error::other("too many large files are open"))
    }

    /// Whether bytes went missing.
    pub(super) fn damage(&self) -> Damage {
        Damage(Arc::clone(self.0.value()))
    }
}

/// The signal handler.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO, and `si_addr` is set for SIGBUS. Where
    // somebody sent the signal, which `si_code` tells, the field overlaps others.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    if !is_fault || !put_zeros(address) {
        BUS_ERROR.call_previous(signal, info, context);
    }
}

/// Puts zero pages over the rest of the watched mapping that holds the address: what is behind the end of a file that was
/// cut is not there either. Whether there is such a mapping.
fn put_zeros(address: usize) -> bool {
    let Some(found) = TABLE.find(address) else { return false };
    let from = address & !(page_size() - 1);
    // SAFETY: whoever raised the signal reads from this mapping, so that its guard, the mapping and the mark live until
    // the handler returns. The pages from `from` to `end` are of that mapping alone, which is read-only and private:
    // nothing but zeros can take the place of what cannot be read. mmap is a system call that takes no lock of this
    // process.
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
