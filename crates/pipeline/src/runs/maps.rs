//! The maps of a recording without its stacks, for commands that need only the mappings.

use std::path::PathBuf;
use std::sync::Arc;

use address::{BuildId, Timestamp};
use budget::MemoryBudget;
use module_map::Timeline;
use perf_data::{Batch, Findings, Head, Session, TimedRecord};
use replay::{apply_record, learn_build_ids, learn_files};

use super::input::{OpenedRecording, RecordingWatch, open};
use super::run::Run;
use crate::error::Error;
use crate::files::Files;
use crate::limits::{check_memory, prefetch};
use crate::setting::Setting;
use crate::source::Source;

/// A replay of the mappings of a recording, record by record.
#[derive(Debug)]
pub struct MapReplay {
    session: Session,
    files: Files,
    watch: RecordingWatch,
    memory: Arc<MemoryBudget>,
    /// The mappings after the records replayed so far.
    pub timeline: Timeline,
    /// Damage of the recording.
    pub findings: Findings,
}

impl MapReplay {
    /// Opens a recording; the timeline then has only the build-ids in its header.
    pub(crate) fn open(setting: &Setting<'_>, source: Source) -> Result<Self, Error> {
        let OpenedRecording { input, path, size, damage, .. } = open(&**setting.host, source)?;
        let watch = RecordingWatch::new(path.clone(), damage);
        let run = Run::new(setting, path, size);
        let mut findings = Findings::default();
        let reading = prefetch(run.options.limits, run.usual_reading());
        let session = Session::open_within(input, reading, &setting.memory, &mut findings);
        let session = session.map_err(|it| run.recording_error(it))?;
        let files = run.files(session.head())?;
        let mut timeline = files.timeline();
        learn_build_ids(&mut timeline, session.head());
        let memory = setting.memory.clone();
        Ok(Self { session, files, watch, memory, timeline, findings })
    }

    /// Returns the recording's header.
    #[must_use]
    pub fn head(&self) -> &Head {
        self.session.head()
    }

    /// Returns the sources of files.
    #[must_use]
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// Replays the whole recording and opens the files of its modules. Returns the path and the build-id of each.
    ///
    /// # Errors
    /// As for [`Self::check_whole`].
    pub fn open_files(mut self) -> Result<Vec<(PathBuf, BuildId)>, Error> {
        while let Some(batch) = self.next_batch() {
            for record in batch.records() {
                self.apply(&record);
            }
        }
        self.check_whole()?;
        self.timeline.advance(Timestamp(u64::MAX));
        let files = self.timeline.modules().iter().filter_map(|module| {
            let image = self.files.images.image(module).ok()?.image();
            Some((image.path().to_owned(), image.build_id()?))
        });
        Ok(files.collect())
    }

    /// Checks that the replay is valid. Call it after the last batch, before the maps are used.
    ///
    /// # Errors
    /// If the recording was truncated while it was read, or if the maps exceed the memory limit.
    pub fn check_whole(&self) -> Result<(), Error> {
        check_memory(&self.memory)?;
        self.watch.check()
    }

    /// Returns the next part of the recording; `None` at its end. The caller applies its records, in order, to
    /// [`Self::timeline`] by [`Self::apply`].
    pub fn next_batch(&mut self) -> Option<Batch> {
        let batch = self.session.next_batch(&mut self.findings)?;
        learn_files(&mut self.timeline, &batch);
        Some(batch)
    }

    /// Applies a record to the timeline.
    pub fn apply(&mut self, record: &TimedRecord<'_>) {
        apply_record(&mut self.timeline, record);
    }
}
