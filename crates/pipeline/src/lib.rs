//! From a recording to a profile: open, replay, symbolize.
//!
//! A [`Pipeline`] stands for a machine and what is kept between runs. [`Pipeline::analyze`] makes the [`Profile`] of a
//! recording as a whole; [`Pipeline::analyze_growing`] hands it on while it grows; [`Pipeline::maps`] replays the maps
//! alone. What a run is to do is said in [`Options`], plain values that come from arguments, a request or a test alike.
//! An [`Observer`] is told how far the run has come and can stop it. All work is done on the current rayon pool.
//!
//! [`Profile`]: profile::Profile

mod assemble;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod error;
mod events;
mod files;
mod findings;
mod growing;
mod limits;
mod maps;
mod named;
mod names;
mod observer;
mod open;
mod options;
mod prefetch;
mod run;
mod timings;
mod whole;

use std::sync::Arc;

use host::Host;
use perf_data::Input;

pub use error::Error;
pub use files::Files;
pub use growing::{Grown, Growth, StreamOptions};
pub use maps::MapReplay;
pub use names::NameReport;
pub use observer::{Download, Observer, Stage, Unobserved};
pub use options::{FileSearch, Limits, NameOptions, Options, SampleFilter, Source};
pub use timings::Timings;
pub use whole::Analysis;

/// The way from recordings to profiles, on one machine.
#[derive(Clone, Debug)]
pub struct Pipeline {
    host: Arc<dyn Host>,
}

impl Pipeline {
    /// A pipeline that asks that machine for files.
    #[must_use]
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self { host }
    }

    /// Opens, replays and symbolizes a recording.
    ///
    /// # Errors
    /// Where there is no recording, an option does not fit it, a limit is reached, or the observer stops the run.
    /// Damage is no error but a finding.
    pub fn analyze(
        &self,
        source: Source,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<Analysis, Error> {
        whole::analyze(&self.host, source, options, observer)
    }

    /// The same step by step: `growth` gets the profile while it grows.
    ///
    /// # Errors
    /// As for [`Self::analyze`], and where `growth` cannot write.
    pub fn analyze_growing(
        &self,
        source: Source,
        stream: StreamOptions,
        options: &Options,
        observer: &Arc<dyn Observer>,
        growth: &mut dyn Growth,
    ) -> Result<Analysis, Error> {
        growing::analyze_growing(&self.host, (source, stream), options, observer, growth)
    }

    /// Opens a recording for those who read its records themselves.
    ///
    /// # Errors
    /// Where there is no file, or one that cannot be read.
    pub fn open(&self, source: Source) -> Result<Input, Error> {
        Ok(open::open(&*self.host, source)?.input)
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
        MapReplay::open(&self.host, source, options, observer)
    }
}
