//! Live recording: sends new rows to the front with each tick, and the current tables on request.

mod tables;

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use formats::{LivePage, LiveStep};
use host::ByteStream;
use pipeline::{Analysis, Grown, Head, RunAccount, Schedule, Sink, Source, StreamOptions, Ticks};
use profile::Profile;

use super::about::about;
use super::answer::{Answer, answer, not_written};
use super::outbox::ReplySender;
use super::task_context::TaskContext;
use crate::problem::Problem;
use crate::protocol::{LiveChange, LiveNumbers, LiveTask, LiveTick, WorkerEvent};
pub(super) use tables::LiveTables;

/// Maximum bytes of rows in an update; beyond it, clients must reload the tables.
const MOST_ROWS: usize = 4 << 20;

/// Follows a stream to its end.
pub(super) fn watch(context: &mut TaskContext<'_>, task: &LiveTask) -> Result<Answer, Problem> {
    let mut bytes = ByteStream::of_descriptor(context.file()?);
    let output = context.output()?;
    let mut copy = None;
    if task.copied {
        let (copied, end) = bytes.copied_into(context.output()?);
        (bytes, copy) = (copied, Some(end));
    }
    let worker = context.worker;
    let mut rows = LiveRows {
        id: context.id,
        outbox: Arc::clone(&worker.outbox),
        tables: &worker.live,
        inlines: task.options.usual.inlines,
        generation: 0,
        numbers: LiveNumbers::default(),
    };
    *worker.live.lock() = (LivePage::new(task.options.usual.inlines), 0);
    let ticks = Ticks { max_age: task.keep.map(Duration::from_millis), ..Ticks::default() };
    let stream = StreamOptions::by(Schedule::Ticks(ticks));
    let options = task.options.apply(&worker.options.options);
    let source = Source::Stream { name: task.name.clone().into(), bytes };
    let observer = &context.observer;
    let ended = worker.pipeline.analyze_in_steps(source, stream, &options, observer, &mut rows);
    // A failed copy is reported even if the run failed, too.
    let copied = copy.map_or(Ok(()), |copy| copy.complete());
    let ended = ended.map_err(Problem::from);
    copied.map_err(|error| not_written(&error))?;
    finish(&worker.live, &ended?, output)
}

/// Writes the final tables; the answer is the account of the run.
fn finish(tables: &LiveTables, analysis: &Analysis, output: File) -> Result<Answer, Problem> {
    tables.lock().0.end(&analysis.profile);
    write(tables, output)?;
    answer(&about(&analysis.profile, analysis.is_damaged))
}

/// Writes the compressed tables; the answer is their tick.
pub(super) fn write(tables: &LiveTables, output: File) -> Result<Answer, Problem> {
    let (bytes, tick) = {
        let tables = tables.lock();
        (tables.0.tables(tables.1), tables.1)
    };
    let Some(bytes) = bytes else { return answer(&None::<u64>) };
    // Fast compression, since the tables are mostly read on this host.
    let mut sink = GzEncoder::new(output, Compression::fast());
    let written = sink.write_all(&bytes).and_then(|()| sink.finish()).and_then(|mut it| it.flush());
    written.map_err(|error| not_written(&error))?;
    answer(&tick)
}

/// Sends updates to the front.
struct LiveRows<'t> {
    id: u64,
    outbox: Arc<ReplySender>,
    tables: &'t LiveTables,
    inlines: bool,
    generation: u32,
    numbers: LiveNumbers,
}

impl LiveRows<'_> {
    fn count(&mut self, account: &RunAccount) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let numbers = &mut self.numbers;
        numbers.samples = account.samples;
        numbers.bytes = account.bytes;
        numbers.lost_records = account.lost_records;
        numbers.lost_samples = account.lost_samples;
        numbers.newest = account.newest.map(|time| time.0);
        numbers.lag = account.lag.map(|lag| lag.age.as_secs_f64());
        numbers.lag_is_exact = account.lag.is_some_and(|lag| lag.is_exact);
        numbers.sent = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        numbers.warnings = account.warnings.iter().map(ToString::to_string).collect();
    }

    fn send(&self, tick: u64, change: LiveChange) {
        let tick = LiveTick { tick, numbers: self.numbers.clone(), change };
        self.outbox.send(self.id, WorkerEvent::Live(Box::new(tick)));
    }
}

impl Sink for LiveRows<'_> {
    fn begin(&mut self, _: &Head, _: &mut Profile, account: &RunAccount) -> io::Result<()> {
        self.count(account);
        self.send(0, LiveChange::None);
        Ok(())
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let Grown { profile, generation, forgotten, named, account, .. } = grown;
        self.count(account);
        let mut tables = self.tables.lock();
        let (page, tick) = &mut *tables;
        if *generation != self.generation {
            *page = LivePage::new(self.inlines);
            self.generation = *generation;
        }
        let step = LiveStep { profile, forgotten: *forgotten, named: named.clone() };
        let rows = page.grow(&step).filter(|rows| rows.len() <= MOST_ROWS);
        *tick += 1;
        let now = *tick;
        self.numbers.kept = page.samples() as u64;
        self.numbers.nodes = page.nodes() as u64;
        drop(tables);
        let rows = rows.map(|rows| STANDARD.encode(rows));
        self.send(now, rows.map_or(LiveChange::FromScratch, LiveChange::Rows));
        Ok(())
    }
}
