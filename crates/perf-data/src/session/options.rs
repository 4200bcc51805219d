//! Options of a session: sizes, and the contents of batches.

use address::Arch;
use budget::Budget;

use crate::stream::ScanOptions;

/// Options of a [`Session`](crate::Session).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOptions {
    /// Bytes of records after which the next end of a round completes a batch of a stream.
    pub batch_bytes: u64,
    /// The same for the first batch of a stream if lower, so that results appear early.
    pub first_bytes: u64,
    /// Include records of context switches.
    pub switches: bool,
    /// Architecture of recordings that do not state it.
    pub fallback_arch: Option<Arch>,
    /// Bytes without an end of a round after which the order is abandoned and the older half is sent.
    pub pending_bytes: u64,
    /// Maximum bytes that a compressed record may expand to.
    pub expansion_bytes: usize,
    /// Also send a plain file in batches, to replay it while it is read.
    /// If a record violates the order that the rounds of the file promise, the session ends with
    /// [`NextBatch::Disordered`](crate::NextBatch::Disordered).
    pub eager: Option<EagerBatches>,
    /// Threads that find the usual records of a plain file in advance. The batches do not depend on it.
    pub scan: Option<ScanOptions>,
    /// Also split a stream into batches by time, to reduce latency.
    pub live: Option<LiveBatches>,
    /// Bytes read from a stream at a time.
    /// Records that cross the end of a block are copied to the next one, so blocks are much larger than records.
    pub read_bytes: usize,
    /// All other limits for this recording.
    pub budget: Budget,
}

impl Default for SessionOptions {
    /// Batches of 32 MiB, including the first; no switches, no architecture; 1 GiB may wait, and a compressed record
    /// may expand to 64 MiB; not eager, no scanning threads, not live; reads of 4 MiB.
    fn default() -> Self {
        Self {
            batch_bytes: 32 << 20,
            first_bytes: u64::MAX,
            switches: false,
            fallback_arch: None,
            pending_bytes: 1 << 30,
            expansion_bytes: 64 << 20,
            eager: None,
            scan: None,
            live: None,
            read_bytes: 4 << 20,
            budget: Budget::default(),
        }
    }
}

/// Batch sizes of a plain file that is read eagerly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EagerBatches {
    /// Bytes of records before the end of a round completes the first batch.
    /// Each later batch needs twice as many as the previous one, so that the replay starts early.
    pub first_bytes: u64,
    /// Upper bound for the growing batch size.
    pub most_bytes: u64,
}

impl Default for EagerBatches {
    /// From 4 MiB to 64 MiB.
    fn default() -> Self {
        Self { first_bytes: 4 << 20, most_bytes: 64 << 20 }
    }
}

/// Batches of a live stream. Their ends depend on the content of the stream only, not on when it arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveBatches {
    /// Minimum time span of a batch in the recording, in nanoseconds.
    /// A batch is made at the first end of a round at which records are complete for this long after the last batch.
    pub every: u64,
    /// Batches that may wait for the consumer before reading pauses; at least 1.
    pub waiting: usize,
}

impl Default for LiveBatches {
    /// A quarter of a second; one waits.
    fn default() -> Self {
        Self { every: 250_000_000, waiting: 1 }
    }
}
