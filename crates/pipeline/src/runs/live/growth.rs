//! What those get who watch a recording while it is made: a profile that grows and forgets, and an account of how well
//! the watching goes.

use std::fmt;
use std::io;
use std::ops::Range;
use std::time::Duration;

use address::{Arch, Timestamp};
use image_store::ImageStore;
use module_map::Timeline;
use options::{Remedy, Spelling};
use perf_data::Head;
use profile::{LocationId, Profile, SampleRow};

use crate::names::NameReport;

/// How a recording is watched.
#[derive(Clone, Copy, Debug)]
pub struct LiveOptions {
    /// The processor of a recording that does not state it.
    pub arch: Option<Arch>,
    /// What has come is handed on as often as this at most.
    pub tick: Duration,
    /// Samples that are older, by the times of the recording, are forgotten; `None` for none.
    pub keep: Option<Duration>,
    /// So many bytes the tables and what is known of threads may take. Where they take more, they begin anew: all samples
    /// so far are forgotten, with their stacks.
    pub table_bytes: u64,
}

impl Default for LiveOptions {
    /// Twice a second; ten minutes are kept; 64 MiB beside the samples of these.
    fn default() -> Self {
        Self {
            arch: None,
            tick: Duration::from_millis(500),
            keep: Some(Duration::from_secs(600)),
            table_bytes: 64 << 20,
        }
    }
}

/// Watches a recording while it is made.
pub trait LiveGrowth {
    /// Called once, before anything is unwound: the profile has what the header says.
    ///
    /// # Errors
    /// Where nothing can be written; the run ends.
    fn begin(&mut self, head: &Head, profile: &Profile, account: &LiveAccount) -> io::Result<()>;

    /// The profile has grown, or the account has changed.
    ///
    /// # Errors
    /// Where nothing can be written; the run ends.
    fn grown(&mut self, grown: &LiveGrown<'_>) -> io::Result<()>;

    /// Whether that was enough: the run ends then as if the stream had. Asked for ten times a second at least.
    fn is_enough(&self) -> bool {
        false
    }
}

/// A profile that has grown. What has an id keeps it as long as the generation is the same; samples have numbers.
#[derive(Debug)]
pub struct LiveGrown<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Counts up where the tables began anew: ids and numbers of before mean nothing any more.
    pub generation: u32,
    /// How large the tables were when they were handed on last in this generation. Rows behind are new. Modules can also
    /// change, since their files are opened later.
    pub before: TableSizes,
    /// The number of the first sample of the profile: so many of this generation are forgotten.
    pub forgotten: u64,
    /// Locations that were given their names since the last time; those behind have none yet.
    pub named: Range<LocationId>,
    /// The modules, and what was mapped where.
    pub timeline: &'a Timeline,
    /// The files of the modules.
    pub images: &'a ImageStore,
    /// What is to be said of the names so far.
    pub names: &'a NameReport,
    /// How the watching goes.
    pub account: &'a LiveAccount,
}

impl LiveGrown<'_> {
    /// The samples that are new, as far as they are not forgotten already, and the number of the first of them.
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

/// How the watching of a recording goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LiveAccount {
    /// Bytes of all records that were read.
    pub bytes: u64,
    /// Samples that are unwound, with those that are forgotten.
    pub samples: u64,
    /// Records that the kernel says it lost.
    pub lost_records: u64,
    /// Samples that the kernel says it lost.
    pub lost_samples: u64,
    /// The time of the newest sample of the profile, on the recording's clock.
    pub newest: Option<Timestamp>,
    /// How old it is.
    pub lag: Option<Lag>,
    /// What the recording should have been made with.
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
