//! The maps of a recording without its stacks: what was mapped where, for those who ask for nothing else.

use std::sync::Arc;

use budget::Memory;
use module_map::Timeline;
use perf_data::{Batch, Findings, Head, Session, TimedRecord};
use replay::{apply_record, learn_build_ids, learn_files};

use super::input::{Opened, RecordingWatch, open};
use super::run::Run;
use crate::error::Error;
use crate::files::Files;
use crate::limits::{check_memory, prefetch};
use crate::setting::Setting;
use crate::source::Source;

/// A recording whose maps are replayed, record by record.
#[derive(Debug)]
pub struct MapReplay {
    session: Session,
    files: Files,
    watch: RecordingWatch,
    memory: Arc<Memory>,
    /// What was mapped where, as far as the records were replayed.
    pub timeline: Timeline,
    /// What is wrong with the recording.
    pub findings: Findings,
}

impl MapReplay {
    /// Opens a recording; nothing but what its header lists is known then.
    pub(crate) fn open(setting: &Setting<'_>, source: Source) -> Result<Self, Error> {
        let Opened { input, path, size, damage, .. } = open(&**setting.host, source)?;
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

    /// What the header says.
    #[must_use]
    pub fn head(&self) -> &Head {
        self.session.head()
    }

    /// Where files come from.
    #[must_use]
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// To be asked after the last batch, before anything is made of the maps.
    ///
    /// # Errors
    /// Where bytes of the recording went missing while it was read, or the maps take too much memory.
    pub fn check_whole(&self) -> Result<(), Error> {
        check_memory(&self.memory)?;
        self.watch.check()
    }

    /// The next part of the recording, `None` at its end. Its records are to be applied, in their order, to
    /// [`Self::timeline`]: see [`Self::apply`].
    pub fn next_batch(&mut self) -> Option<Batch> {
        let batch = self.session.next_batch(&mut self.findings)?;
        learn_files(&mut self.timeline, &batch);
        Some(batch)
    }

    /// Moves the timeline over a record.
    pub fn apply(&mut self, record: &TimedRecord<'_>) {
        apply_record(&mut self.timeline, record);
    }
}
