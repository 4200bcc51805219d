//! The cost of an input. More memory than four times its bytes, those included that came out of compressed data, is a
//! failure; so is more processor time than five seconds and 2 µs per byte. Both lines are generous: they tell costs that
//! multiply two numbers of the input from those that add them.

use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that any input may take: blocks that are read at a time, room of the decoder, tables.
const BASE: usize = 24 << 20;
/// Processor time that any input may take, with the checks of the sanitizer. Some targets do an input's work a hundred
/// times, each time anew.
const BASE_TIME: Duration = Duration::from_secs(5);
const TIME_OF_BYTE: Duration = Duration::from_micros(2);
/// An input that takes too much time is tried again: other programs can make a processor slow.
const TRIES: usize = 3;

/// Runs `run` on an input of `len` bytes, on however many threads. It gives the number of bytes that came out of
/// compressed data.
pub fn bounded(len: usize, run: impl Fn() -> u64) {
    let mut spent = Duration::MAX;
    for _ in 0..TRIES {
        MEMORY.reset_peak_usage();
        let (memory, time) = (MEMORY.current_usage(), processor_time());
        let bytes = len + run() as usize;
        let peak = MEMORY.peak_usage().saturating_sub(memory);
        assert!(peak <= BASE + 4 * bytes, "{peak} bytes of memory for {bytes} of input");
        spent = processor_time().saturating_sub(time);
        if spent <= BASE_TIME + TIME_OF_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX) {
            return;
        }
    }
    panic!("{spent:?} of processor time for {len} bytes of input");
}

/// The processor time of all threads so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
