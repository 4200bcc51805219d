//! Tests that a process that analyzes many recordings in sequence releases the resources of each run.
#![allow(clippy::disallowed_methods, reason = "tests look at the machine itself")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::RealHost;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};

const RUNS: usize = 1000;
/// Runs after which the cache of unwind rules has its third table.
const SOME: std::ops::RangeInclusive<usize> = 301..=350;

/// Recordings of small programs by several linkers and compilers, with the number of samples in each.
const CASES: [(&str, usize); 4] =
    [("spin-lld", 31), ("spin-bfd", 32), ("exceptions", 40), ("plt", 19)];

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Returns the resident memory, in KiB.
///
/// Source: proc(5), `VmRSS` of /proc/PID/status.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a number")
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the descriptors of this process").count()
}

/// The only test of its program, so that nothing else takes memory. It runs on one thread, because the C library caches
/// freed memory per thread, and the use of threads varies.
#[test]
fn a_thousand_recordings_leave_nothing_behind() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let files = FileSearch { sysroots: vec![testdata("sysroot")], ..FileSearch::default() };
    let options = Options { files, ..Options::default() };
    let pipeline = Pipeline::new(Arc::new(RealHost));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let mut after_some = (u64::MAX, 0);
    let mut after_all = (u64::MAX, 0);
    for run in 1..=RUNS {
        let (name, samples) = CASES[run % CASES.len()];
        let source = Source::Path(testdata("cases").join(name).join("perf.data"));
        let analysis = pool.install(|| pipeline.analyze(source, &options, &observer));
        let found = analysis.expect("a recording").profile.samples.len();
        assert_eq!((name, found), (name, samples));
        // The least of many runs, because other threads may still free memory of the last one.
        let after = if SOME.contains(&run) { &mut after_some } else { &mut after_all };
        if SOME.contains(&run) || run > RUNS - SOME.count() {
            *after = (after.0.min(resident()), open_files());
        }
    }
    println!("KiB, files: {after_some:?} -> {after_all:?}");
    assert!(after_all.0 * 100 <= after_some.0 * 105, "KiB, files: {after_some:?} -> {after_all:?}");
    assert_eq!(after_all.1, after_some.1);
}
