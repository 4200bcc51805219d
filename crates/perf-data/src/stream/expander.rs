//! Expander for compressed records. Their chunks form one zstd stream, and the records in it may straddle chunks.
//!
//! ```text
//!   COMPRESSED | round | COMPRESSED | ...      as in the file
//!   [rec rec re]         [c rec rec]           expanded: the tail "re" waits for the next chunk
//! ```
//!
//! Source: `tools/perf/util/session.c`, `perf_session__process_compressed_event`; `tools/perf/util/zstd.c`.

use budget::{Budget, Exhausted, Resource};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Growth of the buffer for expanded bytes, per step.
const STEP: usize = 256 << 10;

/// Expanded bytes of a chunk before its records are processed: a chunk of 64 KiB can expand to two gigabytes.
const BLOCK: usize = 4 << 20;

/// Reason why a chunk could not be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpandFault {
    /// Not zstd, or damaged.
    Damaged,
    /// One chunk expands to more bytes than allowed.
    TooLarge,
    /// All chunks together expand to more bytes than allowed.
    Exhausted(Exhausted),
}

/// A chunk and the progress of its expansion.
#[derive(Debug)]
pub(crate) struct PackedChunk<'c> {
    bytes: &'c [u8],
    consumed: usize,
    expanded: usize,
    is_done: bool,
}

impl<'c> PackedChunk<'c> {
    /// Creates a chunk that is not yet expanded.
    pub(crate) const fn new(bytes: &'c [u8]) -> Self {
        Self { bytes, consumed: 0, expanded: 0, is_done: false }
    }

    /// Returns true if the chunk is expanded completely.
    pub(crate) const fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Totals of the compressed records in all files of a recording.
#[derive(Debug)]
pub(crate) struct UnpackMeasure {
    budget: Budget,
    packed: u64,
    unpacked: u64,
    records: u64,
}

impl UnpackMeasure {
    /// Returns zero totals.
    pub(crate) const fn new(budget: Budget) -> Self {
        Self { budget, packed: 0, unpacked: 0, records: 0 }
    }

    /// Counts a compressed chunk before its expansion.
    pub(crate) const fn packed(&mut self, bytes: usize) {
        self.packed += bytes as u64;
    }

    const fn add(&mut self, bytes: u64) {
        self.unpacked += bytes;
    }

    /// Returns an error if `more` further bytes exceed the budget.
    fn unpacked(&self, more: u64) -> Result<(), Exhausted> {
        self.check(Resource::RecordBytes, self.packed, self.unpacked + more)
    }

    /// Counts an expanded record.
    pub(crate) fn record(&mut self) -> Result<(), Exhausted> {
        self.records += 1;
        self.check(Resource::PackedRecords, self.packed / 8, self.records)
    }

    fn check(&self, resource: Resource, input: u64, used: u64) -> Result<(), Exhausted> {
        let limit = self.budget.limit(resource).of(input);
        if used > limit { Err(Exhausted { resource, limit }) } else { Ok(()) }
    }
}

/// State of one compressed stream; each file of a recording has one.
pub(crate) struct Expander {
    /// `None` before the first chunk, and after damage.
    decoder: Option<Decoder<'static>>,
    broken: bool,
    limit: usize,
    /// Expanded bytes not yet split into records.
    buffer: Vec<u8>,
}

impl Expander {
    /// Creates an expander that lets each chunk expand to at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { decoder: None, broken: false, limit, buffer: Vec::new() }
    }

    /// Returns true if this stream cannot be read further, because an earlier chunk was damaged or over a limit.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Expands a block of the next chunk. Bytes expanded before a fault are retained.
    pub(crate) fn expand(
        &mut self,
        chunk: &mut PackedChunk<'_>,
        measure: &mut UnpackMeasure,
    ) -> Result<(), ExpandFault> {
        let result = self.run(chunk, measure);
        if result.is_err() {
            self.abort();
        }
        result
    }

    /// Stops reading this stream.
    pub(crate) fn abort(&mut self) {
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
        let left = self.limit - chunk.expanded.min(self.limit);
        let first = self.buffer.len();
        let mut input = InBuffer { src: chunk.bytes, pos: chunk.consumed };
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
                chunk.expanded += filled - first;
                measure.add((filled - first) as u64);
                return Ok(());
            }
            // Each step clears only the bytes that it adds.
            self.buffer.resize(filled + STEP, 0);
            let mut output = OutBuffer::around_pos(self.buffer.as_mut_slice(), filled);
            let taken = input.pos();
            let result = decoder.run(&mut input, &mut output);
            let written = output.pos();
            self.buffer.truncate(written);
            result.map_err(|_| ExpandFault::Damaged)?;
            // Unused capacity in the output means that the decoder holds nothing back.
            chunk.consumed = input.pos();
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

    /// Returns the expanded bytes not yet split into records.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.buffer
    }

    /// Removes and returns the expanded bytes.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Puts back the tail of a record, to be completed by the next chunk.
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
