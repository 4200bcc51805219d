//! Reading thread of a session, from the opened recording to the last batch.

use std::sync::Arc;

use budget::{HeldMemory, MemoryBudget, MemoryUse};

use super::batcher::{BatchMode, Batcher};
use super::input::OpenedRecording;
use super::messages::Outbox;
use super::options::SessionOptions;
use crate::stream::{Driver, Feed, Flow, SinkContext};

/// Bytes that may wait for the end of their round in a stream that is compressed as a whole.
/// Its size does not bound the waiting bytes, because the compression ratio can be very high.
const PACKED_PENDING: u64 = 128 << 20;

/// Reads all of a recording. Returns early if the session was dropped.
pub(crate) fn read(
    mut opened: OpenedRecording,
    mut options: SessionOptions,
    memory: &Arc<MemoryBudget>,
    out: Outbox,
) {
    if opened.is_packed {
        options.pending_bytes = options.pending_bytes.min(PACKED_PENDING);
    }
    opened.feeds.iter_mut().for_each(Feed::begin);
    let mode = match options.eager {
        _ if opened.is_stream => BatchMode::Rounds,
        Some(batches) if opened.is_plain() => BatchMode::eager(batches),
        _ if opened.may_stream => BatchMode::WholeUnlessCompressed,
        _ => BatchMode::Whole,
    };
    let gather = Batcher::new(out, options, mode, memory.clone());
    let mut driver = {
        let held = HeldMemory::new(memory, MemoryUse::Recording);
        let head = Arc::new(opened.head);
        let driver = Driver::new(head, options.expansion_bytes, options.budget, gather);
        driver.held_as(held).scan(options.scan)
    };
    if driver.run(opened.feeds) == Flow::Stop {
        if driver.sink.is_too_late() {
            driver.sink.send_disordered();
        }
        return;
    }
    let Driver { head, mut counts, mut findings, mut sink, .. } = driver;
    let context = SinkContext { head: &head, counts: &mut counts, findings: &mut findings };
    if sink.finish(context) == Flow::Continue {
        sink.send_end(head, counts, findings);
    }
}
