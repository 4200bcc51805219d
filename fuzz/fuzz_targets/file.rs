//! A complete file, as a mapped one: batches, and every record decoded.
#![no_main]

mod cost;

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use perf_data::{Findings, Input, Session, SessionOptions, SharedBytes, visit_records};

fn read(bytes: SharedBytes) -> u64 {
    let mut findings = Findings::default();
    let visited = visit_records(Input::File(bytes.clone()), &mut findings, &mut |_, _| {
        ControlFlow::Continue(())
    });
    let expanded =
        visited.as_ref().map_or(0, |it| it.counts.total().bytes + it.counts.skipped_bytes);
    let Ok(mut session) =
        Session::open(Input::File(bytes), SessionOptions::default(), &mut findings)
    else {
        return expanded;
    };
    let _ = session.head().features();
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len() as u64;
        assert!(batch.samples().is_sorted_by_key(|entry| (entry.time, entry.position)));
        assert!(batch.samples().iter().all(|entry| batch.sample(entry).is_ok()));
        assert_eq!(batch.records().count(), batch.record_entries().len());
    }
    let counts = session.counts();
    assert_eq!(counts.of(perf_data::RecordKind::SAMPLE).records, samples + counts.dropped_samples);
    if let Ok(visited) = visited {
        assert_eq!(visited.counts.total(), counts.total());
    }
    expanded
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || read(SharedBytes::from(bytes.to_vec())));
});
