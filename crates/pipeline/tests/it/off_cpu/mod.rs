//! Tests of off-CPU times, exact to the nanosecond, for each kind of recording.

mod states;
mod without_switch;

use std::path::PathBuf;
use std::sync::Arc;

use host::MemoryHost;
use pipeline::{Analysis, Error, Observer, Options, Pipeline, SampleFilter, Source, Unobserved};
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag,
    sample_type,
};

/// The events of the recordings.
const CLOCK: usize = 0;
const SWITCH: usize = 1;

/// An event in the life of a thread.
#[derive(Clone, Copy)]
enum Happens {
    /// A sample of the clock in user mode, at this address.
    Runs(u64),
    /// A sample of the clock in the kernel.
    InKernel(u64),
    /// A sample of the tracepoint at this address, and the next thread.
    Leaves(u64, u32),
    /// The same of a thread that could have continued.
    Loses(u64, u32),
    Out,
    /// The record of a thread that could have continued.
    Preempted,
    In,
    Begins,
    Ends,
}
use Happens::{Begins, Ends, In, InKernel, Leaves, Loses, Out, Preempted, Runs};

/// The kind of recording.
#[derive(Clone, Copy)]
struct How {
    /// With context switch records.
    records: bool,
    /// With the tracepoint.
    tracepoint: bool,
    /// With a sample of each switch.
    each: bool,
    /// The release of the kernel; empty if it is not recorded.
    kernel: &'static str,
}

const BOTH: How = How { records: true, tracepoint: true, each: true, kernel: "" };

/// A minimal description of the tracepoint by the kernel.
fn tracing_data() -> Vec<u8> {
    const FORMAT: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:pid_t prev_pid;\toffset:0;\tsize:4;\tsigned:1;\n\
        \tfield:pid_t next_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:8;\tsize:4;\tsigned:1;\n";
    let mut data = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0".to_vec();
    for name in [&b"header_page\0"[..], b"header_event\0"] {
        data.extend(name);
        data.extend(0_u64.to_le_bytes());
    }
    data.extend(0_u32.to_le_bytes());
    data.extend(1_u32.to_le_bytes());
    data.extend(b"sched\0");
    data.extend(1_u32.to_le_bytes());
    data.extend((FORMAT.len() as u64).to_le_bytes());
    data.extend(FORMAT.as_bytes());
    data
}

/// The host's own id of a thread, which the tracepoint states.
const fn machine_id(tid: u32) -> u32 {
    if tid == 0 { 0 } else { tid + 1000 }
}

/// Returns a recording of these events of threads, all of process 1.
fn recording(how: How, events: &[(u64, u32, Happens)]) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let fields = sample_type::IDENTIFIER | sample_type::IP | sample_type::TID | sample_type::TIME;
    let sample_type = fields | sample_type::CPU | sample_type::PERIOD | sample_type::RAW;
    let switches = if how.records { attr_flag::CONTEXT_SWITCH } else { 0 };
    let flags = attr_flag::SAMPLE_ID_ALL | switches;
    let attr = EventAttr { sample_type, flags, ..EventAttr::default() };
    data.event("cpu-clock", attr.clone(), &[7]);
    if !how.kernel.is_empty() {
        data.feature(&Feature::OsRelease(how.kernel));
    }
    if how.tracepoint {
        data.feature(&Feature::TracingData(&tracing_data()));
        let flags = flags | if how.each { 0 } else { attr_flag::FREQ };
        data.event(
            "sched:sched_switch",
            EventAttr { event_type: 2, config: 372, flags, ..attr },
            &[8],
        );
    }
    data.describe_events();
    for &(time, tid, happens) in events {
        let at = SampleId { id: 7, ..SampleId::at(1, tid, time) };
        let sample = |ip| SampleBuilder { id: 7, ..SampleBuilder::at(ip, 1, tid, time) };
        let (pid, ppid, ptid) = (1, 1, 1);
        match happens {
            Runs(ip) => data.sample_of(CLOCK, &sample(ip)),
            InKernel(ip) => data.sample_of(CLOCK, &SampleBuilder { misc: 1, ..sample(ip) }),
            Leaves(ip, next) | Loses(ip, next) => {
                // The states S and R+.
                let state = if matches!(happens, Leaves(..)) { 1 } else { 0x100 };
                let tasks = [machine_id(tid), machine_id(next), state];
                let raw = tasks.into_iter().flat_map(u32::to_le_bytes).collect();
                let sample = SampleBuilder { id: 8, misc: 1, raw, ..sample(ip) };
                data.sample_of(SWITCH, &sample)
            }
            Out => data.record_at(&Record::Switch { out: true }, at),
            Preempted => data.record_at(&Record::Preempted, at),
            In => data.record_at(&Record::Switch { out: false }, at),
            Begins => data.record_at(&Record::Fork { pid, ppid, tid, ptid, time }, at),
            Ends => data.record_at(&Record::Exit { pid, ppid, tid, ptid, time }, at),
        };
    }
    data.build()
}

fn analyze(bytes: Vec<u8>, samples: SampleFilter) -> Result<Analysis, Error> {
    analyze_with(bytes, &Options { off_cpu: true, samples, ..Options::default() })
}

fn analyze_with(bytes: Vec<u8>, options: &Options) -> Result<Analysis, Error> {
    let host = MemoryHost::new();
    host.insert("perf.data", bytes);
    let pipeline = Pipeline::new(Arc::new(host));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    pipeline.analyze(Source::Path(PathBuf::from("perf.data")), options, &observer)
}

/// An off-CPU time: its begin, the thread, its duration, and the address of the innermost frame.
type Time = (u64, i32, u64, u64);

/// Returns the off-CPU times and the findings.
fn off_cpu(analysis: &Analysis) -> (Vec<Time>, Vec<(&str, u64)>) {
    let profile = &analysis.profile;
    let mut last = None;
    for row in &profile.samples {
        assert!(row.time() >= last, "samples are in the order of time");
        last = row.time();
    }
    assert_eq!(profile.summary.samples, profile.counted_samples().count() as u64);
    let times = profile.samples.iter().filter(|row| Some(row.event) == profile.off_cpu);
    let times = times.map(|row| {
        let frame = profile.frames.get(profile.stacks.get(row.stack?)?.frame)?;
        let location = profile.locations.get(frame.location)?;
        let thread = profile.threads.get(row.thread)?;
        Some((row.time()?.0, thread.tid.0, row.period()?, location.relative))
    });
    let times = times.map(|time| time.expect("a sample with time and stack"));
    let findings = profile.summary.findings.iter();
    let findings = findings.filter(|row| row.kind.starts_with("off-cpu"));
    (times.collect(), findings.map(|row| (row.kind.as_str(), row.count)).collect())
}

fn of(how: How, events: &[(u64, u32, Happens)]) -> (Vec<Time>, Vec<(String, u64)>) {
    let analysis = analyze(recording(how, events), SampleFilter::default()).expect("a recording");
    let (times, findings) = off_cpu(&analysis);
    (times, findings.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect())
}

fn said(findings: &[(&str, u64)]) -> Vec<(String, u64)> {
    findings.iter().map(|&(kind, count)| (kind.to_owned(), count)).collect()
}

/// Times from the sample of the switch to the record of the return. Kernel samples during the switch-out change
/// nothing.
#[test]
fn switches_with_samples_and_records() {
    let (times, findings) = of(
        BOTH,
        &[
            (100, 5, In),
            (150, 5, Runs(0x10)),
            (200, 5, Leaves(0x20, 6)),
            (205, 5, InKernel(0x30)),
            (210, 5, Out),
            (212, 6, In),
            (300, 6, Leaves(0x60, 5)),
            (310, 6, Out),
            (315, 5, In),
            (400, 5, Leaves(0x40, 6)),
            (401, 5, Out),
            (402, 6, In),
            (1000, 6, Runs(0x61)),
        ],
    );
    assert_eq!(times, [(200, 5, 115, 0x20), (300, 6, 102, 0x60), (400, 5, 600, 0x40)]);
    assert_eq!(findings, said(&[("off-cpu-at-end", 1)]));
}

/// Without the tracepoint, the last sample since the switch-in gives the stack. Without such a sample the time is
/// counted separately.
#[test]
fn records_alone() {
    let (times, findings) = of(
        How { tracepoint: false, ..BOTH },
        &[
            (100, 5, Runs(0x10)),
            (150, 5, InKernel(0x11)),
            (200, 5, Out),
            (260, 5, In),
            (270, 5, Out),
            (300, 5, In),
            (310, 5, Runs(0x12)),
            (320, 5, Out),
            (400, 5, In),
        ],
    );
    assert_eq!(times, [(200, 5, 60, 0x11), (320, 5, 80, 0x12)]);
    let incomplete = [("off-cpu-last-sample", 2), ("off-cpu-without-sample", 1)];
    assert_eq!(findings, said(&[&incomplete[..], &[("off-cpu-state-unknown", 2)]].concat()));
}

/// The tracepoint of all processors also shows switch-ins, by the host's thread ids.
#[test]
fn the_tracepoint_on_all_processors() {
    let (times, findings) = of(
        How { records: false, ..BOTH },
        &[
            (100, 5, Leaves(0x10, 0)),
            (130, 0, Leaves(0x99, 5)),
            (200, 5, Leaves(0x20, 6)),
            (300, 6, Leaves(0x60, 5)),
            (900, 0, Leaves(0x99, 0)),
        ],
    );
    assert_eq!(times, [(100, 5, 30, 0x10), (200, 5, 100, 0x20), (300, 6, 600, 0x60)]);
    assert_eq!(findings, said(&[("off-cpu-at-end", 1)]));
}

/// If returns are not recorded, a user-mode sample shows that a thread is back; without it, the end is unknown.
#[test]
fn returns_that_are_not_recorded() {
    let how = How { records: false, ..BOTH };
    let (times, findings) = of(
        how,
        &[
            (100, 5, Leaves(0x10, 77)),
            (101, 5, InKernel(0x11)),
            (150, 5, Runs(0x12)),
            (200, 5, Leaves(0x13, 77)),
            (300, 5, Leaves(0x14, 77)),
        ],
    );
    assert_eq!(times, [(100, 5, 50, 0x10)]);
    assert_eq!(findings, said(&[("off-cpu-ended-by-sample", 1), ("off-cpu-without-end", 2)]));
    let alone = [(100, 5, Leaves(0x10, 77)), (200, 5, Leaves(0x13, 77))];
    let error = analyze(recording(how, &alone), SampleFilter::default()).err();
    assert!(matches!(error, Some(Error::NoReturns { switches: 2 })), "{error:?}");
}

/// If only some switches are sampled, as at a frequency, the next thread of a sample proves no switch-in, but records
/// do.
#[test]
fn some_switches() {
    let some = How { each: false, ..BOTH };
    let events = [
        (100, 5, Leaves(0x10, 6)),
        (150, 0, Leaves(0x99, 5)),
        (160, 5, Out),
        (180, 5, In),
        (200, 5, Out),
        (220, 5, In),
        (300, 5, Leaves(0x20, 0)),
        (301, 5, Out),
    ];
    let (times, findings) = of(some, &events);
    assert_eq!(times, [(100, 5, 80, 0x10), (300, 5, 1, 0x20)]);
    assert_eq!(findings, said(&[("off-cpu-without-sample", 1), ("off-cpu-at-end", 1)]));
    let alone = How { records: false, ..some };
    let events = [(100, 5, Leaves(0x10, 6)), (150, 0, Leaves(0x99, 5)), (200, 5, Runs(0x12))];
    let (times, findings) = of(alone, &events);
    assert_eq!(times, [(100, 5, 100, 0x10)]);
    assert_eq!(findings, said(&[("off-cpu-ended-by-sample", 1)]));
}

/// The last switch of a thread is its end. Another thread may have its id later.
#[test]
fn ends_of_threads() {
    let (times, findings) = of(
        BOTH,
        &[
            (100, 5, Runs(0x10)),
            (110, 5, Ends),
            (120, 5, Leaves(0x11, 0)),
            (121, 5, Out),
            (500, 5, Begins),
            (510, 5, In),
            (600, 5, Leaves(0x12, 0)),
            (601, 5, Out),
            (650, 5, In),
        ],
    );
    assert_eq!((times, findings), (vec![(600, 5, 50, 0x12)], vec![]));
}

/// A switch with a lost return is not counted, whatever follows.
#[test]
fn lost_returns() {
    let (times, findings) = of(
        BOTH,
        &[
            (100, 5, Leaves(0x10, 0)),
            (101, 5, Out),
            (200, 5, Leaves(0x11, 0)),
            (201, 5, Out),
            (230, 5, In),
        ],
    );
    assert_eq!(times, [(200, 5, 30, 0x11)]);
    assert_eq!(findings, said(&[("off-cpu-without-end", 1)]));
}

/// Filters select samples; rejected ones still end times.
#[test]
fn filters() {
    let events = [
        (100, 5, Leaves(0x10, 0)),
        (101, 5, Out),
        (150, 5, In),
        (160, 6, Leaves(0x60, 0)),
        (161, 6, Out),
        (190, 6, In),
    ];
    let only = |samples| analyze(recording(BOTH, &events), samples);
    let six = SampleFilter { tids: vec![address::Tid(6)], ..SampleFilter::default() };
    let analysis = only(six).expect("samples");
    assert_eq!(off_cpu(&analysis).0, [(160, 6, 30, 0x60)]);
    let clock = SampleFilter { events: vec!["cpu-clock".to_owned()], ..SampleFilter::default() };
    let error = only(clock).err();
    assert!(matches!(error, Some(Error::NoOffCpuSamples { switches: 2 })), "{error:?}");
}

/// Recordings without switches are refused.
#[test]
fn no_switches() {
    let how = How { records: false, tracepoint: false, ..BOTH };
    let error = analyze(recording(how, &[(100, 5, Runs(0x10))]), SampleFilter::default()).err();
    assert!(matches!(error, Some(Error::NoSwitches)), "{error:?}");
}
