//! Compressed records: one zstd stream over the chunks of all of them, and the records in it, which may straddle
//! chunks.
//!
//! ```text
//!   COMPRESSED | round | COMPRESSED | ...      as in the file
//!   [rec rec re]         [c rec rec]           expanded: the tail "re" waits for the next chunk
//! ```
//!
//! Source: `tools/perf/util/session.c`, `perf_session__process_compressed_event`; `tools/perf/util/zstd.c`.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// By how much the room for expanded bytes grows.
const STEP: usize = 256 << 10;

/// How many bytes may come out of one byte that went in, over all chunks. Stacks that hardly change pack well, but not
/// a thousandfold; zstd itself would allow thirty thousand.
const RATIO: u64 = 1024;

/// Why a chunk could not be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpandFault {
    /// No zstd, or damaged.
    Damaged,
    /// More comes out than allowed.
    TooLarge,
}

/// The state of one compressed stream. There is one for each file of a recording.
pub(crate) struct Expander {
    /// `None` before the first chunk, and again after damage.
    decoder: Option<Decoder<'static>>,
    broken: bool,
    limit: usize,
    /// Bytes that may still come out of all chunks so far.
    budget: u64,
    /// Expanded bytes whose records were not taken out yet.
    buffer: Vec<u8>,
}

impl Expander {
    /// An expander that lets each chunk expand to at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { decoder: None, broken: false, limit, budget: limit as u64, buffer: Vec::new() }
    }

    /// Whether an earlier chunk was damaged, so that this stream cannot be read on.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Expands the next chunk. What came out in front of a fault is there.
    pub(crate) fn expand(&mut self, chunk: &[u8]) -> Result<(), ExpandFault> {
        let result = self.run(chunk);
        if result.is_err() {
            self.broken = true;
            self.decoder = None;
        }
        result
    }

    fn run(&mut self, chunk: &[u8]) -> Result<(), ExpandFault> {
        if self.decoder.is_none() {
            self.decoder = Some(Decoder::new().map_err(|_| ExpandFault::Damaged)?);
        }
        let Some(decoder) = &mut self.decoder else { return Err(ExpandFault::Damaged) };
        self.budget = self.budget.saturating_add(chunk.len() as u64 * RATIO);
        let limit = self.limit.min(usize::try_from(self.budget).unwrap_or(usize::MAX));
        let first = self.buffer.len();
        let mut input = InBuffer::around(chunk);
        loop {
            let filled = self.buffer.len();
            if filled - first > limit {
                self.buffer.truncate(first + limit);
                return Err(ExpandFault::TooLarge);
            }
            // Room is kept between chunks, so it is cleared once only.
            self.buffer.resize(filled + STEP, 0);
            let mut output = OutBuffer::around_pos(self.buffer.as_mut_slice(), filled);
            let taken = input.pos();
            let result = decoder.run(&mut input, &mut output);
            let written = output.pos();
            self.buffer.truncate(written);
            result.map_err(|_| ExpandFault::Damaged)?;
            // Room that was left over says that nothing is held back.
            if written < filled + STEP && input.pos() == chunk.len() {
                self.budget -= (written - first).min(limit) as u64;
                return Ok(());
            }
            if written == filled && input.pos() == taken {
                return Err(ExpandFault::Damaged);
            }
        }
    }

    /// The expanded bytes that wait.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.buffer
    }

    /// Takes the waiting bytes out.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Puts the tail of a record back, to wait for the next chunk.
    pub(crate) fn keep(&mut self, tail: &[u8]) {
        self.buffer.extend_from_slice(tail);
    }
}

impl std::fmt::Debug for Expander {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.buffer.len();
        f.debug_struct("Expander").field("broken", &self.broken).field("waiting", &waiting).finish()
    }
}
