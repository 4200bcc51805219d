//! The stream that hotspot reads from its backend. Strings, locations and symbols precede their first use; thread
//! events and samples are in time order. The stream also reports progress.
//!
//! A frame is an *address location* with a *function location* as its parent. The parent of a function location is the
//! location of the function that it was inlined into. A sample refers only to address locations.
//!
//! The messages have the fields of hotspot 1.3.0, which stops reading at a message with more. Later versions have
//! additional fields for disassembly at the end of locations and symbols.
//!
//! Source: the stream as read by Debian's hotspot 1.3.0; Qt's `QDataStream` (version 19) for the encoding of values.

mod details;
mod features;
mod message;
mod tables;
mod tasks;

use std::io;

use address::{Pid, Tid, Timestamp};

use crate::facts::{BYTES, FormatFacts, ShownWeights};
use crate::printer::Printer;
pub use details::{
    Details, ErrorKind, ErrorRow, FieldValue, GroupRow, MemoryNodeRow, SampleExtra, TaskChange,
    TaskEvent, TracepointRow,
};
use message::{MessageKind, Stream};
use profile::query::{BiasCache, StackWalker};
use profile::{FoundBy, Profile, SampleRow};
use tables::Definitions;
use tasks::{TaskRecord, ThreadNames};

/// Number of samples between two progress messages.
const PROGRESS: usize = 4096;

/// Prints the stream of hotspot's backend.
#[derive(Debug, Clone, Copy)]
pub struct Hotspot {
    /// Whether inlined functions are separate symbols.
    pub inlines: bool,
}

impl Hotspot {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts {
        weights: ShownWeights::Events,
        ..FormatFacts::binary(
            "hotspot",
            "the stream that hotspot reads from its backend",
            &[".perfparser"],
            BYTES,
        )
    };
}

impl Printer for Hotspot {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut stream = HotspotStream::new(out, self.inlines);
        let details = Details::default();
        stream.begin(profile, &details)?;
        stream.samples(profile, &details, profile.samples.len())?;
        stream.finish(profile, &details)
    }
}

/// Writer of the stream for a growing profile. Ids in the stream are stable; new definitions are appended.
#[derive(Debug)]
pub struct HotspotStream<W> {
    tables: Definitions<W>,
    names: ThreadNames,
    /// Number of rows of the profile and its details that are already written.
    n_events: usize,
    n_tracepoints: usize,
    n_samples: usize,
    n_tasks: usize,
    n_extras: usize,
    n_errors: usize,
    /// Whether a record reported losses.
    reported_lost: bool,
    /// The last reported progress; it never decreases.
    progress: f64,
}

impl<W: io::Write> HotspotStream<W> {
    /// Returns a stream that writes to `out`. With `inlines`, inlined functions are separate symbols.
    pub fn new(out: W, inlines: bool) -> Self {
        Self {
            tables: Definitions::new(Stream::new(out), inlines),
            names: ThreadNames::default(),
            n_events: 0,
            n_tracepoints: 0,
            n_samples: 0,
            n_tasks: 0,
            n_extras: 0,
            n_errors: 0,
            reported_lost: false,
            progress: 0.0,
        }
    }

    /// Writes the facts of the recording that precede the samples: features and attributes.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn begin(&mut self, profile: &Profile, details: &Details) -> io::Result<()> {
        features::features(&mut self.tables.stream, profile, details);
        self.definitions(profile, details);
        self.progress(0.0)
    }

    /// Writes the new samples, each after the thread events that precede it.
    /// The progress is relative to `expected` samples in total.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn samples(
        &mut self,
        profile: &Profile,
        details: &Details,
        expected: usize,
    ) -> io::Result<()> {
        self.definitions(profile, details);
        let walker = StackWalker::new(profile);
        let mut biases = BiasCache::new();
        let expected = expected.max(profile.samples.len()).max(1);
        for sample in profile.samples.as_slice().get(self.n_samples..).unwrap_or_default() {
            self.tasks(profile, details, sample.time().unwrap_or(Timestamp(0)));
            self.sample(profile, details, sample, &walker, &mut biases);
            self.tables.stream.flush()?;
            self.n_samples += 1;
            if self.n_samples.is_multiple_of(PROGRESS) {
                self.progress(self.n_samples as f64 / expected as f64)?;
            }
        }
        self.errors(details);
        self.progress(self.n_samples as f64 / expected as f64)
    }

    /// Writes the progress, from 0 to 1, and flushes the output.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn progress(&mut self, part: f64) -> io::Result<()> {
        self.progress = part.clamp(self.progress, 1.0);
        let stream = &mut self.tables.stream;
        stream.begin(MessageKind::Progress);
        stream.u64(self.progress.to_bits());
        stream.end();
        stream.flush_all()
    }

    /// Writes the progress of a module's download: received bytes, and total bytes or 0 if unknown.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn download(&mut self, module: &[u8], url: &[u8], done: u64, total: u64) -> io::Result<()> {
        let (module, url) = (self.tables.define(module), self.tables.define(url));
        let stream = &mut self.tables.stream;
        stream.begin(MessageKind::Download);
        stream.i32(module);
        stream.i32(url);
        stream.u64(done);
        stream.u64(total);
        stream.end();
        stream.flush_all()
    }

    /// Writes the data after the last sample, and the final progress.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn finish(&mut self, profile: &Profile, details: &Details) -> io::Result<()> {
        self.definitions(profile, details);
        self.tasks(profile, details, Timestamp(u64::MAX));
        self.lost(profile);
        self.errors(details);
        self.progress(1.0)
    }

    /// Returns the number of rows of `details.tasks` and `details.extras` written since the previous call. The caller
    /// removes them from the front.
    pub const fn take_written(&mut self) -> (usize, usize) {
        let written = (self.n_tasks, self.n_extras);
        (self.n_tasks, self.n_extras) = (0, 0);
        written
    }

    /// Returns the output.
    pub const fn output(&mut self) -> &mut W {
        self.tables.stream.output()
    }

    /// Writes new events and tracepoints; in a pipe they may arrive late.
    fn definitions(&mut self, profile: &Profile, details: &Details) {
        features::attributes(&mut self.tables, profile, self.n_events);
        features::tracepoints(&mut self.tables, profile, details, self.n_tracepoints);
        self.n_events = profile.events.len();
        self.n_tracepoints = details.tracepoints.len();
    }

    /// Writes the thread events up to and including a time.
    fn tasks(&mut self, profile: &Profile, details: &Details, until: Timestamp) {
        let tasks = details.tasks.get(self.n_tasks..).unwrap_or_default();
        for event in tasks.iter().take_while(|event| event.time <= until) {
            self.names.event(&mut self.tables, profile, event);
            self.reported_lost |= matches!(event.what, TaskChange::Lost(_));
            self.n_tasks += 1;
        }
    }

    fn sample<'p>(
        &mut self,
        profile: &Profile,
        details: &Details,
        sample: &SampleRow,
        walker: &StackWalker<'p>,
        biases: &mut BiasCache<'p>,
    ) {
        let thread = profile.threads.get(sample.thread);
        if let Some(thread) = thread {
            self.names.of_sample(&mut self.tables, profile, thread, sample);
        }
        let (pid, tid) = thread.map_or((Pid(-1), Tid(-1)), |thread| (thread.pid, thread.tid));
        let mut guessed = 0_u32;
        let mut locations = Vec::new();
        walker.walk(sample, biases, |frame, addr| {
            let Some(row) = profile.frames.get(frame) else { return };
            // Every frame outside an unproven frame depends on it.
            if guessed > 0 || row.found_by.is_unverified() {
                guessed += 1;
            }
            // Recorded callchains are passed on unchanged, with return addresses.
            let addr = addr.0.wrapping_add(u64::from(row.found_by == FoundBy::Callchain));
            locations.push(self.tables.address(profile, pid, addr, row.location, row.kernel));
        });
        let extra = self.extra(details, pid, tid, sample);
        let fields = extra.and_then(|extra| extra.fields.as_ref()).map(|fields| {
            let named = fields.iter().map(|(name, value)| (*name, value));
            named
                .map(|(name, value)| (self.tables.string(profile, name), value))
                .collect::<Vec<_>>()
        });
        let stream = &mut self.tables.stream;
        stream.begin(if fields.is_some() {
            MessageKind::TracepointSample
        } else {
            MessageKind::Sample
        });
        TaskRecord::of_sample(pid, tid, sample).write(stream);
        stream.u32(locations.len() as u32);
        locations.iter().for_each(|&id| stream.i32(id));
        stream.u8(guessed.min(u32::from(u8::MAX)) as u8);
        let own = [(sample.event, sample.period().unwrap_or(1))];
        let costs = extra.map_or(&[][..], |extra| &extra.costs);
        let costs = if costs.is_empty() { &own } else { costs };
        stream.u32(costs.len() as u32);
        for &(event, cost) in costs {
            stream.i32(event.as_u32() as i32);
            stream.u64(cost);
        }
        if let Some(fields) = fields {
            stream.u32(fields.len() as u32);
            for (name, value) in fields {
                stream.i32(name);
                stream.variant(value);
            }
        }
        stream.end();
    }

    /// Returns the additional data of a sample. Data of samples that were filtered out is skipped.
    fn extra<'p>(
        &mut self,
        details: &'p Details,
        pid: Pid,
        tid: Tid,
        sample: &SampleRow,
    ) -> Option<&'p SampleExtra> {
        let time = sample.time().unwrap_or(Timestamp(0));
        loop {
            let extra = details.extras.get(self.n_extras)?;
            let is_its = extra.time == time
                && (extra.pid, extra.tid, extra.event) == (pid, tid, sample.event);
            if !is_its && extra.time >= time {
                return None;
            }
            self.n_extras += 1;
            if is_its {
                return Some(extra);
            }
        }
    }

    /// Writes a loss at the end if the kernel lost samples but no record reported it; the times are unknown.
    fn lost(&mut self, profile: &Profile) {
        let reported = self.reported_lost;
        let lost = profile.summary.lost_samples;
        let Some(last) = profile.samples.iter().next_back().filter(|_| lost > 0 && !reported)
        else {
            return;
        };
        let Some(thread) = profile.threads.get(last.thread) else { return };
        let stream = &mut self.tables.stream;
        stream.begin(MessageKind::Lost);
        TaskRecord::of_sample(thread.pid, thread.tid, last).write(stream);
        stream.end();
    }

    /// Writes the messages for the user that were not written yet.
    fn errors(&mut self, details: &Details) {
        for error in details.errors.get(self.n_errors..).unwrap_or_default() {
            let stream = &mut self.tables.stream;
            stream.begin(MessageKind::Error);
            stream.i32(error.kind as i32);
            stream.text(&error.message);
            stream.end();
            self.n_errors += 1;
        }
    }
}
