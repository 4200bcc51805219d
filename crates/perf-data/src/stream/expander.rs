//! Compressed records: one zstd stream over the chunks of all of them, and the records in it, which may straddle
//! chunks.
//!
//! ```text
//!   COMPRESSED | round | COMPRESSED | ...      as in the file
//!   [rec rec re]         [c rec rec]           expanded: the tail "re" waits for the next chunk
//! ```
//!
//! Source: `tools/perf/util/session.c`, `perf_session__process_compressed_event`; `tools/perf/util/zstd.c`.

use budget::{Budget, Exhausted, Resource};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// By how much the room for expanded bytes grows.
const STEP: usize = 256 << 10;

/// So many bytes come out of a chunk before their records are taken out: a chunk of 64 KiB can hold two gigabytes.
const BLOCK: usize = 4 << 20;

/// Why a chunk could not be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpandFault {
    /// No zstd, or damaged.
    Damaged,
    /// More comes out of one chunk than allowed.
    TooLarge,
    /// More comes out of all chunks than allowed.
    Exhausted(Exhausted),
}

/// A chunk, and how far it was expanded.
#[derive(Debug)]
pub(crate) struct PackedChunk<'c> {
    bytes: &'c [u8],
    taken: usize,
    given: usize,
    is_done: bool,
}

impl<'c> PackedChunk<'c> {
    /// A chunk of which nothing was expanded.
    pub(crate) const fn new(bytes: &'c [u8]) -> Self {
        Self { bytes, taken: 0, given: 0, is_done: false }
    }

    /// Whether all of it was expanded.
    pub(crate) const fn is_done(&self) -> bool {
        self.is_done
    }
}

/// What came out of the compressed records of all files of a recording.
#[derive(Debug)]
pub(crate) struct UnpackMeasure {
    budget: Budget,
    packed: u64,
    unpacked: u64,
    records: u64,
}

impl UnpackMeasure {
    /// Nothing did yet.
    pub(crate) const fn new(budget: Budget) -> Self {
        Self { budget, packed: 0, unpacked: 0, records: 0 }
    }

    /// A chunk of so many bytes is expanded next.
    pub(crate) const fn packed(&mut self, bytes: usize) {
        self.packed += bytes as u64;
    }

    const fn add(&mut self, bytes: u64) {
        self.unpacked += bytes;
    }

    /// Whether so many bytes more may come out.
    fn unpacked(&self, more: u64) -> Result<(), Exhausted> {
        self.check(Resource::RecordBytes, self.packed, self.unpacked + more)
    }

    /// Counts a record that came out.
    pub(crate) fn record(&mut self) -> Result<(), Exhausted> {
        self.records += 1;
        self.check(Resource::PackedRecords, self.packed / 8, self.records)
    }

    fn check(&self, resource: Resource, input: u64, used: u64) -> Result<(), Exhausted> {
        let limit = self.budget.limit(resource).of(input);
        if used > limit { Err(Exhausted { resource, limit }) } else { Ok(()) }
    }
}

/// The state of one compressed stream. There is one for each file of a recording.
pub(crate) struct Expander {
    /// `None` before the first chunk, and again after damage.
    decoder: Option<Decoder<'static>>,
    broken: bool,
    limit: usize,
    /// Expanded bytes whose records were not taken out yet.
    buffer: Vec<u8>,
}

impl Expander {
    /// An expander that lets each chunk expand to at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { decoder: None, broken: false, limit, buffer: Vec::new() }
    }

    /// Whether an earlier chunk was damaged, so that this stream cannot be read on.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Expands a block of the next chunk. What came out in front of a fault is there.
    pub(crate) fn expand(
        &mut self,
        chunk: &mut PackedChunk<'_>,
        measure: &mut UnpackMeasure,
    ) -> Result<(), ExpandFault> {
        let result = self.run(chunk, measure);
        if result.is_err() {
            self.give_up();
        }
        result
    }

    /// Reads this stream no further.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
        self.decoder = None;
    }

    fn run(
        &mut self,
        chunk: &mut PackedChunk<'_>,
        measure: &mut UnpackMeasure,
    ) -> Result<(), ExpandFault> {
        if self.decoder.is_none() {
            self.decoder = Some(Decoder::new().map_err(|_| ExpandFault::Damaged)?);
        }
        let Some(decoder) = &mut self.decoder else { return Err(ExpandFault::Damaged) };
        let left = self.limit - chunk.given.min(self.limit);
        let first = self.buffer.len();
        let mut input = InBuffer { src: chunk.bytes, pos: chunk.taken };
        loop {
            let filled = self.buffer.len();
            if filled - first > left {
                self.buffer.truncate(first + left);
                return Err(ExpandFault::TooLarge);
            }
            if let Err(exhausted) = measure.unpacked((filled - first) as u64) {
                return Err(ExpandFault::Exhausted(exhausted));
            }
            if filled - first >= BLOCK {
                chunk.given += filled - first;
                measure.add((filled - first) as u64);
                return Ok(());
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
            chunk.taken = input.pos();
            if written < filled + STEP && input.pos() == chunk.bytes.len() {
                chunk.is_done = true;
                measure.add((written - first) as u64);
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
