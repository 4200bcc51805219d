//! Tests of threads without a context switch in the whole recording: their state, its begin, and the time that they
//! slept.

use address::{Pid, Tid, Timestamp};
use pipeline::{Analysis, Error, Options, SampleFilter};
use profile::{EndReason, FoundBy};
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag,
    sample_type,
};

use super::{analyze, analyze_with};

/// An event in the life of a thread of process 1.
#[derive(Clone, Copy)]
enum Happens {
    /// The recorder lists the thread by this name.
    Listed(&'static str),
    /// A sample of the first event.
    Runs,
    Out,
    In,
    Renamed(&'static str),
    Begins,
    Ends,
    /// The recorder was given these threads instead of the thread of the event.
    AskedFor(&'static [u64]),
}
use Happens::{AskedFor, Begins, Ends, In, Listed, Out, Renamed, Runs};

type Event = (u64, u32, Happens);

const CLOCK: (u32, u64) = (1, 0);
const FAULTS: (u32, u64) = (1, 2);

/// Returns a recording with switch records. `event` is type and config.
fn recording((event_type, config): (u32, u64), command: &[&str], events: &[Event]) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL | attr_flag::CONTEXT_SWITCH;
    let attr = EventAttr { event_type, config, sample_type, flags, ..EventAttr::default() };
    data.event("event", attr, &[7]);
    data.feature(&Feature::Cmdline(command));
    for &(time, tid, happens) in events {
        let at = SampleId::at(1, tid, time);
        let (pid, ppid, ptid) = (1, 1, 1);
        let comm =
            |comm: &'static str| Record::Comm { pid, tid, comm: comm.as_bytes(), exec: false };
        match happens {
            Listed(name) => data.record(&comm(name)),
            Renamed(name) => data.record_at(&comm(name), at),
            Runs => data.sample(&SampleBuilder::at(0x10, 1, tid, time)),
            Out => data.record_at(&Record::Switch { out: true }, at),
            In => data.record_at(&Record::Switch { out: false }, at),
            Begins => {
                let id = SampleId::at(1, 1, time);
                data.record_at(&Record::Fork { pid, ppid, tid, ptid, time }, id)
            }
            Ends => data.record_at(&Record::Exit { pid, ppid, tid, ptid, time }, at),
            AskedFor(tids) => {
                let mut body = (tids.len() as u64).to_le_bytes().to_vec();
                for tid in tids {
                    body.extend(tid.to_le_bytes());
                    body.extend([0; 16]);
                }
                data.raw_record(73, 0, &body)
            }
        };
    }
    data.build()
}

/// Returns the threads without a switch and the off-CPU times, as `name/tid …`.
fn found(analysis: &Analysis) -> (Vec<String>, Vec<String>) {
    let profile = &analysis.profile;
    let thread = |id| {
        let row = profile.threads.get(id).expect("a thread");
        format!("{}/{}", String::from_utf8_lossy(profile.strings.get(row.comm)), row.tid)
    };
    let unswitched = profile.summary.threads_without_switch.iter().map(|it| {
        format!("{} {} {}+{}", thread(it.thread), it.state.as_str(), it.since.0, it.duration)
    });
    let off = profile.samples.iter().filter(|row| Some(row.event) == profile.off_cpu);
    let off = off.map(|row| {
        let (since, duration) = (row.time().expect("a time").0, row.period().expect("a time"));
        let stack = profile.stacks.get(row.stack.expect("a stack")).expect("a stack");
        let frame = profile.frames.get(stack.frame).expect("a frame");
        if row.end != EndReason::NoSwitch {
            return format!("{} {since}+{duration}", thread(row.thread));
        }
        assert_eq!((stack.parent, frame.found_by, frame.kernel), (None, FoundBy::Gap, false));
        let location = profile.locations.get(frame.location).expect("a location");
        let function = profile.inlines.as_slice()[location.inlines()][0].function;
        let name = String::from_utf8_lossy(profile.strings.get(function.expect("a name")));
        format!("{} {since}+{duration} {name}", thread(row.thread))
    });
    (unswitched.collect(), off.collect())
}

fn of(event: (u32, u64), events: &[Event]) -> (Vec<String>, Vec<String>) {
    let recording = recording(event, &[], events);
    found(&analyze(recording, SampleFilter::default()).expect("a recording"))
}

/// A server: its main thread runs every 100, one worker waits, another computes.
const SERVER: &[Event] = &[
    (0, 1, Listed("server")),
    (0, 2, Listed("waits")),
    (0, 3, Listed("computes")),
    (0, 4, Listed("server")),
    (100, 1, In),
    (110, 1, Runs),
    (120, 1, Out),
    (150, 3, Runs),
    (160, 4, Renamed("renamed")),
    (200, 1, In),
    (210, 1, Runs),
    (220, 1, Out),
    (300, 3, Runs),
];

#[test]
fn asleep_and_running() {
    let (unswitched, off) = of(CLOCK, SERVER);
    let expected =
        ["waits/2 asleep 100+200", "computes/3 running 100+200", "renamed/4 running 100+200"];
    assert_eq!(unswitched, expected);
    assert_eq!(off, ["waits/2 100+200 [asleep]", "server/1 120+80", "server/1 220+80"]);
}

/// Page faults do not show that a thread runs; without other evidence its state is unknown.
#[test]
fn without_a_clock() {
    let (unswitched, off) = of(FAULTS, SERVER);
    let expected =
        ["waits/2 unknown 100+200", "computes/3 running 100+200", "renamed/4 running 100+200"];
    assert_eq!(unswitched, expected);
    assert_eq!(off, ["server/1 120+80", "server/1 220+80"]);
}

/// A thread counts from its start; one that ended had a switch at its end.
#[test]
fn threads_that_begin_and_end() {
    let events = [
        (100, 1, In),
        (110, 1, Runs),
        (120, 2, Begins),
        (130, 3, Begins),
        (140, 1, Out),
        (150, 3, Ends),
        (160, 1, In),
        (170, 2, Begins),
        (200, 1, Runs),
    ];
    let (unswitched, off) = of(CLOCK, &events);
    assert_eq!(unswitched, ["/2 asleep 170+30"]);
    assert_eq!(off, ["/1 140+20", "/2 170+30 [asleep]"]);
}

/// Besides the requested threads, the recorder lists the command that it starts, which it does not record.
#[test]
fn threads_that_were_not_asked_for() {
    let server = |tids| [&[(0, 0, AskedFor(tids))], SERVER].concat();
    let asleep = |events: &[Event]| {
        let (mut unswitched, _) = of(CLOCK, events);
        unswitched.retain(|line| line.contains("asleep"));
        unswitched
    };
    assert_eq!(asleep(&server(&[1, 3])), Vec::<String>::new());
    assert_eq!(asleep(&server(&[1, 2, 3])), ["waits/2 asleep 100+200"]);
    assert_eq!(asleep(&server(&[u64::MAX])), ["waits/2 asleep 100+200"]);
}

/// Filters select threads and a part of the time.
#[test]
fn filters() {
    let only = |samples| {
        let result = analyze(recording(CLOCK, &[], SERVER), samples);
        found(&result.expect("a recording")).0
    };
    let all = SampleFilter::default();
    assert_eq!(
        only(SampleFilter { tids: vec![Tid(2)], ..all.clone() }),
        ["waits/2 asleep 100+200"]
    );
    let comms = vec![b"wait*".to_vec()];
    assert_eq!(only(SampleFilter { comms, ..all.clone() }), ["waits/2 asleep 100+200"]);
    let at = |time| Some(options::TimePoint::At(Timestamp(time)));
    let part = |from, to| options::TimeRange { from: at(from), to: at(to) };
    let early = SampleFilter { time: part(100, 240), tids: vec![Tid(2)], ..all.clone() };
    assert_eq!(only(early), ["waits/2 asleep 100+140"]);
    let late = SampleFilter { time: part(150, 400), tids: vec![Tid(2)], ..all.clone() };
    assert_eq!(only(late), ["waits/2 asleep 150+150"]);
    let pids = analyze(recording(CLOCK, &[], SERVER), SampleFilter { pids: vec![Pid(9)], ..all });
    assert!(matches!(pids, Err(Error::NoOffCpuSamples { switches: 2 })), "{pids:?}");
}

/// Processors or control groups that were not recorded may have run the threads.
#[test]
fn recordings_of_some_processors() {
    let command = ["perf", "record", "-a", "-C", "0"];
    let analysis = analyze(recording(CLOCK, &command, SERVER), SampleFilter::default());
    let (unswitched, off) = found(&analysis.expect("a recording"));
    assert_eq!((unswitched.len(), off.len()), (0, 2));
}

/// If all threads sleep, no record has a time.
#[test]
fn nothing_ran() {
    let events = [(0, 1, Listed("server")), (0, 2, Listed("waits"))];
    let error = analyze(recording(CLOCK, &[], &events), SampleFilter::default()).err();
    assert!(matches!(error, Some(Error::NothingRan { threads: 2 })), "{error:?}");
}

/// Without the option, nothing is counted.
#[test]
fn only_if_asked_for() {
    let recording = recording(CLOCK, &[], SERVER);
    let analysis = analyze_with(recording, &Options::default()).expect("a recording");
    assert_eq!(analysis.profile.summary.threads_without_switch, []);
    assert_eq!(analysis.profile.samples.len(), 4);
}
