//! The observer learns of the bytes of the recording that are not needed any more.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use image_store::{FileOptions, ImageStore};
use module_map::Timeline;
use perf_data::{Findings, Input, Session, SessionOptions, SharedBytes};
use replay::{
    FieldSelection, Join, LabelOptions, ReplayObserver, ReplayOptions, Replayer, ResolvedFilter,
    SpanOptions,
};
use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder, attr_flag, sample_type};

#[derive(Default)]
struct Walked(Mutex<Vec<Range<u64>>>);

impl ReplayObserver for Walked {
    fn walked(&self, positions: Range<u64>) {
        self.0.lock().expect("nobody panics").push(positions);
    }
}

#[test]
fn each_sample_is_walked_once() {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event("cycles", EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    for time in 1..=2000 {
        it.sample(&SampleBuilder::at(0x1000, 1, 1, time));
    }
    let mut findings = Findings::default();
    let input = Input::File(SharedBytes::from(it.build()));
    let mut session =
        Session::open(input, SessionOptions::default(), &mut findings).expect("a recording");
    let batch = session.next_batch(&mut findings).expect("the only batch");
    let positions: Vec<u64> = batch.samples().iter().map(|sample| sample.position).collect();
    let options = ReplayOptions {
        filter: ResolvedFilter::default(),
        max_frames: 127,
        learn_files: false,
        join: Join::Off,
        tail_calls: true,
        off_cpu: false,
        fields: FieldSelection::default(),
        labels: LabelOptions::default(),
        spans: SpanOptions::default(),
        variables: None,
        redact: None,
        trace_text: false,
        branches: false,
        weight_field: None,
    };
    let images = Arc::new(ImageStore::new(FileOptions::default()));
    let walked = Walked::default();
    let mut timeline = Timeline::new();
    let mut replayer = Replayer::new(&mut timeline, &images, &options);
    replayer.feed(batch, &walked);
    assert_eq!(replayer.finish(&walked).profile.samples.len(), 2000);
    let mut walked = walked.0.into_inner().expect("nobody panics");
    walked.sort_by_key(|range| range.start);
    assert!(walked.len() > 3, "{walked:?}");
    // Each range goes from its first to its last sample; the next range begins at the next sample.
    let ends = |end: u64| positions.iter().copied().find(|&position| position > end);
    let mut expected = positions.first().copied();
    for range in walked {
        assert_eq!(Some(range.start), expected);
        expected = ends(range.end);
    }
    assert_eq!(expected, None);
}
