//! An allocator that counts the memory of a program and enforces a limit on it.
//! At the limit the program ends with status 2 and one line of text, before it exhausts the memory of the host.
//!
//! The first threads of a process have a counter each, the others share one.
//! The sum is checked when a counter has grown by a step, so threads do not contend for one counter.
//! Memory allocated by one thread and freed by another is counted once.
#![allow(unsafe_code, reason = "an allocator cannot be written without; argued for at each place")]

#[cfg(not(target_env = "musl"))]
use std::alloc::System;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use super::huge_pages::use_huge_pages;
use super::memory_part::current_part;

/// Number of counters of single threads.
const OWNED: usize = 255;
/// Number of all counters; the last one is shared by all other threads.
const COUNTERS: usize = OWNED + 1;
/// Growth of a counter between two checks of the sum, as a power of two: 256 KiB.
const STEP: u32 = 18;
/// Exit status of a command without output.
const NO_OUTPUT: i32 = 2;

/// A counter, alone on its cache lines.
#[repr(align(128))]
struct PaddedCounter(AtomicI64);

static BYTES: [PaddedCounter; COUNTERS] = [const { PaddedCounter(AtomicI64::new(0)) }; COUNTERS];
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Called before the program ends.
static CLEAN_UP: OnceLock<fn()> = OnceLock::new();
/// Called before the message about the end.
static RESTORE: OnceLock<fn()> = OnceLock::new();
static ENDS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Index of this thread's counter; not assigned yet if out of range.
    static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    /// True if this thread is ending the program and may therefore exceed the limit.
    static IS_EXEMPT: Cell<bool> = const { Cell::new(false) };
}

/// The allocator that is counted. musl's own takes one lock for all threads.
#[cfg(target_env = "musl")]
const SYSTEM: mimalloc::MiMalloc = mimalloc::MiMalloc;
/// The allocator that is counted.
#[cfg(not(target_env = "musl"))]
const SYSTEM: System = System;

/// An allocator that counts. Programs install it with `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// Sets the maximum memory of the process, in bytes; the process ends if it needs more. `None` for no limit.
/// Without a [`CountingAllocator`] nothing is counted.
pub fn limit_memory(bytes: Option<u64>) {
    budget::set_gauge(allocated_bytes);
    LIMIT.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Program-specific words of the line that is printed when memory runs out.
#[derive(Clone, Copy, Debug)]
pub struct MemoryWords {
    /// Name of the program.
    pub program: &'static str,
    /// Option that sets the limit.
    pub limit: &'static str,
    /// Advice on needing less memory.
    pub less: &'static str,
}

const UNKNOWN_PROGRAM: MemoryWords =
    MemoryWords { program: "program", limit: "the limit of memory", less: "ask for less" };

static WORDS: OnceLock<MemoryWords> = OnceLock::new();

/// Sets the words of the program. The first ones remain.
pub fn set_memory_words(words: MemoryWords) {
    let _ = WORDS.set(words);
}

/// Sets the function that is called before the program ends for lack of memory.
/// It must not block. The first one remains.
pub(crate) fn clean_up_at_end(clean_up: fn()) {
    let _ = CLEAN_UP.set(clean_up);
}

/// Sets the function that is called before a signal or a lack of memory ends the program, such as one that leaves a
/// full-screen view. It must neither block nor allocate. The first one remains.
pub fn restore_before_end(restore: fn()) {
    let _ = RESTORE.set(restore);
}

/// Calls the function of [`restore_before_end`].
pub(crate) fn restore() {
    if let Some(restore) = RESTORE.get() {
        restore();
    }
}

/// Returns the number of allocated bytes; 0 without a [`CountingAllocator`].
#[must_use]
pub fn allocated_bytes() -> u64 {
    let sum = BYTES.iter().fold(0_i64, |sum, it| sum.wrapping_add(it.0.load(Ordering::Relaxed)));
    u64::try_from(sum).unwrap_or(0)
}

/// Counts bytes of a temporary file in memory, as in tmpfs; a negative number releases them.
pub(crate) fn hold_temporary(bytes: i64) {
    if !count(bytes) {
        end(Cause::Limit);
    }
}

/// Memory from outside the allocator, such as an anonymous mapping; counted while this value lives.
#[derive(Debug, Default)]
pub struct CountedBytes(i64);

impl CountedBytes {
    /// Counts `bytes`. Call before taking the memory.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX >> 8);
        hold_temporary(bytes);
        Self(bytes)
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        hold_temporary(-self.0);
    }
}

/// Counts bytes; returns false if the process exceeds its limit.
#[inline]
fn count(bytes: i64) -> bool {
    let own = OWN.try_with(|own| match own.get() {
        usize::MAX => {
            let next = NEXT.fetch_add(1, Ordering::Relaxed).min(OWNED);
            own.set(next);
            next
        }
        own => own,
    });
    let own = own.unwrap_or(OWNED);
    let Some(PaddedCounter(counter)) = BYTES.get(own) else { return true };
    let before = if own < OWNED {
        // Only this thread writes it.
        let before = counter.load(Ordering::Relaxed);
        counter.store(before.wrapping_add(bytes), Ordering::Relaxed);
        before
    } else {
        counter.fetch_add(bytes, Ordering::Relaxed)
    };
    let is_same_step = (before ^ before.wrapping_add(bytes)) >> STEP == 0;
    is_same_step || bytes < 0 || is_within_limit()
}

#[cold]
fn is_within_limit() -> bool {
    allocated_bytes() <= LIMIT.load(Ordering::Relaxed)
        || IS_EXEMPT.try_with(Cell::get).unwrap_or(false)
}

/// The size of a layout, which is at most `isize::MAX`.
#[inline]
const fn size(layout: Layout) -> i64 {
    layout.size().cast_signed() as i64
}

/// Reason for a lack of memory.
#[derive(Clone, Copy)]
enum Cause {
    Limit,
    Failed(usize),
}

/// Reverts the count of refused memory; ends the program unless the allocation may fail.
#[cold]
fn refuse(counted: i64, cause: Cause) {
    count(-counted);
    if !budget::may_fail() {
        end(cause);
    }
}

/// Ends the program: prints one line on standard error,
/// removes temporary files, exits with status 2. Other threads wait.
#[cold]
fn end(cause: Cause) -> ! {
    if ENDS.swap(true, Ordering::SeqCst) && !IS_EXEMPT.try_with(Cell::get).unwrap_or(false) {
        loop {
            // SAFETY: pause waits for a signal, and may be called at any time.
            unsafe { libc::pause() };
        }
    }
    let _ = IS_EXEMPT.try_with(|exempt| exempt.set(true));
    restore();
    let mut line = [0_u8; 320];
    let mut rest = &mut line[..];
    let part = current_part();
    let MemoryWords { program, limit: option, less } = WORDS.get().unwrap_or(&UNKNOWN_PROGRAM);
    // Nothing is allocated for it, and an overlong line is truncated.
    let _ = match cause {
        Cause::Limit => {
            let limit = LIMIT.load(Ordering::Relaxed) >> 20;
            writeln!(
                rest,
                "{program}: more than the {limit} MB of {option} were needed while {part}; raise the limit, or {less}"
            )
        }
        Cause::Failed(bytes) => writeln!(
            rest,
            "{program}: the system has no memory for {bytes} bytes more, needed while {part}; limit it with {option}"
        ),
    };
    let left = rest.len();
    let text = line.get(..line.len() - left).unwrap_or_default();
    // SAFETY: write gets a text with its length, and may be called at any time.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    if let Some(clean_up) = CLEAN_UP.get() {
        clean_up();
    }
    // SAFETY: _exit may be called at any time; no other code of the process runs after it.
    unsafe { libc::_exit(NO_OUTPUT) }
}

// SAFETY: all calls are passed on to the system's allocator with their original arguments;
// a refusal is a null pointer, which the trait allows.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count(size(layout)) {
            refuse(size(layout), Cause::Limit);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise for the layout.
        let memory = unsafe { SYSTEM.alloc(layout) };
        if memory.is_null() {
            refuse(size(layout), Cause::Failed(layout.size()));
        }
        use_huge_pages(memory, layout.size());
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !count(size(layout)) {
            refuse(size(layout), Cause::Limit);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise for the layout.
        let memory = unsafe { SYSTEM.alloc_zeroed(layout) };
        if memory.is_null() {
            refuse(size(layout), Cause::Failed(layout.size()));
        }
        use_huge_pages(memory, layout.size());
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise for the memory, which came from this allocator, and so from the system's.
        unsafe { SYSTEM.dealloc(memory, layout) };
        count(-size(layout));
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let more = new_size.cast_signed() as i64 - size(layout);
        if !count(more) {
            refuse(more, Cause::Limit);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise for the memory, the layout and the new size.
        let moved = unsafe { SYSTEM.realloc(memory, layout, new_size) };
        if moved.is_null() {
            refuse(more, Cause::Failed(new_size));
        }
        use_huge_pages(moved, new_size);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only counting test of this process, because the counters are global.
    #[test]
    fn what_is_taken_by_one_thread_and_given_back_by_another_is_counted_once() {
        const BYTES: usize = 1 << 20;
        let layout = Layout::from_size_align(BYTES, 8).expect("a layout");
        let before = allocated_bytes();
        let threads = std::thread::scope(|scope| {
            let take = || {
                // SAFETY: the layout has a size.
                (unsafe { CountingAllocator.alloc_zeroed(layout) }) as usize
            };
            let threads: Vec<_> = (0..300).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|it| it.join().expect("memory")).collect::<Vec<_>>()
        });
        assert_eq!(allocated_bytes() - before, 300 * BYTES as u64);
        for (index, memory) in threads.into_iter().enumerate() {
            let memory = memory as *mut u8;
            let new_size = BYTES / 2 + index;
            // SAFETY: the memory is of this allocator and layout, and is not used any more after that.
            unsafe {
                let moved = CountingAllocator.realloc(memory, layout, new_size);
                let moved_layout = Layout::from_size_align(new_size, 8).expect("a layout");
                CountingAllocator.dealloc(moved, moved_layout);
            }
        }
        assert_eq!(allocated_bytes(), before);
        let counted = CountedBytes::new(5);
        assert_eq!(allocated_bytes(), before + 5);
        drop(counted);
        assert_eq!(allocated_bytes(), before);
        limit_memory(Some(allocated_bytes() + 100));
        let mut items = Vec::<u8>::new();
        // The test binary uses another allocator: nothing is refused.
        assert!(budget::try_reserve(&mut items, 1 << 20).is_ok());
        limit_memory(None);
    }
}
