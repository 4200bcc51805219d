//! From a recording to a profile: open, replay, symbolize.
//!
//! A [`Pipeline`] combines a host with the state shared by successive runs.
//! [`Pipeline::analyze`] returns the [`Profile`] of a whole recording, [`Pipeline::analyze_in_steps`] also delivers it
//! while it grows, and [`Pipeline::maps`] replays only the maps.
//! [`Options`] describe a run. They are plain values, whether they come from arguments, a request or a test.
//! An [`Observer`] receives the progress of a run and can stop it. All work is done on the current rayon pool.
//!
//! ```
//! use std::sync::Arc;
//! use host::MemoryHost;
//! use pipeline::{Observer, Options, Pipeline, Source, Unobserved};
//! use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder};
//!
//! // A recording of one sample: thread 7 at 0x40_1000, in no mapping.
//! let mut recording = PerfDataBuilder::new(Endian::Little);
//! recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
//! recording.describe_events();
//! recording.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20));
//!
//! // A host with the recording and no other file.
//! let machine = MemoryHost::new();
//! machine.insert("perf.data", recording.build());
//!
//! let pipeline = Pipeline::new(Arc::new(machine));
//! let observer: Arc<dyn Observer> = Arc::new(Unobserved);
//! let analysis = pipeline.analyze(Source::Path("perf.data".into()), &Options::default(), &observer)?;
//!
//! let profile = &analysis.profile;
//! let event = &profile.events.as_slice()[0];
//! assert_eq!(profile.strings.get(event.name), b"cycles:u");
//! assert_eq!(profile.samples.len(), 1);
//! assert_eq!(profile.locations.as_slice()[0].relative, 0x40_1000);
//! # Ok::<(), pipeline::Error>(())
//! ```
//!
//! `examples/top_functions.rs` prints the most expensive functions.
//!
//! [`Profile`]: profile::Profile

mod analysis_sources;
mod bundled;
mod cached_rules;
mod code;
mod error;
mod files;
mod identified_files;
mod limits;
mod loaded;
mod named_stacks;
mod names;
mod observer;
mod recalled;
mod recording_key;
mod references;
mod rejected_samples;
mod runs;
mod sampled_files;
mod setting;

mod source;
mod timings;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use budget::{Budget, MemoryBudget};
use cache::Cache;
use host::Host;
use perf_data::Input;
use profile::Profile;

use crate::setting::{Setting, SharedState};

pub use address::{BuildId, FileOffset, Pid, Svma, Tid};
pub use bundled::{FindFile, ResolvedSource, search_in_bundle};
pub use code::{CodeError, CodeReader, FunctionCode, outside_targets};
pub use error::Error;
pub use files::{Files, SourceFiles, usual_build_id_dirs};
pub use identified_files::{FileLookupError, IdentifiedFile, IdentifiedFiles, OpenedSection};
pub use image_store::ImageLimits;
pub use loaded::{LoadedProfile, LoadedProfiles};
pub use names::NameReport;
pub use observer::{Download, Observer, ServerWait, Stage, Unobserved};
pub use options::{
    CacheLocation, Demangle, FileSearch, Join, Limits, MemoryLimit, NameOptions, OptionName,
    Options, SampleFilter, Servers, Spelling, TimePoint, TimeRange,
};
pub use perf_data::{Error as RecordingError, Head};
pub use recalled::RecallNeeds;
pub use recording_key::recording_key;
pub use references::servers_of_environment;
pub use rejected_samples::RejectedSamples;
pub use replay::{
    ListedFunction, NoProbe, ProbeArgument, ProbeError, ProbePlace, ProbePlaces, ProbeRequest,
    STACKS_DROPPED, VariableError, VariableListing, find_probes,
};
pub use runs::{
    Analysis, Grown, Lag, LiveWarning, MapReplay, RecordingWatch, RunAccount, Schedule, Sink,
    StreamOptions, TableSizes, Ticks, dangling_ids,
};
pub use sampled_files::{FileAvailability, SampledFile};
pub use source::Source;
pub use symbolizer::{Instruction, NoInstructions, ResolvedAddress, Symbols, WhyNoName};
pub use timings::Timings;

/// The path from recordings to profiles on one host. Opened files and their unwind rules are cached across runs, so
/// that the next recording of the same programs is faster. Clones share the cache.
#[derive(Clone, Debug)]
pub struct Pipeline {
    host: Arc<dyn Host>,
    shared: Arc<SharedState>,
    spelling: Spelling,
}

impl Pipeline {
    /// Creates a pipeline that opens files by `host`. Untrusted recordings need a pipeline with a host that refuses the
    /// files that they name.
    #[must_use]
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self::with_image_limits(host, ImageLimits::default())
    }

    /// Like [`Self::new`], with limits on the cached files.
    #[must_use]
    pub fn with_image_limits(host: Arc<dyn Host>, limits: ImageLimits) -> Self {
        Self::within(host, limits, Budget::default())
    }

    /// Like [`Self::with_image_limits`], with limits on the cost of recordings and files.
    #[must_use]
    pub fn within(host: Arc<dyn Host>, limits: ImageLimits, budget: Budget) -> Self {
        let shared = Arc::new(SharedState::new(limits, budget));
        Self { host, shared, spelling: Spelling::KEYS }
    }

    /// Returns a pipeline for another host that has the same files, and shares the cache with it.
    /// An example is a host with a recording that another process opened.
    #[must_use]
    pub fn on(&self, host: Arc<dyn Host>) -> Self {
        Self { host, shared: Arc::clone(&self.shared), spelling: self.spelling }
    }

    /// The host that opens all files.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    /// Sets the spelling of options in the advice of the output.
    #[must_use]
    pub fn spelling(self, spelling: Spelling) -> Self {
        Self { spelling, ..self }
    }

    /// Drops the cached files. Runs in progress are not affected.
    pub fn clear(&self) {
        self.shared.clear();
    }

    /// Reads the options that file options refer to: files with hints, and the debuginfod servers of the environment.
    /// Runs do this themselves; call it to find mistakes before a run.
    ///
    /// # Errors
    /// If a file with hints cannot be read or has a line that is not a hint, or the environment names no server.
    pub fn resolve(&self, files: &FileSearch) -> Result<FileSearch, Error> {
        references::resolved(files, &*self.host).map(Cow::into_owned)
    }

    /// Opens, replays and symbolizes a recording.
    ///
    /// # Errors
    /// If the recording cannot be opened, an option does not fit it, a limit is reached, or the observer stops the run.
    /// Damage is not an error but a finding.
    pub fn analyze(
        &self,
        source: Source,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<Analysis, Error> {
        let ResolvedSource { pipeline, source, options, bundle } =
            self.resolve_source(source, options)?;
        let analysis = runs::analyze(&pipeline.setting(&options, observer), source)?;
        Ok(Analysis { is_of_bundle: bundle.is_some(), ..analysis })
    }

    /// Like [`Self::analyze`], in steps: `sink` receives the profile while it grows, by the schedule of `stream`.
    ///
    /// With [`Ticks`], a recording is followed while it is made, for hours in bounded memory. The result is the profile
    /// of the retained samples.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use host::{ByteStream, MemoryHost};
    /// use perf_data::Head;
    /// use pipeline::{
    ///     Grown, Observer, Options, Pipeline, RunAccount, Schedule, Sink, Source, StreamOptions, Ticks, Unobserved,
    /// };
    /// use profile::Profile;
    /// use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord};
    ///
    /// /// Writes a line for each step.
    /// #[derive(Default)]
    /// struct Deltas(Vec<String>);
    ///
    /// impl Sink for Deltas {
    ///     fn begin(&mut self, _: &Head, _: &mut Profile, account: &RunAccount) -> std::io::Result<()> {
    ///         self.0.extend(account.warnings.iter().map(ToString::to_string));
    ///         Ok(())
    ///     }
    ///
    ///     fn grown(&mut self, grown: &Grown<'_>) -> std::io::Result<()> {
    ///         let (first, samples) = grown.new_samples();
    ///         let stacks = grown.profile.stacks.len() - grown.before.stacks;
    ///         let named = grown.named.end.as_u32() - grown.named.start.as_u32();
    ///         let lost = grown.account.lost_records;
    ///         self.0.push(format!(
    ///             "samples from {first} on: {}; new nodes: {stacks}; named: {named}; lost: {lost}",
    ///             samples.len()
    ///         ));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// // The output of `perf record -o -`: two samples at one address.
    /// let mut recording = PerfDataBuilder::new(Endian::Little);
    /// recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    /// recording.describe_events();
    /// for time in [20, 30] {
    ///     recording.sample(&SampleBuilder::at(0x40_1000, 7, 7, time));
    ///     recording.user_record(&UserRecord::FinishedRound);
    /// }
    /// let bytes = recording.build_pipe(&PipeLayout::default());
    /// let bytes = ByteStream::of_reader(std::io::Cursor::new(bytes));
    ///
    /// let pipeline = Pipeline::new(Arc::new(MemoryHost::new()));
    /// let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    /// let source = Source::Stream { name: "-".into(), bytes };
    /// let mut deltas = Deltas::default();
    /// let stream = StreamOptions::by(Schedule::Ticks(Ticks::default()));
    /// let options = Options::default();
    /// let analysis = pipeline.analyze_in_steps(source, stream, &options, &observer, &mut deltas)?;
    ///
    /// let warning = "builds of a file cannot be distinguished before the end; record with --buildid-mmap";
    /// let new = "samples from 0 on: 2; new nodes: 1; named: 1; lost: 0";
    /// assert_eq!(deltas.0, [warning, new]);
    /// assert_eq!(analysis.profile.samples.len(), 2);
    /// # Ok::<(), pipeline::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Self::analyze`], and if `sink` cannot write.
    pub fn analyze_in_steps(
        &self,
        source: Source,
        stream: StreamOptions,
        options: &Options,
        observer: &Arc<dyn Observer>,
        sink: &mut dyn Sink,
    ) -> Result<Analysis, Error> {
        let ResolvedSource { pipeline, source, mut options, bundle } =
            self.resolve_source(source, options)?;
        if matches!(stream.schedule, Schedule::Ticks(_)) {
            // A tick looks up a few names; the cache would rewrite its file at each.
            options.cache = None;
        }
        let setting = pipeline.setting(&options, observer);
        let analysis = runs::analyze_in_steps(&setting, source, stream, sink)?;
        Ok(Analysis { is_of_bundle: bundle.is_some(), ..analysis })
    }

    /// Returns the header of a recording as a profile without samples.
    ///
    /// # Errors
    /// If the file does not exist or is not a recording.
    pub fn head(&self, source: Source) -> Result<Profile, Error> {
        let ResolvedSource { pipeline, source, .. } =
            self.resolve_source(source, &Options::default())?;
        runs::head(&*pipeline.host, source)
    }

    /// Opens a recording for callers that read its records themselves. The watch shows whether it was complete to the
    /// end.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub fn open(&self, source: Source) -> Result<(Input, RecordingWatch), Error> {
        let ResolvedSource { pipeline, source, .. } =
            self.resolve_source(source, &Options::default())?;
        let opened = runs::open(&*pipeline.host, source)?;
        Ok((opened.input, RecordingWatch::new(opened.path, opened.damage)))
    }

    /// Opens a recording to replay its maps alone.
    ///
    /// # Errors
    /// As for [`Self::analyze`].
    pub fn maps(
        &self,
        source: Source,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<MapReplay, Error> {
        let ResolvedSource { pipeline, source, options, .. } =
            self.resolve_source(source, options)?;
        MapReplay::open(&pipeline.setting(&options, observer), source)
    }

    /// Returns access by build-id to the files of the host, without a recording. `options` say how to find them.
    ///
    /// # Errors
    /// If an archive or a server address in the options cannot be used.
    pub fn identified_files(
        &self,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<IdentifiedFiles, Error> {
        IdentifiedFiles::new(&self.setting(options, observer))
    }

    /// Returns the limits on the cost of recordings and files.
    fn budget(&self) -> Budget {
        self.shared.generation().budget
    }

    fn setting<'a>(&'a self, options: &'a Options, observer: &'a Arc<dyn Observer>) -> Setting<'a> {
        let memory = Arc::new(MemoryBudget::new(options.limits.memory.bytes()));
        let cache = options.cache.as_ref().map(|place| Arc::new(Cache::new(place, &memory)));
        let (host, shared) = (&self.host, Mutex::new(self.shared.generation()));
        Setting { host, shared, options, observer, spelling: self.spelling, memory, cache }
    }
}
