//! Memory grows with distinct stacks, not with the length of the recording; `--max-memory` ends a run that needs more,
//! and is not noticed by one that does not.

use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder, attr_flag, sample_type};

use crate::support::run::{empty_folder, run};

/// Frames of a chain.
const FRAMES: u64 = 120;

/// Samples of so many kernel chains in turn, which have no address in common.
fn chains(samples: u64, distinct: u64) -> Vec<u8> {
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
        let ip = 0xffff_8000_0000_0000 + (number % distinct) * FRAMES * 16;
        let chain = std::iter::once(KERNEL).chain((0..FRAMES).map(|frame| ip + frame * 16));
        let sample = SampleBuilder::at(ip, 1, 1, 1 + number);
        it.sample(&SampleBuilder { id: 7, misc: 1, callchain: chain.collect(), ..sample });
    }
    it.build()
}

/// Enough for 100 distinct chains, not for 10,000.
const LIMIT: [&str; 4] = ["--max-memory", "32M", "--no-symbols", "-q"];

#[test]
fn more_than_may_be_taken_ends_the_run() {
    let folder = empty_folder("memory");
    for (name, samples) in [("little", 100), ("much", 10_000)] {
        std::fs::write(folder.join(name), chains(samples, samples)).expect("a file");
    }
    let little = run(&folder, &[&["little"], &LIMIT[..]].concat()).expect_status(0);
    assert_eq!(little.json()["summary"]["frames"], 12_000);
    let much = run(&folder, &[&["much"], &LIMIT[..]].concat()).expect_status(2);
    let begin = "unwind-perf: the recording needs more than the 32 MB of --max-memory, which ended at stacks (stacks: ";
    let end = "; allow more, or ask for less with --pid, --comm, --event or --time\n";
    assert!(much.stderr.starts_with(begin) && much.stderr.ends_with(end), "{}", much.stderr);
    assert_eq!(much.text(), "");
}

/// Ten times the samples of the same chains: only the table of samples is longer.
#[test]
fn tables_grow_with_distinct_stacks_only() {
    const DISTINCT: u64 = 100;
    let folder = empty_folder("memory-growth");
    let rows = |samples: u64| {
        std::fs::write(folder.join("perf.data"), chains(samples, DISTINCT)).expect("a file");
        let json = run(&folder, &["perf.data", "--no-symbols", "-q"]).expect_status(0).json();
        let tables = ["samples", "frames", "stacks", "locations", "inlines", "layouts", "threads"];
        let rows = tables.map(|table| json[table]["length"].as_u64().expect("a length"));
        (rows, json["strings"].as_array().expect("strings").len())
    };
    let chain_rows = DISTINCT * FRAMES;
    let expected = |samples| ([samples, chain_rows, chain_rows, chain_rows, 0, 1, 1], 2);
    for samples in [1_000, 10_000] {
        assert_eq!(rows(samples), expected(samples));
    }
}
