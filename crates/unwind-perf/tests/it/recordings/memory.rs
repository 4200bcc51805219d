//! Memory grows with distinct stacks, not with the length of the recording. `--max-memory` ends a run that needs more,
//! and does not affect one that needs less.

use std::io::Write as _;

use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder, attr_flag, sample_type};

use crate::support::run::{empty_folder, run};

/// Number of frames of a chain.
const FRAMES: u64 = 120;

/// Returns samples that cycle through `distinct` kernel chains without a common address.
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
    let line = "unwind-perf: more than the 32 MB of --max-memory were needed while stacks were unwound; raise the limit, or select \
                less with --pid, --comm, --event or --time\n";
    assert_eq!((much.stderr.as_str(), much.text()), (line, ""));
    let none = ["much", "--max-memory", "none", "--no-symbols", "-q"];
    let none = run(&folder, &none).expect_status(0);
    assert_eq!(none.json()["summary"]["frames"], 1_200_000);
}

/// The window that the header of a compressed recording states counts: here 128 MiB, for a recording of some kilobytes.
#[test]
fn windows_of_packed_recordings_count() {
    let folder = empty_folder("memory-window");
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(27).expect("a window");
    let bytes = chains(10, 10);
    for part in bytes.chunks(bytes.len() / 2) {
        // With a known size, the window would be smaller.
        encoder.write_all(part).and_then(|()| encoder.flush()).expect("packed");
    }
    std::fs::write(folder.join("packed"), encoder.finish().expect("packed")).expect("a file");
    let limited = |limit| run(&folder, &["packed", "--max-memory", limit, "--no-symbols", "-q"]);
    let much = limited("100M").expect_status(2);
    let line = "unwind-perf: more than the 100 MB of --max-memory were needed while the recording was read; raise the limit, or select \
                less with --pid, --comm, --event or --time\n";
    assert_eq!((much.stderr.as_str(), much.text()), (line, ""));
    assert_eq!(limited("200M").expect_status(0).json()["summary"]["frames"], 1_200);
}

/// A run that reaches the limit ends with a message that lists its largest parts.
#[test]
fn what_is_held_is_named() {
    let folder = empty_folder("memory-held");
    std::fs::write(folder.join("perf.data"), chains(3_000, 3_000)).expect("a file");
    let limit = ["perf.data", "--max-memory", "80M", "--no-symbols", "-q"];
    let ended = run(&folder, &limit).expect_status(2);
    let begin = "unwind-perf: the recording needs more than the 80 MB of --max-memory, reached at stacks (stacks: ";
    let end = "; raise the limit, or select \
                less with --pid, --comm, --event or --time\n";
    assert!(ended.stderr.starts_with(begin) && ended.stderr.ends_with(end), "{}", ended.stderr);
    assert_eq!(ended.text(), "");
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
