//! How much memory an input takes: more than four times its bytes, those that came out of compressed data included,
//! beside a fixed base, is a failure.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that any input may take: blocks that are read at a time, room of the decoder, tables.
const BASE: usize = 24 << 20;

/// Runs `run` on an input of `len` bytes. It gives how many bytes came out of compressed data.
pub fn bounded(len: usize, run: impl FnOnce() -> u64) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let expanded = run() as usize;
    let peak = MEMORY.peak_usage().saturating_sub(before);
    let allowed = BASE + 4 * (len + expanded);
    assert!(
        peak <= allowed,
        "{peak} bytes of memory for {len} of input, {expanded} that came out of it"
    );
}
