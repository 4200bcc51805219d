//! Files that others cut short while they are mapped here: instead of ending the process, the missing pages read as zeros
//! from then on, and the mapping is marked as damaged. The one place that handles a signal inside of the program.
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
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libc::{c_int, c_void, siginfo_t};

/// Mappings that have their slots together.
const CHUNK: usize = 1024;
/// As many chunks as a process can have mappings. Source: proc(5), `vm.max_map_count` is 65,530 unless it was raised.
const CHUNKS: usize = 64;

/// A watched mapping. `start` is 0 where the slot is free, 1 while it is being emptied.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    damaged: AtomicPtr<AtomicBool>,
}

impl Slot {
    const fn free() -> Self {
        let damaged = AtomicPtr::new(ptr::null_mut());
        Self { start: AtomicUsize::new(0), end: AtomicUsize::new(0), damaged }
    }
}

const BUSY: usize = 1;

/// The slots, which are made when they are needed and stay: the handler may look at them at any time.
static TABLE: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
/// Which slots are to be had; the handler does not ask.
static FREE: Mutex<Free> = Mutex::new(Free { returned: Vec::new(), unused: 0 });

/// Slots that are free.
struct Free {
    /// Those that were used.
    returned: Vec<usize>,
    /// The first that was never used.
    unused: usize,
}

impl Free {
    fn with<T>(f: impl FnOnce(&mut Self) -> T) -> T {
        f(&mut FREE.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take(&mut self) -> Option<usize> {
        let new = || {
            let index = self.unused;
            TABLE.get(index / CHUNK)?.get_or_init(|| (0..CHUNK).map(|_| Slot::free()).collect());
            self.unused += 1;
            Some(index)
        };
        self.returned.pop().or_else(new)
    }
}

/// The slot of that number.
fn slot(index: usize) -> Option<&'static Slot> {
    TABLE.get(index / CHUNK)?.get()?.get(index % CHUNK)
}

/// What handled the signal before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

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
#[derive(Debug)]
pub(crate) struct Guard {
    slot: usize,
    damage: Damage,
}

impl Guard {
    /// Watches a mapping of a file.
    ///
    /// # Errors
    /// Where a process can have no more mappings, or the signal cannot be handled.
    pub(crate) fn watch(bytes: &[u8]) -> io::Result<Self> {
        install()?;
        let damage = Damage::default();
        let start = bytes.as_ptr() as usize;
        let index = Free::with(Free::take);
        let Some((index, slot)) = index.and_then(|index| Some((index, slot(index)?))) else {
            return Err(io::Error::other("too many large files are open"));
        };
        slot.end.store(start + bytes.len(), Ordering::Relaxed);
        // Lives as long as the guard does, which has a share in it.
        slot.damaged.store(Arc::as_ptr(&damage.0).cast_mut(), Ordering::Relaxed);
        slot.start.store(start, Ordering::Release);
        Ok(Self { slot: index, damage })
    }

    /// Whether bytes went missing.
    pub(crate) fn damage(&self) -> Damage {
        self.damage.clone()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(slot) = slot(self.slot) {
            slot.start.store(BUSY, Ordering::Release);
            slot.damaged.store(ptr::null_mut(), Ordering::Relaxed);
            slot.end.store(0, Ordering::Relaxed);
            slot.start.store(0, Ordering::Release);
            Free::with(|free| free.returned.push(self.slot));
        }
    }
}

/// Handles the signal from now on.
fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let install = || {
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(4096), Ordering::Relaxed);
        let error = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
        // SAFETY: an all-zero sigaction is a valid one (SIG_DFL, no flags, empty mask), and the pointers are to live
        // values of the right type. The previous action is read and stored before the handler can run, which is of the
        // three-argument form that SA_SIGINFO asks for. SA_ONSTACK keeps working what the standard library does about
        // overflowing stacks.
        unsafe {
            let mut previous: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) != 0 {
                return Err(error());
            }
            PREVIOUS.get_or_init(|| previous);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as extern "C" fn(_, _, _) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            if libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) != 0 {
                return Err(error());
            }
        }
        Ok(())
    };
    INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

/// The signal handler.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO, and `si_addr` is set for SIGBUS. Where
    // somebody sent the signal, which `si_code` tells, the field overlaps others.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    if !is_fault || !put_zeros(address) {
        call_previous(signal, info, context);
    }
}

/// Puts zero pages over the rest of the watched mapping that holds the address: what is behind the end of a file that was
/// cut is not there either. Whether there is such a mapping.
fn put_zeros(address: usize) -> bool {
    for slot in TABLE.iter().map_while(OnceLock::get).flatten() {
        let start = slot.start.load(Ordering::Acquire);
        let end = slot.end.load(Ordering::Relaxed);
        if start <= BUSY || address < start || end <= address {
            continue;
        }
        let page = PAGE.load(Ordering::Relaxed);
        let from = address & !(page - 1);
        // SAFETY: whoever raised the signal reads from this mapping, so that its guard, the mapping and the mark live
        // until the handler returns. The pages from `from` to `end` are of that mapping alone, which is read-only and
        // private: nothing but zeros can take the place of what cannot be read. mmap is a system call that takes no lock
        // of this process.
        unsafe {
            let zeros = libc::mmap(
                from as *mut c_void,
                end - from,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            );
            if zeros == libc::MAP_FAILED {
                return false;
            }
            let damaged = slot.damaged.load(Ordering::Relaxed);
            if !damaged.is_null() {
                (*damaged).store(true, Ordering::Release);
            }
        }
        return true;
    }
    false
}

/// Does what was done about the signal before.
fn call_previous(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = PREVIOUS.get().map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: an all-zero sigaction is SIG_DFL. The read that raised the signal is done again when this returns, and
        // ends the process, as it does without this handler.
        unsafe {
            let action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
        return;
    }
    let has_info = PREVIOUS.get().is_some_and(|it| it.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: what sigaction returned as a handler is the address of a function of the form that its flags say, and it is
    // called with what the kernel passed.
    unsafe {
        if has_info {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any bytes can be watched; nothing happens to these.
    #[test]
    fn many_mappings_are_watched_and_their_slots_used_again() {
        const MANY: usize = 10_000;
        let bytes = [0_u8; MANY];
        let watch = || -> Vec<Guard> {
            bytes.chunks(1).map(|byte| Guard::watch(byte).expect("a slot")).collect()
        };
        let slots = |guards: &[Guard]| {
            guards.iter().map(|guard| guard.slot).collect::<std::collections::BTreeSet<_>>()
        };
        let guards = watch();
        assert_eq!(slots(&guards).len(), MANY);
        drop(guards);
        // Other tests have some at the same time.
        let last = slots(&watch()).last().copied();
        assert!(last.is_some_and(|last| last < MANY + 1000), "{last:?}");
    }
}
