//! The replay of a recording, the quick way where it can be done: while the file is read, in the hope that its rounds
//! keep their promise and that no file was replaced under its path. Where that fails, it is done again, the slow way.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use module_map::{Library, Timeline};
use perf_data::{EagerWindows, Findings, RecordCounts, Session, SessionOptions, Window};
use unwinder::{Replay, ReplayOptions, Replayer};

use crate::ahead::Ahead;
use crate::args::RunArgs;
use crate::files::Files;
use crate::filter::filter;
use crate::input::Behind;
use crate::memory_limit::MemoryLimit;
use crate::open;
use crate::terminal::Progress;
use crate::timings::Timings;

/// A replayed recording and what it was replayed with.
pub(crate) struct Replayed {
    pub(crate) session: Session,
    pub(crate) found: Findings,
    pub(crate) files: Files,
    pub(crate) timeline: Timeline,
    pub(crate) replay: Replay,
    pub(crate) ahead: Ahead,
}

/// Opens and replays the recording.
pub(crate) fn run(
    input: &Path,
    cli: &RunArgs,
    progress: &Progress,
    timings: &mut Timings,
) -> anyhow::Result<Replayed> {
    let metadata = std::fs::metadata(input).ok();
    let size = metadata.as_ref().filter(|metadata| metadata.is_file()).map(Metadata::len);
    // What is read but once must be replayed right at once.
    let quick = Attempt { input, cli, progress, size, quick: true };
    if metadata.is_some_and(|metadata| metadata.is_file() || metadata.is_dir())
        && let Some(replayed) = quick.run(timings)?
    {
        return Ok(replayed);
    }
    let slow = Attempt { input, cli, progress, size, quick: false };
    slow.run(timings)?.context("the replay was broken off")
}

/// What is read, and what is told of it.
struct Reading<'r> {
    session: &'r mut Session,
    found: &'r mut Findings,
    behind: &'r mut Option<Behind>,
    ahead: &'r mut Ahead,
    library: &'r Arc<Library>,
}

/// One way through the recording.
struct Attempt<'a> {
    input: &'a Path,
    cli: &'a RunArgs,
    progress: &'a Progress,
    /// Bytes of the recording, where it is a file.
    size: Option<u64>,
    quick: bool,
}

impl Attempt<'_> {
    /// All of it; `None` where the quick way turned out to be wrong.
    fn run(&self, timings: &mut Timings) -> anyhow::Result<Option<Replayed>> {
        let Self { input: path, cli, .. } = *self;
        self.progress.stage("reading");
        let mut found = Findings::default();
        let (input, mut behind) = open::open_once(path)?;
        let reading = SessionOptions {
            eager: self.quick.then(EagerWindows::default),
            ..SessionOptions::default()
        };
        let reading = MemoryLimit::apply(cli.max_memory, reading);
        let mut session = Session::open(input, reading, &mut found)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let options = ReplayOptions {
            filter: filter(&cli.filters, session.head().events())?,
            max_frames: cli.max_frames.max(1),
            learn_files: !self.quick,
        };
        let files = Files::new(&cli.files, session.head())?;
        timings.ended("open");
        let mut next = session.next_window(&mut found);
        loop {
            let mut timeline = Timeline::new();
            files.tell(&mut timeline);
            let mut replayer = Replayer::new(&mut timeline, &files.library, &options);
            let mut ahead = Ahead::default();
            let reading = Reading {
                session: &mut session,
                found: &mut found,
                behind: &mut behind,
                ahead: &mut ahead,
                library: &files.library,
            };
            next = self.feed(&mut replayer, next, reading, timings)?;
            if self.quick && replayer.saw_replaced_file() {
                return Ok(None);
            }
            if next.is_none() {
                let replay = replayer.finish(&|done| self.progress.done(done));
                timings.ended("replay");
                return Ok(Some(Replayed { session, found, files, timeline, replay, ahead }));
            }
        }
    }

    /// Feeds windows, to the last one or to one that starts over, which is given back.
    fn feed(
        &self,
        replayer: &mut Replayer<'_>,
        first: Option<Window>,
        reading: Reading<'_>,
        timings: &mut Timings,
    ) -> anyhow::Result<Option<Window>> {
        let Reading { session, found, behind, ahead, library } = reading;
        let mut samples = 0;
        let mut next = first;
        while let Some(window) = next {
            timings.ended("scan");
            samples += window.samples().len() as u64;
            self.progress.samples("unwinding", self.expected(samples, session.counts()));
            let first = window.first_position();
            replayer.feed(window, &|done| self.progress.done(done));
            if let (Some(behind), Some(first)) = (behind.as_mut(), first) {
                // The windows before this one were walked; in a plain file positions are offsets.
                behind.is_done_up_to(first);
            }
            ahead.look(&replayer.partial(), library, (self.cli, self.input));
            timings.ended("replay");
            MemoryLimit::check(self.cli.max_memory)?;
            if self.quick && replayer.saw_replaced_file() {
                return Ok(None);
            }
            next = session.next_window(found);
            if next.as_ref().is_some_and(Window::starts_over) {
                return Ok(next);
            }
        }
        Ok(None)
    }

    /// How many samples there will be, if the rest of the file is like what was read.
    fn expected(&self, samples: u64, counts: &RecordCounts) -> u64 {
        let read = u128::from(counts.total().bytes.max(1));
        let all = self.size.map_or(0, |size| u128::from(samples) * u128::from(size) / read);
        samples.max(u64::try_from(all).unwrap_or(samples))
    }
}
