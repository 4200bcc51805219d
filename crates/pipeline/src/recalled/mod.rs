//! Finished profiles of earlier runs. A run on an unchanged recording, with the same options and the same answers of the
//! host, has the same profile, and need not replay the recording.
//!
//! ```text
//!   first run   host <-- witness <-- analysis --> profile, testimony --> cache
//!   later run   host <-- testimony (all answers are equal?) <-- cache --> profile
//! ```

mod key;

use std::path::PathBuf;
use std::sync::Arc;

use cache::{Cache, CacheKey, StoredProfile};
use host::{Host, Testimony, WitnessHost};
use options::Options;
use profile::Profile;

use self::key::{key, settled_stamp};
use crate::observer::{Observer, Stage, begin};
use crate::{Analysis, Error, Pipeline, Source};

/// The result of a run, or of an equal earlier one.
#[derive(Debug)]
pub enum Finished {
    /// The recording was analyzed.
    Analyzed(Box<Analysis>),
    /// The profile of an earlier run, which was complete and without damage.
    Recalled {
        /// The profile.
        profile: Box<Profile>,
        /// True if the recording is of the running system.
        is_of_this_machine: bool,
    },
}

impl Finished {
    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        match self {
            Self::Analyzed(analysis) => &analysis.profile,
            Self::Recalled { profile, .. } => profile,
        }
    }

    /// The profile, to be changed.
    pub fn profile_mut(&mut self) -> &mut Profile {
        match self {
            Self::Analyzed(analysis) => &mut analysis.profile,
            Self::Recalled { profile, .. } => profile,
        }
    }

    /// The analysis, if there was one.
    #[must_use]
    pub fn analysis(&self) -> Option<&Analysis> {
        match self {
            Self::Analyzed(analysis) => Some(analysis),
            Self::Recalled { .. } => None,
        }
    }
}

impl Pipeline {
    /// Analyzes a recording, or returns the profile of an equal earlier run from the cache of `options`. Profiles with
    /// values, labels or spans are not stored, and damaged recordings are analyzed each time.
    ///
    /// # Errors
    /// As for [`Self::analyze`].
    pub fn analyze_or_recall(
        &self,
        source: Source,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<Finished, Error> {
        let analyzed = |analysis| Finished::Analyzed(Box::new(analysis));
        let Some(run) = RecallableRun::of(self, &source, options) else {
            return self.analyze(source, options, observer).map(analyzed);
        };
        if let Some(finished) = run.recall(observer) {
            return Ok(finished);
        }
        let witness = WitnessHost::new(Arc::clone(self.host()));
        let analysis = self.on(witness.clone()).analyze(source, options, observer)?;
        run.store(&analysis, &witness);
        Ok(analyzed(analysis))
    }
}

/// A run whose profile can be stored.
struct RecallableRun<'p> {
    pipeline: &'p Pipeline,
    path: PathBuf,
    /// Its stamp.
    recording: [u8; 56],
    key: CacheKey,
    cache: Cache,
}

impl<'p> RecallableRun<'p> {
    /// Returns `None` for runs whose profile cannot be stored, or that could have another result at each time.
    fn of(pipeline: &'p Pipeline, source: &Source, options: &Options) -> Option<Self> {
        let place = options.cache.as_ref()?;
        if options.has_values()
            || !options.files.debuginfod.is_empty()
            || options.limits.memory.bytes().is_some()
        {
            return None;
        }
        let Source::Path(path) = source else { return None };
        let recording = settled_stamp(&**pipeline.host(), path)?;
        let key = key(pipeline, path, &recording, options)?;
        let cache = Cache::new(place, &Arc::default());
        Some(Self { pipeline, path: path.clone(), recording, key, cache })
    }

    /// Returns the stored profile, if the host still has the answers that it depends on.
    fn recall(&self, observer: &Arc<dyn Observer>) -> Option<Finished> {
        let stored: StoredProfile = self.cache.profile(&self.key)?;
        let (testimony, rest) = split(stored.content())?;
        let testimony: Testimony = serde_json::from_slice(testimony).ok()?;
        let (&is_of_this_machine, profile) = rest.split_first()?;
        if !testimony.holds(&**self.pipeline.host()) {
            return None;
        }
        begin(observer, Stage::Reading);
        let profile = Box::new(Profile::restore(profile).ok()?);
        Some(Finished::Recalled { profile, is_of_this_machine: is_of_this_machine == 1 })
    }

    /// Stores the profile of a run, if nothing changed meanwhile.
    fn store(&self, analysis: &Analysis, witness: &WitnessHost) {
        let is_complete = !analysis.is_damaged
            && analysis.findings.is_empty()
            && !analysis.is_of_bundle
            && !analysis.profile.samples.is_empty();
        let Some(testimony) = witness.testimony().filter(|_| is_complete) else { return };
        let Ok(testimony) = serde_json::to_vec(&testimony) else { return };
        let host: &dyn Host = &**self.pipeline.host();
        if settled_stamp(host, &self.path) != Some(self.recording) {
            return;
        }
        self.cache.store_profile(&self.key, |bytes| {
            bytes.extend_from_slice(&(testimony.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&testimony);
            bytes.push(u8::from(analysis.is_of_this_machine()));
            analysis.profile.store(bytes)
        });
        // A folder that cannot be written is reported by the run itself.
        let _ = self.cache.finish();
    }
}

/// Splits a content into its testimony and the rest.
fn split(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = content.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)
}
