//! A run whose profile can be stored: its place in the cache, and the form of its result there.
//!
//! ```text
//!   size of the head u64, head (JSON), profile
//! ```

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use cache::{Cache, CacheKey, StoredProfile};
use host::{FileKind, Host, Origin, Testimony, WitnessHost};
use options::Options;
use perf_data::Findings;
use profile::Profile;
use replay::has_switches;
use serde::{Deserialize, Serialize};

use super::RecallNeeds;
use super::key::{RunKeys, settled_stamp};
use super::modules::{StoredModule, restored_modules, stored_modules};
use crate::analysis_sources::{AnalysisSources, LazyFiles, RecalledSources};
use crate::files::Files;
use crate::observer::{Observer, Stage, Unobserved, begin};
use crate::rejected_samples::RejectedSamples;
use crate::timings::Timings;
use crate::{Analysis, Pipeline, Source};

/// A run whose profile can be stored.
pub(super) struct RecallableRun<'p> {
    pipeline: &'p Pipeline,
    options: &'p Options,
    path: PathBuf,
    /// Its stamp.
    recording: [u8; 56],
    keys: RunKeys,
    cache: Cache,
}

/// Facts about a stored profile.
#[derive(Debug, Serialize, Deserialize)]
struct StoredHead {
    /// The answers of the host that the profile depends on.
    testimony: Testimony,
    /// True if the recording is of the system that made the profile.
    is_of_this_machine: bool,
    /// True if the recording cannot show times off the processor.
    lacks_switches: bool,
    /// The modules whose file was opened; `None` if not all of these files can be found again.
    modules: Option<Vec<StoredModule>>,
}

impl<'p> RecallableRun<'p> {
    /// Returns `None` for runs whose profile cannot be stored, or that could have another result at each time.
    pub(super) fn of(
        pipeline: &'p Pipeline,
        source: &Source,
        options: &'p Options,
    ) -> Option<Self> {
        let place = options.cache.as_ref()?;
        if options.has_values()
            || !options.files.debuginfod.is_empty()
            || options.limits.memory.bytes().is_some()
        {
            return None;
        }
        let Source::Path(path) = source else { return None };
        let recording = settled_stamp(&**pipeline.host(), path)?;
        let keys = RunKeys::of(pipeline, path, &recording, options)?;
        let cache = Cache::new(place, &Arc::default());
        Some(Self { pipeline, options, path: path.clone(), recording, keys, cache })
    }

    /// Returns the stored result, if the host still has the answers that it depends on.
    pub(super) fn recall(
        &self,
        needs: RecallNeeds,
        observer: &Arc<dyn Observer>,
    ) -> Option<Analysis> {
        let RunKeys { own, without_off_cpu } = &self.keys;
        let plain = || self.stored(without_off_cpu.as_ref()?, needs, true);
        let (head, profile) = self.stored(own, needs, false).or_else(plain)?;
        begin(observer, Stage::Reading);
        let restored = Profile::restore(profile.bytes()).ok()?;
        profile.stored.is_whole().then(|| self.analysis(head, restored))
    }

    /// Returns the head and the profile under a key, if they hold. With `is_plain`, they are of a run without times off
    /// the processor, and hold only if the recording has none.
    fn stored(
        &self,
        key: &CacheKey,
        needs: RecallNeeds,
        is_plain: bool,
    ) -> Option<(StoredHead, ProfileBytes)> {
        let stored: StoredProfile = self.cache.profile(key)?;
        let (size, rest) = stored.content().split_first_chunk::<8>()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
        let head: StoredHead = serde_json::from_slice(rest.get(..size)?).ok()?;
        let is_enough = match needs {
            RecallNeeds::Profile => true,
            RecallNeeds::Files => head.modules.is_some(),
        };
        let holds = is_enough
            && (!is_plain || head.lacks_switches)
            && head.testimony.holds(&**self.pipeline.host());
        holds.then(|| (head, ProfileBytes { stored, offset: 8 + size }))
    }

    /// Returns the result of the earlier run.
    fn analysis(&self, head: StoredHead, profile: Profile) -> Analysis {
        let host = self.pipeline.host();
        let stat = host.stat(&self.path, Origin::User).ok();
        let stat = stat.filter(|stat| stat.kind == FileKind::Regular);
        let written = stat.map(|stat| stat.stamp.modified);
        let sources = RecalledSources {
            modules: restored_modules(&head.modules.unwrap_or_default()),
            files: self.files(&profile, written),
            host: Arc::clone(host),
            is_of_this_machine: head.is_of_this_machine,
        };
        Analysis {
            profile,
            is_damaged: false,
            findings: Findings::default(),
            head: None,
            rejected: RejectedSamples::default(),
            timings: Timings::start(),
            written,
            not_kept: None,
            kernel_may_change: false,
            is_of_bundle: false,
            sources: AnalysisSources::Recalled(Box::new(sources)),
        }
    }

    /// Returns the files of the recording, which are searched on first use.
    fn files(&self, profile: &Profile, written: Option<i128>) -> LazyFiles {
        let text = |id| profile.strings.get(id).to_vec();
        let hostname = profile.recording.hostname.map(text);
        let os_release = profile.recording.os_release.map(text);
        let (pipeline, options) = (self.pipeline.clone(), self.options.clone());
        let path = self.path.clone();
        LazyLock::new(Box::new(move || {
            let observer: Arc<dyn Observer> = Arc::new(Unobserved);
            let setting = pipeline.setting(&options, &observer);
            let names = (hostname.as_deref(), os_release.as_deref());
            Files::of_machine(&setting, names, written, &path).ok()
        }))
    }

    /// Stores the result of a run, if nothing changed meanwhile.
    pub(super) fn store(&self, analysis: &Analysis, witness: &WitnessHost) {
        let is_complete = !analysis.is_damaged
            && analysis.findings.is_empty()
            && !analysis.is_of_bundle
            && !analysis.profile.samples.is_empty();
        let testimony = witness.testimony(!analysis.kernel_may_change);
        let Some(testimony) = testimony.filter(|_| is_complete) else { return };
        let lacks_switches = analysis.head.as_ref().is_some_and(|head| !has_switches(head));
        let head = StoredHead {
            testimony,
            is_of_this_machine: analysis.is_of_this_machine(),
            lacks_switches,
            modules: stored_modules(&analysis.sources),
        };
        let Ok(head) = serde_json::to_vec(&head) else { return };
        let host: &dyn Host = &**self.pipeline.host();
        if settled_stamp(host, &self.path) != Some(self.recording) {
            return;
        }
        let plain = self.keys.without_off_cpu.as_ref().filter(|_| lacks_switches);
        self.cache.store_profile(plain.unwrap_or(&self.keys.own), |out| {
            out.write_all(&(head.len() as u64).to_le_bytes())?;
            out.write_all(&head)?;
            analysis.profile.store(out)
        });
        // A folder that cannot be written is reported by the run itself.
        let _ = self.cache.finish();
    }
}

/// The bytes of a profile in its stored form.
struct ProfileBytes {
    stored: StoredProfile,
    /// Offset of the profile in the content, in bytes.
    offset: usize,
}

impl ProfileBytes {
    fn bytes(&self) -> &[u8] {
        self.stored.content().get(self.offset..).unwrap_or_default()
    }
}
