//! The cost of an input. More memory than four times its bytes, those included that came out of compressed data, is a
//! failure; so is more processor time than five seconds and 2 µs per byte. Both lines are generous: they separate costs
//! that multiply two numbers of the input from those that add them.
//!
//! Two environment variables serve `cargo xtask fuzz --worst`, which keeps the inputs with the highest cost per byte:
//!
//! - `UNWIND_PERF_FUZZ_COSTS`: the cost of each input is printed as the line `cost: NANOSECONDS BYTES`.
//! - `UNWIND_PERF_FUZZ_WORST`: a folder. Each input whose cost per byte is higher than that of all inputs before it is
//!   written there.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that any input may take: blocks that are read at a time, room of the decoder, tables.
const BASE: usize = 24 << 20;
/// Processor time that any input may take, with the checks of the sanitizer. Some targets do an input's work a hundred
/// times, each time from the beginning.
const BASE_TIME: Duration = Duration::from_secs(5);
const TIME_OF_BYTE: Duration = Duration::from_micros(2);
/// An input that takes too much time is tried again: other programs can make a processor slow.
const TRIES: usize = 3;
/// Bytes added to every input to compare costs per byte: the smallest inputs would win otherwise.
const BYTES_OF_ANY: u64 = 4096;
/// Longer inputs are not kept among the worst, nor are the first ones of a process.
const LONGEST_KEPT: usize = 8 << 10;
const FIRST: usize = 8;

static PRINTED: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("UNWIND_PERF_FUZZ_COSTS").is_some());
static KEPT_IN: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("UNWIND_PERF_FUZZ_WORST").map(PathBuf::from));
/// Inputs so far.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// The highest cost so far, in picoseconds per byte.
static WORST: Mutex<u64> = Mutex::new(0);

/// Runs `run` on an input, on any number of threads. It returns the number of bytes that came out of compressed data
/// or that were generated from the input.
#[allow(dead_code, reason = "a target calls one of the two")]
pub fn bounded(input: &[u8], run: impl Fn() -> u64) {
    bounded_of(input, || (), |()| run());
}

/// Runs `run` like [`bounded`] on a value that `make` generates from an input: memory and time of `make` do not count.
pub fn bounded_of<T>(input: &[u8], make: impl Fn() -> T, run: impl Fn(T) -> u64) {
    let len = input.len();
    let mut spent = Duration::MAX;
    for _ in 0..TRIES {
        let made = make();
        MEMORY.reset_peak_usage();
        let (memory, time) = (MEMORY.current_usage(), processor_time());
        let bytes = len + run(made) as usize;
        let peak = MEMORY.peak_usage().saturating_sub(memory);
        assert!(peak <= BASE + 4 * bytes, "{peak} bytes of memory for {bytes} of input");
        spent = processor_time().saturating_sub(time);
        note(input, bytes as u64, spent);
        if spent <= BASE_TIME + TIME_OF_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX) {
            return;
        }
    }
    panic!("{spent:?} of processor time for {len} bytes of input");
}

/// Prints the cost of an input, and keeps the input if none before it cost as much.
fn note(input: &[u8], bytes: u64, spent: Duration) {
    let nanoseconds = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
    if *PRINTED {
        eprintln!("cost: {nanoseconds} {bytes}");
    }
    // The first inputs pay for tables that are made once.
    let is_first = SEEN.fetch_add(1, Ordering::Relaxed) < FIRST;
    let is_kept = !is_first && (1..=LONGEST_KEPT).contains(&input.len());
    let Some(folder) = KEPT_IN.as_ref().filter(|_| is_kept) else { return };
    let cost = nanoseconds.saturating_mul(1000) / (bytes + BYTES_OF_ANY);
    let mut worst = WORST.lock().expect("no panic");
    if cost > *worst {
        *worst = cost;
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(input);
        std::fs::write(folder.join(format!("{hash:016x}")), input).expect("a file");
    }
}

/// The processor time of all threads so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
