//! Tests of recordings that are followed live: output before their end, in bounded memory.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use host::{ByteStream, MemoryHost};
use perf_data::Head;
use pipeline::{
    Analysis, Error, Grown, LiveWarning, Observer, Options, Pipeline, RunAccount, Schedule, Sink,
    Source, StreamOptions, Ticks,
};
use profile::Profile;
use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord};

const SECOND: u64 = 1_000_000_000;
/// Far more than the tests need, even on a busy host.
const LIMIT: Duration = Duration::from_secs(60);

/// Writes the stream of a recorder.
struct Recorder {
    out: io::PipeWriter,
    records: PerfDataBuilder,
    samples: u64,
}

impl Recorder {
    /// Returns a recorder and the stream that it writes.
    fn new() -> (Self, Source) {
        let (stream, mut out) = io::pipe().expect("a pipe");
        let mut records = PerfDataBuilder::new(Endian::Little);
        records.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
        records.describe_events();
        out.write_all(&records.build_pipe(&PipeLayout::default())).expect("written");
        let bytes = ByteStream::of_descriptor(stream.into());
        (Self { out, records, samples: 0 }, Source::Stream { name: "-".into(), bytes })
    }

    /// Writes rounds of ten samples, a tenth of a second each, with a distinct address for each sample.
    fn record(&mut self, rounds: u64) {
        for _ in 0..rounds {
            for _ in 0..10 {
                let time = SECOND + self.samples * SECOND / 100;
                let ip = 0x40_0000 + self.samples;
                self.records.sample(&SampleBuilder::at(ip, 7, 7, time));
                self.samples += 1;
            }
            self.records.user_record(&UserRecord::FinishedRound);
        }
        self.out.write_all(&self.records.take_records()).expect("written");
    }
}

/// Forwards each output to the test.
struct Watcher {
    seen: Sender<Seen>,
    enough: Arc<AtomicBool>,
    /// Number of samples that waited, in total, and whether they are to wait no longer.
    waiting: Arc<AtomicU64>,
    urgent: Arc<AtomicBool>,
}

/// Facts about a profile that has grown.
#[derive(Debug)]
struct Seen {
    generation: u32,
    first: u64,
    new: u64,
    kept: usize,
    nodes: usize,
    named: std::ops::Range<u32>,
    account: RunAccount,
}

impl Sink for Watcher {
    fn begin(&mut self, head: &Head, _: &mut Profile, account: &RunAccount) -> io::Result<()> {
        assert_eq!(head.events().len(), 1);
        assert_eq!(account.warnings, [LiveWarning::NoBuildIds]);
        Ok(())
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let (first, samples) = grown.new_samples();
        let new = samples.len() as u64;
        let named = grown.named.start.as_u32()..grown.named.end.as_u32();
        let (kept, nodes) = (grown.profile.samples.len(), grown.profile.stacks.len());
        let (generation, account) = (grown.generation, grown.account.clone());
        let seen = Seen { generation, first, new, kept, nodes, named, account };
        self.seen.send(seen).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn waiting(&mut self, samples: &Profile) {
        let stacks = samples.samples.iter().filter(|row| row.stack.is_some());
        self.waiting.fetch_add(stacks.count() as u64, Ordering::Relaxed);
    }

    fn shows_waiting(&self) -> bool {
        true
    }

    fn wants_all(&mut self) -> bool {
        self.urgent.swap(false, Ordering::Relaxed)
    }

    fn is_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A run on its own thread.
struct Watched {
    seen: Receiver<Seen>,
    enough: Arc<AtomicBool>,
    stop: Arc<Stop>,
    waiting: Arc<AtomicU64>,
    urgent: Arc<AtomicBool>,
    run: std::thread::JoinHandle<Result<Analysis, Error>>,
}

fn by(ticks: Ticks) -> StreamOptions {
    StreamOptions::by(Schedule::Ticks(ticks))
}

fn watch(source: Source, ticks: Ticks) -> Watched {
    let (seen, receiver) = channel();
    let (enough, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(Stop::default()));
    let (waiting, urgent) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
    let (enough_, waiting_, urgent_) = (enough.clone(), waiting.clone(), urgent.clone());
    let mut watcher = Watcher { seen, enough: enough_, waiting: waiting_, urgent: urgent_ };
    let observer = stop.clone();
    let run = std::thread::spawn(move || {
        let observer: Arc<dyn Observer> = observer;
        let pipeline = Pipeline::new(Arc::new(MemoryHost::new()));
        pipeline.analyze_in_steps(source, by(ticks), &Options::default(), &observer, &mut watcher)
    });
    Watched { seen: receiver, enough, stop, waiting, urgent, run }
}

/// Outputs without any pause.
const EAGER: Ticks = Ticks {
    tick: Duration::ZERO,
    max_age: None,
    table_bytes: u64::MAX,
    renew_after: None,
    drops_stacks: false,
    waits_for_evidence: false,
};

#[test]
fn what_has_come_is_handed_on_before_the_end() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, EAGER);
    recorder.record(20);
    let mut all = 0;
    // All have arrived except those of the last half second, which wait for later ones.
    while all < 150 {
        let seen = watched.seen.recv_timeout(LIMIT).expect("samples");
        assert_eq!((seen.generation, seen.first), (0, all));
        all += seen.new;
        assert_eq!((seen.kept as u64, seen.nodes as u64, seen.account.samples), (all, all, all));
        assert!(seen.named.end <= all as u32);
        let lag = seen.account.lag.expect("a lag");
        assert!(!lag.is_exact && lag.age < LIMIT);
    }
    assert!(!watched.run.is_finished());
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    assert_eq!(analysis.profile.samples.len(), 200);
    assert_eq!(analysis.profile.summary.samples, 200);
    let last = watched.seen.iter().last().expect("the rest");
    assert_eq!((last.kept, last.named.end), (200, 200));
}

#[test]
fn samples_wait_for_the_evidence_of_a_whole_run() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, Ticks { waits_for_evidence: true, ..EAGER });
    recorder.record(20);
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    assert_eq!(analysis.profile.samples.len(), 200);
    let new: Vec<u64> = watched.seen.iter().map(|seen| seen.new).filter(|&new| new > 0).collect();
    assert_eq!(new, [200]);
}

#[test]
fn waiting_samples_are_shown_once_and_output_on_request() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, Ticks { waits_for_evidence: true, ..EAGER });
    recorder.record(20);
    let wait_for = |least: u64| {
        while watched.waiting.load(Ordering::Relaxed) < least {
            let seen = watched.seen.recv_timeout(LIMIT).expect("an output");
            assert_eq!(seen.new, 0);
        }
    };
    // Those of the last half second have not arrived.
    wait_for(150);
    watched.urgent.store(true, Ordering::Relaxed);
    let mut new = 0;
    while new == 0 {
        new = watched.seen.recv_timeout(LIMIT).expect("an output").new;
    }
    assert!(new >= 150, "{new}");
    recorder.record(20);
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    assert_eq!(analysis.profile.samples.len(), 400);
    let rest: u64 = watched.seen.iter().map(|seen| seen.new).sum();
    assert_eq!(new + rest, 400);
    assert!(watched.waiting.load(Ordering::Relaxed) <= 400);
}

/// The samples that a full window releases at once are up to 245 s older than the last of them.
#[test]
fn samples_that_waited_long_are_output_before_they_are_dropped() {
    let (mut recorder, source) = Recorder::new();
    let age = Some(Duration::from_secs(2));
    let watched = watch(source, Ticks { waits_for_evidence: true, max_age: age, ..EAGER });
    for _ in 0..40 {
        recorder.record(100);
    }
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    let new: u64 = watched.seen.iter().map(|seen| seen.new).sum();
    assert_eq!(new, 40_000);
    assert!(analysis.profile.samples.len() < 40_000, "old ones are dropped");
}

#[test]
fn a_run_ends_while_it_waits_for_bytes() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, EAGER);
    recorder.record(20);
    watched.seen.recv_timeout(LIMIT).expect("samples");
    watched.stop.0.store(true, Ordering::Relaxed);
    let error = watched.run.join().expect("no panic").expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled), "{error}");
    // The stream is no longer read.
    while recorder.out.write_all(&[0; 4096]).is_ok() {}

    let (recorder, source) = Recorder::new();
    let watched = watch(source, EAGER);
    watched.stop.0.store(true, Ordering::Relaxed);
    let error = watched.run.join().expect("no panic").expect_err("cancelled at the begin");
    assert!(matches!(error, Error::Cancelled), "{error}");
    drop(recorder);
}

#[test]
fn enough_is_as_good_as_the_end() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, EAGER);
    recorder.record(20);
    watched.seen.recv_timeout(LIMIT).expect("samples");
    watched.enough.store(true, Ordering::Relaxed);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    let samples = analysis.profile.samples.len();
    assert!(samples > 0 && samples <= 200, "{samples}");
    drop(recorder);
}

#[test]
fn old_samples_are_forgotten_and_their_stacks_stay() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, Ticks { max_age: Some(Duration::from_secs(2)), ..EAGER });
    let mut kept = 0;
    for _ in 0..20 {
        recorder.record(10);
        kept = kept.max(watched.seen.recv_timeout(LIMIT).expect("samples").kept);
    }
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    let Profile { samples, stacks, summary, .. } = &analysis.profile;
    kept = watched.seen.iter().map(|seen| seen.kept).fold(kept, usize::max);
    // A little more than two seconds, and at most a few steps.
    assert!(kept < 1000 && samples.len() >= 200, "{kept}, {}", samples.len());
    assert_eq!(
        (stacks.len(), summary.samples, summary.frames),
        (2000, samples.len() as u64, samples.len() as u64)
    );
    let times: Vec<u64> = samples.iter().filter_map(|row| row.time()).map(|time| time.0).collect();
    assert!(times.is_sorted() && times.last() == Some(&(SECOND + 1999 * SECOND / 100)));
}

#[test]
fn tables_that_are_too_large_begin_anew() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, Ticks { table_bytes: 64 << 10, ..EAGER });
    let mut all = 0;
    for _ in 0..20 {
        recorder.record(10);
        all += watched.seen.recv_timeout(LIMIT).expect("samples").new;
    }
    drop(recorder);
    let analysis = watched.run.join().expect("no panic").expect("a profile");
    let rest: Vec<Seen> = watched.seen.iter().collect();
    let last = rest.last().expect("the rest");
    assert_eq!(all + rest.iter().map(|seen| seen.new).sum::<u64>(), 2000);
    assert!(last.generation > 0 && last.kept < 2000, "{last:?}");
    assert_eq!(last.account.samples, 2000);
    let Profile { samples, threads, strings, events, summary, .. } = &analysis.profile;
    assert_eq!((samples.len(), threads.len()), (last.kept, 1));
    assert_eq!(
        events.iter().map(|event| strings.get(event.name)).collect::<Vec<_>>(),
        [b"cycles:u"]
    );
    let kinds: Vec<_> = summary.findings.iter().map(|it| (it.kind.as_str(), it.count)).collect();
    assert!(kinds.contains(&("live-began-anew", last.generation.into())), "{kinds:?}");
}

#[test]
fn everything_that_was_opened_is_dropped_after_a_while() {
    let (mut recorder, source) = Recorder::new();
    let watched = watch(source, Ticks { renew_after: Some(Duration::ZERO), ..EAGER });
    let mut seen = Vec::new();
    for _ in 0..5 {
        recorder.record(10);
        seen.push(watched.seen.recv_timeout(LIMIT).expect("samples"));
    }
    drop(recorder);
    watched.run.join().expect("no panic").expect("a profile");
    seen.extend(watched.seen.iter());
    let last = seen.last().expect("the rest");
    assert_eq!(seen.iter().map(|seen| seen.new).sum::<u64>(), 500);
    assert!(last.generation >= 5, "{last:?}");
    // Each generation begins with the first sample after those before.
    assert!(seen.iter().all(|seen| seen.kept as u64 == seen.first + seen.new), "{seen:?}");
}

#[test]
fn a_file_can_be_watched_too() {
    let machine = MemoryHost::new();
    let mut records = PerfDataBuilder::new(Endian::Little);
    records.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    records.describe_events();
    records.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20));
    machine.insert("perf.data", records.build());
    let (seen, receiver) = channel();
    let (enough, waiting, urgent) = Default::default();
    let mut watcher = Watcher { seen, enough, waiting, urgent };
    let observer: Arc<dyn Observer> = Arc::new(Stop::default());
    let source = Source::Path(Path::new("perf.data").to_owned());
    let pipeline = Pipeline::new(Arc::new(machine));
    let analysis =
        pipeline.analyze_in_steps(source, by(EAGER), &Options::default(), &observer, &mut watcher);
    assert_eq!(analysis.expect("a profile").profile.samples.len(), 1);
    assert_eq!(receiver.try_iter().map(|seen| seen.new).sum::<u64>(), 1);
}
