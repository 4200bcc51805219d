//! Cost of an input. An input fails if it takes more memory than four times its bytes, including bytes from compressed
//! data, or more processor time than five seconds and 2 µs per byte. Both limits are generous: they separate costs that
//! multiply two numbers of the input from costs that add them.
//!
//! Two environment variables serve `cargo xtask fuzz --worst`, which stores the inputs with the highest cost per byte:
//!
//! - `UNWIND_PERF_FUZZ_COSTS`: prints the cost of each input as the line `cost: NANOSECONDS BYTES`.
//! - `UNWIND_PERF_FUZZ_WORST`: a folder. Each input with a higher cost per byte than all earlier ones is written there.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that any input may take: for blocks being read, the decoder's buffers, and tables.
const BASE: usize = 24 << 20;
/// Processor time that any input may take, with the checks of the sanitizer. Some targets repeat an input's work a
/// hundred times from the beginning.
const BASE_TIME: Duration = Duration::from_secs(5);
const TIME_OF_BYTE: Duration = Duration::from_micros(2);
/// Number of attempts for an input that takes too much time: other programs can slow down a processor.
const TRIES: usize = 3;
/// Bytes added to every input to compare costs per byte: otherwise the smallest inputs would win.
const BYTES_OF_ANY: u64 = 4096;
/// Longer inputs, and the first ones of a process, are not stored among the worst.
const LONGEST_KEPT: usize = 8 << 10;
const FIRST: usize = 8;

static PRINTED: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("UNWIND_PERF_FUZZ_COSTS").is_some());
static KEPT_IN: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("UNWIND_PERF_FUZZ_WORST").map(PathBuf::from));
/// Number of inputs so far.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// Highest cost so far, in picoseconds per byte.
static WORST: Mutex<u64> = Mutex::new(0);

/// Runs `run` on an input, on any number of threads. `run` returns the number of bytes that were decompressed or
/// generated from the input.
#[allow(dead_code, reason = "a target calls one of the two")]
pub fn bounded(input: &[u8], run: impl Fn() -> u64) {
    bounded_of(input, || (), |()| run());
}

/// Runs `run` like [`bounded`] on a value that `make` generates from an input. Memory and time of `make` do not count.
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

/// Prints the cost of an input, and stores the input if no earlier one cost as much.
fn note(input: &[u8], bytes: u64, spent: Duration) {
    let nanoseconds = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
    if *PRINTED {
        eprintln!("cost: {nanoseconds} {bytes}");
    }
    // The first inputs pay for tables that are built once.
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

/// Returns the processor time of all threads so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
