//! Memory accounting for recordings held as a whole, and for waiting records.

use std::io::Cursor;
use std::sync::Arc;

use budget::{MemoryBudget, MemoryUse};
use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, sample_type};

use super::session::OPTIONS;
use crate::{Error, Findings, Input, Session, SessionOptions};

/// A recording of `n` samples without the end of a round.
fn samples(n: u64) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    it.event("cycles", EventAttr { sample_type, ..EventAttr::default() }, &[1]);
    for time in 1..=n {
        it.sample(&SampleBuilder::at(0x1000, 1, 1, time));
    }
    it
}

fn stream(bytes: Vec<u8>) -> Input {
    Input::Stream(Box::new(Cursor::new(bytes)))
}

/// Returns the number of samples of all batches, or the error.
fn read(input: Input, options: SessionOptions, memory: &Arc<MemoryBudget>) -> Result<usize, Error> {
    let mut findings = Findings::default();
    let mut session = Session::open_within(input, options, memory, &mut findings)?;
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len();
    }
    Ok(samples)
}

#[test]
fn a_file_out_of_a_stream_is_held_as_a_whole() {
    let bytes = samples(10_000).build();
    let options = SessionOptions { read_bytes: 64 << 10, ..*OPTIONS };
    let memory = Arc::new(MemoryBudget::new(Some(100 << 10)));
    let error = read(stream(bytes.clone()), options, &memory).expect_err("too much");
    assert_eq!(error, Error::TooMuchMemory { offset: 64 << 10 });
    let exceeded = memory.exceeded().expect("too much");
    assert_eq!(exceeded.reading, "the recording, which is held as a whole");
    let held: Vec<MemoryUse> = exceeded.held.iter().map(|it| it.0).collect();
    assert_eq!(held, [MemoryUse::Recording]);
    let memory = Arc::new(MemoryBudget::new(Some(8 << 20)));
    assert_eq!(read(stream(bytes), options, &memory), Ok(10_000));
    assert_eq!(memory.exceeded(), None);
}

#[test]
fn records_that_wait_are_held() {
    let bytes = samples(10_000).build_pipe(&PipeLayout::default());
    let memory = Arc::new(MemoryBudget::new(Some(200 << 10)));
    let given = read(stream(bytes.clone()), *OPTIONS, &memory).expect("a recording");
    assert!(given < 10_000, "{given}");
    assert_eq!(memory.exceeded().map(|it| it.reading.as_str()), Some("records"));
    let memory = Arc::new(MemoryBudget::new(Some(8 << 20)));
    assert_eq!(read(stream(bytes), *OPTIONS, &memory), Ok(10_000));
    assert_eq!(memory.exceeded(), None);
}
