//! Tests of runs on a host in memory: results, errors, cancellation.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use budget::{Budget, Limit, Resource};
use host::{Host, MemoryHost, RestrictedHost};
use perf_data::{Finding, Findings, Session, SessionOptions};
use pipeline::{
    Error, ImageLimits, Limits, MemoryLimit, Observer, Options, Pipeline, SampleFilter, Source,
    TimePoint, TimeRange, Unobserved,
};
use synth::{
    CompressedKind, Compressor, Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder,
    SampleId, UserRecord, sample_type,
};

use crate::support::with_callchains;

/// A recording of samples with distinct kernel chains of 32 frames.
fn recording(samples: u64) -> Vec<u8> {
    builder(samples).build()
}

fn builder(samples: u64) -> PerfDataBuilder {
    const KERNEL: u64 = 0u64.wrapping_sub(128);
    let mut data = with_callchains();
    for number in 0..samples {
        let ip = 0xffff_8000_0000_0000 + number * 32 * 16;
        let chain = std::iter::once(KERNEL).chain((0..32).map(|frame| ip + frame * 16));
        let sample = SampleBuilder::at(ip, 1, 1, 1 + number);
        data.sample(&SampleBuilder { id: 7, misc: 1, callchain: chain.collect(), ..sample });
    }
    data
}

fn pipeline(samples: u64) -> Pipeline {
    let host = MemoryHost::new();
    host.insert("perf.data", recording(samples));
    Pipeline::new(Arc::new(host))
}

fn perf_data() -> Source {
    Source::Path(PathBuf::from("perf.data"))
}

fn unobserved() -> Arc<dyn Observer> {
    Arc::new(Unobserved)
}

#[test]
fn a_recording_in_memory() {
    let analysis = pipeline(10).analyze(perf_data(), &Options::default(), &unobserved());
    let profile = analysis.expect("a recording").profile;
    assert_eq!(
        (profile.samples.len(), profile.stacks.len(), profile.locations.len()),
        (10, 320, 320)
    );
}

/// Threads in control groups: one in a named group, one that changes its group, one in a group without a recorded path.
#[test]
fn control_groups() {
    let recording = |recorded: bool| {
        let mut data = PerfDataBuilder::new(Endian::Little);
        let fields = sample_type::IP | sample_type::TID | sample_type::TIME;
        let sample_type = fields | if recorded { sample_type::CGROUP } else { 0 };
        data.event("cycles", EventAttr { sample_type, ..EventAttr::default() }, &[7]);
        data.describe_events();
        for (id, path) in [(1, &b"/"[..]), (40, b"/user.slice/a"), (41, b"/user.slice/b")] {
            data.record(&Record::Cgroup { id, path });
        }
        for (time, tid, cgroup) in [(1, 5, 40), (2, 6, 1), (3, 5, 41), (4, 7, 99), (5, 5, 40)] {
            let sample = SampleBuilder::at(0x1000, 5, tid, time);
            data.sample(&SampleBuilder { cgroup, ..sample });
        }
        data.build()
    };
    let paths = |recorded: bool, patterns: &[&str]| {
        let host = MemoryHost::new();
        host.insert("perf.data", recording(recorded));
        let cgroups = patterns.iter().map(|it| it.as_bytes().to_vec()).collect();
        let samples = SampleFilter { cgroups, ..SampleFilter::default() };
        let options = Options { samples, ..Options::default() };
        let analysis =
            Pipeline::new(Arc::new(host)).analyze(perf_data(), &options, &unobserved())?;
        let profile = analysis.profile;
        let path = |row: &profile::SampleRow| {
            let cgroup = profile.threads.get(row.thread).and_then(|thread| thread.cgroup);
            cgroup.map(|id| String::from_utf8_lossy(profile.strings.get(id)).into_owned())
        };
        let paths = profile.samples.iter().map(|row| path(row).unwrap_or_default());
        Ok::<_, Error>((paths.collect::<Vec<_>>(), profile.threads.len()))
    };
    let (a, b) = ("/user.slice/a", "/user.slice/b");
    let found = paths(true, &[]).expect("a recording");
    assert_eq!(found, ([a, "/", b, "[cgroup 99]", a].map(str::to_owned).to_vec(), 4));
    let found = paths(true, &["/user.slice/*", "/none"]).expect("a recording");
    assert_eq!(found, ([a, b, a].map(str::to_owned).to_vec(), 2));
    let found = paths(true, &["/"]).expect("a recording");
    assert_eq!(found, (vec!["/".to_owned()], 1));
    let found = paths(false, &[]).expect("a recording");
    assert_eq!(found, (vec![String::new(); 5], 3));
    assert!(matches!(paths(false, &["*"]), Err(Error::NoCgroups)));
}

/// Samples at times 1 to 11. The header does not state these times, states zeros as perf does with compressed records,
/// or states times that are right or wrong.
#[test]
fn relative_times_without_the_times_of_the_samples() {
    let stated = [None, Some((0, 0)), Some((1, 11)), Some((1, 5))];
    let found = stated.map(|times| {
        let mut data = builder(11);
        if let Some((first, last)) = times {
            data.feature(&Feature::SampleTime { first, last });
        }
        let host = MemoryHost::new();
        host.insert("perf.data", data.build());
        let (from, to) = (TimePoint::Share(500_000_000), TimePoint::AfterFirst(8));
        let samples = SampleFilter {
            time: TimeRange { from: Some(from), to: Some(to) },
            ..SampleFilter::default()
        };
        let options = Options { samples, ..Options::default() };
        let analysis = Pipeline::new(Arc::new(host)).analyze(perf_data(), &options, &unobserved());
        let profile = analysis.expect("a recording").profile;
        profile.samples.iter().filter_map(|row| Some(row.time()?.0)).collect::<Vec<u64>>()
    });
    // The middle is 6 if the last sample is at 11; times in the header are trusted.
    assert_eq!(
        found,
        [vec![6, 7, 8, 9], vec![6, 7, 8, 9], vec![6, 7, 8, 9], vec![3, 4, 5, 6, 7, 8, 9]]
    );
}

/// If the pipeline's budget is 0 for compressed records, none of them is read.
#[test]
fn the_budget_of_a_pipeline_is_that_of_its_readers() {
    let mut data = builder(10);
    let records = data.take_records();
    data.raw_bytes(
        &Compressor::new(Endian::Little, CompressedKind::Compressed2).pack(&records, 300),
    );
    let host = MemoryHost::new();
    host.insert("perf.data", data.build());
    let host: Arc<dyn Host> = Arc::new(host);
    let run = |budget| {
        let pipeline = Pipeline::within(Arc::clone(&host), ImageLimits::default(), budget);
        let analysis = pipeline.analyze(perf_data(), &Options::default(), &unobserved());
        let analysis = analysis.expect("a recording");
        let is_limit = |finding: &Finding| matches!(finding, Finding::LimitReached { .. });
        let limited = analysis.findings.iter().any(|group| group.examples.iter().any(is_limit));
        (analysis.profile.samples.len(), limited, analysis.is_damaged)
    };
    assert_eq!(run(Budget::default()), (10, false, false));
    let nothing = Limit { base: 0, per_byte: 0, most: 0 };
    let budget = Budget::default().with(Resource::RecordBytes, nothing);
    assert_eq!(run(budget), (0, true, true));
}

/// Round ends without waiting records have no effect, at any number.
#[test]
fn rounds_without_records() {
    const ROUNDS: usize = 50_000;
    let mut data = builder(1);
    for _ in 0..ROUNDS {
        data.user_record(&UserRecord::FinishedRound);
    }
    let ip = 0xffff_8000_0000_0000;
    data.sample(&SampleBuilder { id: 7, callchain: vec![ip], ..SampleBuilder::at(ip, 1, 1, 2) });
    for _ in 0..ROUNDS {
        data.user_record(&UserRecord::FinishedRound);
    }
    let host = MemoryHost::new();
    host.insert("perf.data", data.build());
    let pipeline = Pipeline::new(Arc::new(host));
    let session = pipeline.open(perf_data()).expect("a recording").0;
    let mut session = Session::open(session, SessionOptions::default(), &mut Findings::default())
        .expect("a recording");
    let mut batches = 0;
    while session.next_batch(&mut Findings::default()).is_some() {
        batches += 1;
    }
    assert_eq!(batches, 1);
    let analysis = pipeline.analyze(perf_data(), &Options::default(), &unobserved());
    assert_eq!(analysis.expect("a recording").profile.samples.len(), 2);
}

#[test]
fn errors_say_what_is_wrong() {
    let with = |options: Options| {
        pipeline(2).analyze(perf_data(), &options, &unobserved()).expect_err("an error")
    };
    let samples = SampleFilter { events: vec!["faults".to_owned()], ..SampleFilter::default() };
    let unknown = with(Options { samples, ..Options::default() });
    assert!(matches!(&unknown, Error::UnknownEvent { name, .. } if name == "faults"));
    assert_eq!(unknown.to_string(), "the recording has cycles");
    let missing = pipeline(2).analyze(
        Source::Path(PathBuf::from("nothing")),
        &Options::default(),
        &unobserved(),
    );
    assert_eq!(missing.expect_err("an error").to_string(), "cannot read nothing");
    let limits = Limits { memory: MemoryLimit::Bytes(1000), ..Limits::default() };
    let large = with(Options { limits, ..Options::default() });
    assert!(matches!(large, Error::MemoryLimit { exceeded } if exceeded.limit == 1000));
}

/// The memory of a run is one sum: stacks and processes that fit separately do not fit together.
#[test]
fn all_that_is_held_counts_together() {
    let data = |samples: u64, forks: u32| {
        let mut data = builder(samples);
        for pid in 2..forks {
            let (ppid, tid, ptid, time) = (1, pid, 1, 1_000_000);
            let id = SampleId { id: 7, ..SampleId::at(pid, pid, time) };
            data.record_at(&Record::Fork { pid, ppid, tid, ptid, time }, id);
            let (addr, len, pgoff, name) = (0x1000, 0x1000, 0, &b"/x"[..]);
            data.record_at(&Record::Mmap { pid, tid, addr, len, pgoff, name }, id);
        }
        let host = MemoryHost::new();
        host.insert("perf.data", data.build());
        Pipeline::new(Arc::new(host))
    };
    let run = |samples, forks, memory| {
        let options = Options {
            limits: Limits { memory: MemoryLimit::Bytes(memory), ..Limits::default() },
            ..Options::default()
        };
        match data(samples, forks).analyze(perf_data(), &options, &unobserved()) {
            Ok(_) => String::new(),
            Err(Error::MemoryLimit { exceeded }) => exceeded.reading,
            Err(other) => panic!("{other}"),
        }
    };
    let limit = 20 << 20;
    assert_eq!([run(2000, 2, limit), run(1, 8000, limit)], ["", ""]);
    assert_ne!(run(2000, 8000, limit), "");
    assert_eq!(run(1, 8000, limit / 2), "address spaces and modules");
    assert_eq!(run(2000, 2, limit / 10), "stacks");
}

/// A recording that the user names is opened; files that it names are not.
#[test]
fn a_careful_machine_opens_the_recording() {
    let host = MemoryHost::new();
    host.insert("perf.data", recording(3));
    let host: Arc<dyn Host> = Arc::new(RestrictedHost::new(Arc::new(host)));
    let analysis = Pipeline::new(host).analyze(perf_data(), &Options::default(), &unobserved());
    assert_eq!(analysis.expect("a recording").profile.samples.len(), 3);
}

/// Cancels the run at the n-th call.
#[derive(Debug)]
struct Patience(AtomicUsize);

impl Observer for Patience {
    fn is_cancelled(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

#[test]
fn a_run_ends_wherever_it_is_stopped() {
    let pipeline = pipeline(2_000);
    let run = |patience| {
        let observer: Arc<dyn Observer> = Arc::new(Patience(AtomicUsize::new(patience)));
        pipeline.analyze(perf_data(), &Options::default(), &observer)
    };
    for patience in 0..6 {
        assert!(matches!(run(patience), Err(Error::Cancelled)), "asked {patience} times");
    }
    assert_eq!(run(1_000).expect("enough patience").profile.samples.len(), 2_000);
}
