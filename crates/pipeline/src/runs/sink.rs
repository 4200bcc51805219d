//! The sink of a run: it takes a profile while the profile grows, and an account of how the run goes.

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

/// Takes a profile while it grows. A row keeps its id as long as the generation is the same, and new rows come after it.
pub trait Sink {
    /// Called once, before anything is unwound: the profile has the facts of the header.
    ///
    /// # Errors
    /// If nothing can be written; the run ends.
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
    /// If nothing can be written; the run ends.
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()>;

    /// A share of the samples, from 0 to 1, is unwound.
    ///
    /// # Errors
    /// If nothing can be written; the run ends.
    fn progress(&mut self, _share: f64) -> io::Result<()> {
        Ok(())
    }

    /// Whether the run is to end as if the stream had ended. A run by ticks asks at least ten times a second.
    fn is_enough(&self) -> bool {
        false
    }
}

/// The sink of a run whose profile is complete when it is handed on.
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
    /// Counts up each time the tables begin anew: earlier ids and numbers of samples are void then.
    pub generation: u32,
    /// The sizes of the tables when they were last handed on in this generation. Rows behind are new. Modules can also
    /// change, since their files are opened later.
    pub before: TableSizes,
    /// The number of the first sample of the profile: so many of this generation are forgotten.
    pub forgotten: u64,
    /// Locations that were given their names since the last time; those behind have none yet.
    pub named: Range<LocationId>,
    /// The modules, and the mappings of each process.
    pub timeline: &'a Timeline,
    /// The files of the modules.
    pub images: &'a ImageStore,
    /// The account of the names so far.
    pub names: &'a NameReport,
    /// How the run goes.
    pub account: &'a RunAccount,
}

impl Grown<'_> {
    /// The new samples that are not forgotten already, and the number of the first of them.
    #[must_use]
    pub fn new_samples(&self) -> (u64, &[SampleRow]) {
        let first = self.before.samples.max(self.forgotten);
        let skipped = usize::try_from(first - self.forgotten).unwrap_or(usize::MAX);
        (first, self.profile.samples.as_slice().get(skipped..).unwrap_or_default())
    }
}

/// How many rows the tables have that only grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableSizes {
    /// Strings.
    pub strings: usize,
    /// Events.
    pub events: usize,
    /// Modules.
    pub modules: usize,
    /// Inline frames.
    pub inlines: usize,
    /// Locations.
    pub locations: usize,
    /// Frames.
    pub frames: usize,
    /// Nodes of stacks.
    pub stacks: usize,
    /// Layouts.
    pub layouts: usize,
    /// Threads.
    pub threads: usize,
    /// Samples of this generation, with those that are forgotten.
    pub samples: u64,
}

impl TableSizes {
    /// The sizes of a profile of which so many samples are forgotten.
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

/// How a run goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunAccount {
    /// Bytes of all records that were read.
    pub bytes: u64,
    /// Samples that are unwound, with those that are forgotten.
    pub samples: u64,
    /// An estimate of the number of samples at the end. It is not made for a recording that is watched.
    pub expected: usize,
    /// Records that the kernel says it lost.
    pub lost_records: u64,
    /// Samples that the kernel says it lost.
    pub lost_samples: u64,
    /// The time of the newest sample of the profile, on the recording's clock.
    pub newest: Option<Timestamp>,
    /// How old it is, if the recording is watched.
    pub lag: Option<Lag>,
    /// Options that the recording should have been made with.
    pub warnings: Vec<LiveWarning>,
}

/// How old a sample is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lag {
    /// From its time until now.
    pub age: Duration,
    /// Whether that is by the recording's own clock. Else it is by the quickest samples of the stream, which count as new
    /// when they come: what all samples wait for in the recorder is not in it.
    pub is_exact: bool,
}

/// What a recording that is watched should have been made with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LiveWarning {
    /// `--buildid-mmap`: maps come without build-ids, and the list of them comes at the end.
    NoBuildIds,
}

impl fmt::Display for LiveWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBuildIds => write!(
                f,
                "files cannot be told from other builds of them before the end; {}",
                Remedy::BuildIdsWhileWatched.sentence(Spelling::KEYS)
            ),
        }
    }
}
