//! Losses while recording are reported by event, for every form in which the recording states them.

use serde_json::json;
use synth::{
    Endian, EventAttr, PerfDataBuilder, ReadValue, ReadValues, Record, SampleBuilder, SampleId,
    attr_flag, read_format, sample_type,
};

use crate::support::run::{empty_folder, run};

fn attr() -> EventAttr {
    EventAttr {
        sample_type: sample_type::IDENTIFIER
            | sample_type::IP
            | sample_type::TID
            | sample_type::TIME
            | sample_type::READ,
        read_format: read_format::ID | read_format::LOST,
        flags: attr_flag::SAMPLE_ID_ALL,
        ..EventAttr::default()
    }
}

#[test]
fn losses_are_told_by_event() {
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.event("cycles", attr(), &[7]);
    it.event("faults", attr(), &[8]);
    it.describe_events();
    let of = |id: u64, time: u64| SampleId { id, ..SampleId::at(1, 1, time) };
    it.record_at(&Record::Lost { id: 7, lost: 3 }, of(7, 2));
    it.record_at(&Record::LostSamples { lost: 5 }, of(7, 3));
    it.record_at(&Record::LostSamples { lost: 6 }, of(8, 4));
    for (index, lost) in [(0, 2), (0, 9), (1, 4)] {
        let id = 7 + index as u64;
        let value = ReadValue { value: 1, id, lost };
        let read = ReadValues { values: vec![value], ..ReadValues::default() };
        let sample = SampleBuilder { id, read, ..SampleBuilder::at(0x1000, 1, 1, 10) };
        it.sample_of(index, &sample);
    }
    let folder = empty_folder("losses");
    std::fs::write(folder.join("perf.data"), it.build()).expect("a file");
    let ran = run(&folder, &["perf.data", "--verbose"]).expect_status(0);
    let summary = &ran.json()["summary"];
    assert_eq!(
        summary["lost_by_event"],
        json!([
            { "event": 0, "samples": 9, "records": 3 },
            { "event": 1, "samples": 6, "records": 0 },
        ])
    );
    assert_eq!(summary["lost_samples"], json!(15));
    assert!(
        ran.stderr.contains("  cycles: 9 samples, 3 records lost\n  faults: 6 samples lost\n"),
        "{}",
        ran.stderr
    );
}
