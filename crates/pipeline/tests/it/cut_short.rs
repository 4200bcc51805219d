//! Tests that the truncation of a recording while it is read is reported to callers that read its records themselves.
#![allow(clippy::disallowed_methods, reason = "tests make the files that they read")]

use std::fs::OpenOptions;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use host::{RealHost, ScratchDir};
use perf_data::{Findings, visit_records};
use pipeline::{Error, Observer, Options, Pipeline, Source, Unobserved};
use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder};

/// Writes a recording that is large enough to be mapped.
fn recording(path: &Path) {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    data.describe_events();
    for number in 0..20_000 {
        data.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20 + number));
    }
    let bytes = data.build();
    assert!(bytes.len() > 1 << 20);
    std::fs::write(path, bytes).expect("a file");
}

fn cut(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).expect("the file");
    file.set_len(300_000).expect("cut");
}

fn is_cut_short(result: Result<(), Error>) -> bool {
    matches!(result, Err(Error::CutShort { .. }))
}

#[test]
fn records_that_are_visited() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let path = dir.path().join("perf.data");
    for is_cut in [false, true] {
        recording(&path);
        let pipeline = Pipeline::new(Arc::new(RealHost));
        let (input, watch) = pipeline.open(Source::Path(path.clone())).expect("a recording");
        if is_cut {
            cut(&path);
        }
        let mut n_records = 0;
        let visited = visit_records(input, &mut Findings::default(), &mut |_, _| {
            n_records += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((visited.is_ok(), n_records < 20_000), (true, is_cut));
        assert_eq!(is_cut_short(watch.check()), is_cut);
    }
}

#[test]
fn maps_that_are_replayed() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let path = dir.path().join("perf.data");
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    for is_cut in [false, true] {
        recording(&path);
        let pipeline = Pipeline::new(Arc::new(RealHost));
        let maps = pipeline.maps(Source::Path(path.clone()), &Options::default(), &observer);
        let mut maps = maps.expect("a recording");
        if is_cut {
            cut(&path);
        }
        while let Some(batch) = maps.next_batch() {
            for entry in batch.samples() {
                // Damage is checked at the end.
                let _ = batch.sample(entry);
            }
        }
        assert_eq!(is_cut_short(maps.check_whole()), is_cut);
    }
}
