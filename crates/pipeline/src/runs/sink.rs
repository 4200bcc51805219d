//! The sink of a run, which receives the growing profile and an account of the run.

use std::fmt;
use std::io;
use std::ops::Range;
use std::time::Duration;

use address::Timestamp;
use image_store::ImageStore;
use module_map::Timeline;
use options::{Remedy, Spelling};
use perf_data::{Batch, Head};
use profile::{LocationId, Profile, SampleRow};

use crate::names::NameReport;

/// Receives a profile while it grows. A row keeps its id within a generation, and new rows are appended.
pub trait Sink {
    /// Called once, before anything is unwound: the profile has the facts of the header.
    ///
    /// # Errors
    /// If the output cannot be written; the run ends.
    fn begin(
        &mut self,
        _head: &Head,
        _profile: &mut Profile,
        _account: &RunAccount,
    ) -> io::Result<()> {
        Ok(())
    }

    /// A part of the recording was read, and is unwound next.
    fn batch(&mut self, _batch: &Batch, _profile: &mut Profile) {}

    /// The profile has grown, or the account has changed.
    ///
    /// # Errors
    /// If the output cannot be written; the run ends.
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()>;

    /// Samples that were walked since the last call and wait for the evidence of later ones, with their stacks so far.
    /// The growing profile gets them later. Only called in a run by ticks that waits for evidence, if
    /// [`Self::shows_waiting`].
    fn waiting(&mut self, _samples: &Profile) {}

    /// Returns true if [`Self::waiting`] is to be called.
    fn shows_waiting(&self) -> bool {
        false
    }

    /// Returns true if no sample is to wait for later evidence now, since the output so far must be complete. A run by
    /// ticks asks at each tick.
    fn wants_all(&mut self) -> bool {
        false
    }

    /// Returns true if the profile is to be output again although it has not grown, since the sink left out the last
    /// output and can take one now.
    fn is_behind(&self) -> bool {
        false
    }

    /// A share of the samples, from 0 to 1, is unwound.
    ///
    /// # Errors
    /// If the output cannot be written; the run ends.
    fn progress(&mut self, _share: f64) -> io::Result<()> {
        Ok(())
    }

    /// Returns true if the run is to end as if the stream had ended. A run by ticks calls this at least ten times a
    /// second.
    fn is_enough(&self) -> bool {
        false
    }
}

/// The sink of a run that only outputs the complete profile.
#[derive(Debug)]
pub(crate) struct NoSink;

impl Sink for NoSink {
    fn grown(&mut self, _: &Grown<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A profile that has grown.
#[derive(Debug)]
pub struct Grown<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Number of times that the tables were cleared. Ids and sample numbers of earlier generations are invalid.
    pub generation: u32,
    /// The table sizes at the last output in this generation. Later rows are new. Modules can also change, since their
    /// files are opened later.
    pub before: TableSizes,
    /// Number of dropped samples of this generation, which is the number of the first sample in the profile.
    pub forgotten: u64,
    /// Locations looked up since the last output; later ones have no name yet.
    pub named: Range<LocationId>,
    /// The modules, and the mappings of each process.
    pub timeline: &'a Timeline,
    /// The files of the modules.
    pub images: &'a ImageStore,
    /// The account of the names so far.
    pub names: &'a NameReport,
    /// The account of the run.
    pub account: &'a RunAccount,
}

impl Grown<'_> {
    /// Returns the new samples that are not dropped yet, and the number of the first of them.
    #[must_use]
    pub fn new_samples(&self) -> (u64, &[SampleRow]) {
        let first = self.before.samples.max(self.forgotten);
        let skipped = usize::try_from(first - self.forgotten).unwrap_or(usize::MAX);
        (first, self.profile.samples.as_slice().get(skipped..).unwrap_or_default())
    }
}

/// Number of rows in each append-only table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableSizes {
    /// Number of strings.
    pub strings: usize,
    /// Number of events.
    pub events: usize,
    /// Number of modules.
    pub modules: usize,
    /// Number of inlined frames.
    pub inlines: usize,
    /// Number of locations.
    pub locations: usize,
    /// Number of frames.
    pub frames: usize,
    /// Number of nodes of stacks.
    pub stacks: usize,
    /// Number of layouts.
    pub layouts: usize,
    /// Number of threads.
    pub threads: usize,
    /// Number of samples of this generation, including the dropped ones.
    pub samples: u64,
}

impl TableSizes {
    /// Returns the table sizes of a profile with this many dropped samples.
    pub(super) fn of(profile: &Profile, forgotten: u64) -> Self {
        Self {
            strings: profile.strings.len(),
            events: profile.events.len(),
            modules: profile.modules.len(),
            inlines: profile.inlines.len(),
            locations: profile.locations.len(),
            frames: profile.frames.len(),
            stacks: profile.stacks.len(),
            layouts: profile.layouts.len(),
            threads: profile.threads.len(),
            samples: forgotten + profile.samples.len() as u64,
        }
    }
}

/// The account of a run in progress.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunAccount {
    /// Bytes of all records that were read.
    pub bytes: u64,
    /// Number of unwound samples, including the dropped ones.
    pub samples: u64,
    /// Estimated number of samples at the end; 0 for a run by ticks.
    pub expected: usize,
    /// Number of records that the kernel reported as lost.
    pub lost_records: u64,
    /// Number of samples that the kernel reported as lost.
    pub lost_samples: u64,
    /// Time of the newest sample of the profile, on the recording's clock.
    pub newest: Option<Timestamp>,
    /// Its age, if the recording is followed live.
    pub lag: Option<Lag>,
    /// Options that the recording should have been made with.
    pub warnings: Vec<LiveWarning>,
}

/// Age of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lag {
    /// Time from the sample until now.
    pub age: Duration,
    /// True if measured by the recording's own clock. Otherwise the fastest samples of the stream count as age 0 on
    /// arrival, so that the delay common to all samples is not included.
    pub is_exact: bool,
}

/// An option that a recording should have been made with to be followed live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LiveWarning {
    /// `--buildid-mmap`: mappings have no build-ids, and the list of build-ids follows only at the end.
    NoBuildIds,
}

impl fmt::Display for LiveWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBuildIds => write!(
                f,
                "builds of a file cannot be distinguished before the end; {}",
                Remedy::BuildIdsWhileWatched.sentence(Spelling::KEYS)
            ),
        }
    }
}
