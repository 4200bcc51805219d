//! Tests of process names at the time of each sample, from exec records and from records that the recorder made.

use std::path::PathBuf;
use std::sync::Arc;

use host::MemoryHost;
use pipeline::{Observer, Options, Pipeline, SampleFilter, Source, Unobserved};
use synth::{
    Endian, EventAttr, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag, sample_type,
};

const SAMPLE_TYPE: u64 = sample_type::IP | sample_type::TID | sample_type::TIME;

/// An event in a recording.
#[derive(Clone, Copy)]
enum Happens {
    /// A sample of a thread of a process.
    Sample,
    /// A record of a name by the recorder.
    Listed(&'static str),
    /// A record of a process or thread by the recorder, with the process and thread that started it.
    ListedTask(u32, u32),
    Exec(&'static str),
    Renamed(&'static str),
    /// The process and thread that forked.
    Fork(u32, u32),
    Exit,
}
use Happens::{Exec, Exit, Fork, Listed, ListedTask, Renamed, Sample};

/// Time, process, thread and event.
type Event = (u64, u32, u32, Happens);

fn recording(flags: u64, events: &[Event]) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let attr = EventAttr { sample_type: SAMPLE_TYPE, flags, ..EventAttr::default() };
    data.event("cpu-clock", attr, &[7]);
    data.describe_events();
    for &(time, pid, tid, happens) in events {
        let at = SampleId::at(pid, tid, time);
        let comm =
            |comm: &'static str, exec| Record::Comm { pid, tid, comm: comm.as_bytes(), exec };
        match happens {
            Sample => data.sample(&SampleBuilder::at(0x10, pid, tid, time)),
            Listed(name) => data.record(&comm(name, false)),
            ListedTask(ppid, ptid) => {
                let task = Record::Fork { pid, ppid, tid, ptid, time: 0 };
                data.record_with(&task, 0x2000, SampleId::default())
            }
            Exec(name) => data.record_at(&comm(name, true), at),
            Renamed(name) => data.record_at(&comm(name, false), at),
            Fork(ppid, ptid) => data.record_at(&Record::Fork { pid, ppid, tid, ptid, time }, at),
            Exit => data.record_at(&Record::Exit { pid, ppid: 1, tid, ptid: 1, time }, at),
        };
    }
    data.build()
}

/// Returns for each sample its time, its process, its thread's name and its process's name.
fn names_in(flags: u64, events: &[Event], samples: SampleFilter) -> Vec<String> {
    let host = MemoryHost::new();
    host.insert("perf.data", recording(flags, events));
    let pipeline = Pipeline::new(Arc::new(host));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let options = Options { samples, ..Options::default() };
    let source = Source::Path(PathBuf::from("perf.data"));
    let profile = pipeline.analyze(source, &options, &observer).expect("a recording").profile;
    let name = |id| String::from_utf8_lossy(profile.strings.get(id)).into_owned();
    let rows = profile.samples.iter().map(|sample| {
        let thread = profile.threads.get(sample.thread).expect("a thread");
        let time = sample.time().expect("a time").0;
        format!("{time} {}: {} of {}", thread.pid, name(thread.comm), name(thread.process))
    });
    rows.collect()
}

fn names(events: &[Event]) -> Vec<String> {
    names_in(attr_flag::SAMPLE_ID_ALL, events, SampleFilter::default())
}

/// A server with a sleeping main thread, which has no sample.
#[test]
fn a_process_is_not_called_as_its_threads() {
    let events = [
        (0, 5, 5, Listed("perf-exec")),
        (10, 5, 5, Exec("poolserver")),
        (20, 5, 6, Fork(5, 5)),
        (30, 5, 6, Renamed("pool-worker-0")),
        (40, 5, 6, Sample),
    ];
    assert_eq!(names(&events), ["40 5: pool-worker-0 of poolserver"]);
    let attached = [
        (0, 5, 5, Listed("poolserver")),
        (0, 5, 6, Listed("pool-worker-0")),
        (40, 5, 6, Sample),
        (50, 5, 5, Renamed("main")),
        (60, 5, 5, Sample),
    ];
    let expected = ["40 5: pool-worker-0 of poolserver", "60 5: main of poolserver"];
    assert_eq!(names(&attached), expected);
}

/// `env A=1 nice ./own`: each program has its samples.
#[test]
fn each_program_of_a_process_has_its_name() {
    let events = [
        (0, 5, 5, Listed("perf-exec")),
        (10, 5, 5, Exec("env")),
        (11, 5, 5, Sample),
        (20, 5, 5, Exec("nice")),
        (30, 5, 5, Exec("own")),
        (31, 5, 5, Sample),
        (40, 5, 5, Renamed("thread")),
        (41, 5, 5, Sample),
    ];
    assert_eq!(names(&events), ["11 5: env of env", "31 5: own of own", "41 5: thread of own"]);
}

/// A child has the name of its parent until it executes a program, even if its main thread is renamed.
#[test]
fn a_fork_has_the_name_of_its_parent() {
    let events = [
        (0, 5, 5, Listed("server")),
        (0, 5, 6, Listed("acceptor")),
        (10, 7, 7, Fork(5, 6)),
        (11, 7, 7, Sample),
        (12, 7, 7, Renamed("child")),
        (13, 7, 7, Sample),
        (14, 8, 8, Fork(7, 7)),
        (15, 8, 8, Exec("ls")),
        (16, 8, 8, Sample),
        (17, 8, 8, Exit),
        (18, 8, 8, Fork(5, 5)),
        (19, 8, 8, Sample),
    ];
    let expected = [
        "11 7: acceptor of server",
        "13 7: child of server",
        "16 8: ls of ls",
        "19 8: server of server",
    ];
    assert_eq!(names(&events), expected);
}

/// A listed process has its listed name, not that of the process that started it long ago.
/// Kernel threads execute no program: their process is named after the thread.
#[test]
fn listed_processes_and_kernel_threads() {
    let events = [
        (0, 1, 1, Listed("systemd")),
        (0, 2, 2, Listed("kthreadd")),
        (0, 5, 5, ListedTask(1, 1)),
        (0, 5, 5, Listed("daemon")),
        (10, 5, 5, Sample),
        (20, 9, 9, Fork(2, 2)),
        (30, 9, 9, Renamed("kworker/0:1")),
        (40, 9, 9, Sample),
        (50, 9, 9, Renamed("kworker/0:1-ev")),
        (60, 9, 9, Sample),
        (70, 0, 0, Sample),
    ];
    let expected = [
        "10 5: daemon of daemon",
        "40 9: kworker/0:1 of kworker/0:1",
        "60 9: kworker/0:1-ev of kworker/0:1",
        "70 0: swapper of swapper",
    ];
    assert_eq!(names(&events), expected);
}

/// If only threads have names, the process has that of the thread that was sampled first, regardless of filters.
#[test]
fn names_of_threads_alone() {
    let events = [
        (10, 5, 6, Renamed("worker-0")),
        (11, 5, 7, Renamed("worker-1")),
        (20, 5, 6, Sample),
        (30, 5, 7, Sample),
        (40, 5, 5, Renamed("main")),
        (50, 5, 7, Sample),
    ];
    let expected =
        ["20 5: worker-0 of worker-0", "30 5: worker-1 of worker-0", "50 5: worker-1 of main"];
    assert_eq!(names(&events), expected);
    let filter = SampleFilter { tids: vec![address::Tid(7)], ..SampleFilter::default() };
    assert_eq!(names_in(attr_flag::SAMPLE_ID_ALL, &events, filter), expected[1..]);
}

/// Without times in records, the first name of a process is its own.
#[test]
fn records_without_trailers() {
    let events = [(0, 5, 5, Listed("server")), (0, 5, 5, Renamed("main")), (20, 5, 5, Sample)];
    assert_eq!(names_in(0, &events, SampleFilter::default()), ["20 5: main of server"]);
    let executed = [(0, 5, 5, Listed("env")), (0, 5, 5, Exec("own")), (20, 5, 5, Sample)];
    assert_eq!(names_in(0, &executed, SampleFilter::default()), ["20 5: own of own"]);
}
