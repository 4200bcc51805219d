//! The reading thread of a session: from the opened recording to the last batch, a second time where the first was in
//! vain.

use std::sync::Arc;

use budget::{Held, Memory, MemoryUse};

use super::gather::{Gather, Mode};
use super::input::OpenedRecording;
use super::messages::{Outbox, ReadMessage};
use super::options::SessionOptions;
use crate::stream::{Driver, Flow, SinkContext};

/// Of a stream that is packed as a whole so many bytes may wait for the end of their round: it may be packed so well that
/// what waits has nothing to do with its size.
const PACKED_PENDING: u64 = 128 << 20;

/// Reads all of a recording. Returns early where the session is gone.
pub(crate) fn read(
    opened: OpenedRecording,
    mut options: SessionOptions,
    memory: &Arc<Memory>,
    out: Outbox,
) {
    if opened.is_packed {
        options.pending_bytes = options.pending_bytes.min(PACKED_PENDING);
    }
    let eager = options.eager.and_then(|batches| Some((batches, opened.again()?)));
    let (mode, again) = match eager {
        _ if opened.is_stream => (Mode::Rounds, None),
        Some((batches, again)) => (Mode::eager(batches), Some(again)),
        None => (whole(&opened), None),
    };
    let second = out.after_head();
    if read_as(opened, options, memory, mode, out) == ReadOutcome::TooLate
        && let Some(opened) = again
        && second.send(ReadMessage::StartOver).is_ok()
    {
        let mode = whole(&opened);
        read_as(opened, options, memory, mode, second);
    }
}

/// How a recording is read whose bytes are all there.
const fn whole(opened: &OpenedRecording) -> Mode {
    if opened.may_stream { Mode::WholeUnlessCompressed } else { Mode::Whole }
}

/// How reading ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadOutcome {
    /// At the end, or because the session is gone.
    Done,
    /// At a record that belongs into a batch that was sent.
    TooLate,
}

fn read_as(
    opened: OpenedRecording,
    options: SessionOptions,
    memory: &Arc<Memory>,
    mode: Mode,
    out: Outbox,
) -> ReadOutcome {
    let gather = Gather::new(out, options, mode, memory.clone());
    let mut driver = {
        let held = Held::new(memory, MemoryUse::Recording);
        let head = Arc::new(opened.head);
        let driver = Driver::new(head, options.expansion_bytes, options.budget, gather);
        driver.held_as(held).ahead(options.ahead)
    };
    if driver.run(opened.feeds) == Flow::Stop {
        return if driver.sink.is_too_late() { ReadOutcome::TooLate } else { ReadOutcome::Done };
    }
    let Driver { head, mut counts, mut findings, mut sink, .. } = driver;
    let context = SinkContext { head: &head, counts: &mut counts, findings: &mut findings };
    if sink.finish(context) == Flow::Continue {
        sink.send_end(head, counts, findings);
    }
    ReadOutcome::Done
}
