//! `--max-memory` ends a run that needs more, and is not noticed by one that does not.

use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder, attr_flag, sample_type};

use crate::run::{empty_folder, run};

/// Samples whose kernel chains have no address in common.
fn distinct_chains(samples: u64) -> Vec<u8> {
    const FRAMES: u64 = 120;
    const KERNEL: u64 = 0u64.wrapping_sub(128);
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IDENTIFIER
        | sample_type::IP
        | sample_type::TID
        | sample_type::TIME
        | sample_type::CALLCHAIN;
    let attr = EventAttr { sample_type, flags: attr_flag::SAMPLE_ID_ALL, ..EventAttr::default() };
    it.event("cycles", attr, &[7]);
    for number in 0..samples {
        let ip = 0xffff_8000_0000_0000 + number * FRAMES * 16;
        let chain = std::iter::once(KERNEL).chain((0..FRAMES).map(|frame| ip + frame * 16));
        let sample = SampleBuilder::at(ip, 1, 1, 1 + number);
        it.sample(&SampleBuilder { id: 7, callchain: chain.collect(), ..sample });
    }
    it.build()
}

#[test]
fn more_than_may_be_taken_ends_the_run() {
    let folder = empty_folder("memory");
    for (name, samples) in [("little", 100), ("much", 10_000)] {
        std::fs::write(folder.join(name), distinct_chains(samples)).expect("a file");
    }
    let limit = ["--max-memory", "32M", "--no-symbols", "-q"];
    let little = run(&folder, &[&["little"], &limit[..]].concat()).expect_status(0);
    assert_eq!(little.json()["summary"]["frames"], 12_000);
    let much = run(&folder, &[&["much"], &limit[..]].concat()).expect_status(2);
    assert_eq!(
        (much.text(), much.stderr.as_str()),
        (
            "",
            "unwind-perf: the recording needs more than the 32 MB of --max-memory; allow more, or ask for less with \
             --pid, --comm, --event or --time\n"
        )
    );
}
