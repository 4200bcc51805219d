//! How a recording is read: sizes, and what is given out.

use address::Arch;
use budget::Budget;

use crate::stream::ScanAhead;

/// How much is held at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOptions {
    /// A batch of a stream is made at the first end of a round after so many bytes of records.
    pub batch_bytes: u64,
    /// The first batch of a stream is made after so many bytes, where that is less, so that something is known soon.
    pub first_bytes: u64,
    /// Whether records of context switches are given out, too.
    pub switches: bool,
    /// The architecture of a recording that does not state it.
    pub fallback_arch: Option<Arch>,
    /// If no round ends within so many bytes, order is given up and the older half is given out.
    pub pending_bytes: u64,
    /// A compressed record may expand to so many bytes.
    pub expansion_bytes: usize,
    /// Whether a plain file is given out in batches, too, so that it can be replayed while it is read. Where a record
    /// shows that the rounds of the file did not keep their promise, the session ends with
    /// [`NextBatch::Disordered`](crate::NextBatch::Disordered).
    pub eager: Option<EagerBatches>,
    /// Whether other threads find the usual records of a plain file ahead of the one that reads. Batches do not depend on it.
    pub ahead: Option<ScanAhead>,
    /// Whether a stream is given out in batches of so much time, too, so that little of it waits.
    pub live: Option<LiveBatches>,
    /// Bytes of a stream that are read at a time. Records that leave a block are copied to the next one, so blocks are
    /// much larger than records.
    pub read_bytes: usize,
    /// What the recording may use beside that.
    pub budget: Budget,
}

impl Default for SessionOptions {
    /// Batches of 32 MiB, the first as the others; no switches, no architecture; 1 GiB may wait, 64 MiB come out of a
    /// compressed record; not eager, nothing ahead, not live; 4 MiB are read at a time.
    fn default() -> Self {
        Self {
            batch_bytes: 32 << 20,
            first_bytes: u64::MAX,
            switches: false,
            fallback_arch: None,
            pending_bytes: 1 << 30,
            expansion_bytes: 64 << 20,
            eager: None,
            ahead: None,
            live: None,
            read_bytes: 4 << 20,
            budget: Budget::default(),
        }
    }
}

/// The batches of a plain file that is read eagerly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EagerBatches {
    /// The first batch is made at the first end of a round after so many bytes, and each of the next after twice as
    /// many as the one before, so that the replay begins soon.
    pub first_bytes: u64,
    /// But not after more bytes than these.
    pub most_bytes: u64,
}

impl Default for EagerBatches {
    /// From 4 MiB to 64 MiB.
    fn default() -> Self {
        Self { first_bytes: 4 << 20, most_bytes: 64 << 20 }
    }
}

/// The batches of a stream that is watched. Where they end follows from the stream alone, not from when it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveBatches {
    /// A batch is made at the first end of a round by which the records are complete for so many nanoseconds of the
    /// recording more than at the last batch.
    pub every: u64,
    /// So many batches wait for whoever takes them before reading stops. At least one does.
    pub waiting: usize,
}

impl Default for LiveBatches {
    /// A quarter of a second; one waits.
    fn default() -> Self {
        Self { every: 250_000_000, waiting: 1 }
    }
}
