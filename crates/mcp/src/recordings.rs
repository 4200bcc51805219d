//! The recordings that the user named, analysed when they are first asked for.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use host::{Origin, default_memory_limit};
use options::{Options, ValueOptions};
use pipeline::{Error, LoadedProfile, LoadedProfiles, Observer, RecallNeeds, Source};
use profile::query::FoldedFrames;
use serde_json::Value;

use crate::arguments::RecordingName;
use crate::refusal::Refusal;
use crate::text::safe;
use crate::{ServerOptions, StopSignal};

/// Most bytes of cached profiles, unless a quarter of the memory limit is less.
const CACHED_BYTES: u64 = 1 << 30;

/// Recordings with their cached profiles.
#[derive(Debug)]
pub(crate) struct Recordings {
    pub(crate) options: ServerOptions,
    names: Vec<String>,
    profiles: LoadedProfiles,
    /// By key of a profile: a description of it, which outlives the profile.
    described: Mutex<HashMap<String, Value>>,
}

/// A profile, with its recording.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) profile: Arc<LoadedProfile>,
    /// Whether inlined functions are separate functions.
    pub(crate) inlines: bool,
}

impl Recordings {
    pub(crate) fn new(options: ServerOptions) -> Self {
        let limit = options.options.limits.memory.or_usual(default_memory_limit());
        let kept = limit.map_or(CACHED_BYTES, |limit| CACHED_BYTES.min(limit / 4));
        let names = names(&options.recordings);
        Self { names, profiles: LoadedProfiles::new(kept), described: Mutex::default(), options }
    }

    /// Names of the recordings; each is unique.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the position of the recording with a name or a number. Without one, returns the only recording.
    pub(crate) fn find(&self, wanted: Option<&RecordingName>) -> Result<usize, Refusal> {
        let Some(RecordingName(wanted)) = wanted else {
            return match self.names.len() {
                1 => Ok(0),
                _ => Err(Refusal::missing("recording", &self.names)),
            };
        };
        let by_name = self.names.iter().position(|name| name == wanted);
        let number = || wanted.parse::<usize>().ok()?.checked_sub(1);
        let by_number = || number().filter(|&at| at < self.names.len());
        let found = by_name.or_else(by_number);
        found.ok_or_else(|| Refusal::unknown("recording", wanted, &self.names))
    }

    /// Returns the profile of a recording; with `off_cpu`, with the times of its threads off the processor. `values` are
    /// options on labels, spans and fields.
    pub(crate) fn load(
        &self,
        at: usize,
        off_cpu: bool,
        values: &ValueOptions,
        stop: &StopSignal,
    ) -> Result<Loaded, Refusal> {
        let mut options = self.options.options.clone();
        options.off_cpu |= off_cpu;
        values.apply(&mut options);
        self.load_with(at, options, stop)
    }

    /// Returns the profile of a recording, with the samples of one event if it is named.
    pub(crate) fn load_event(
        &self,
        at: usize,
        event: Option<&str>,
        stop: &StopSignal,
    ) -> Result<Loaded, Refusal> {
        let mut options = self.options.options.clone();
        options.samples.events.extend(event.map(str::to_owned));
        self.load_with(at, options, stop)
    }

    fn load_with(&self, at: usize, options: Options, stop: &StopSignal) -> Result<Loaded, Refusal> {
        let ServerOptions { recordings, pipeline, explain, .. } = &self.options;
        let (Some(path), Some(name)) = (recordings.get(at), self.names.get(at)) else {
            return Err(Refusal::new("there is no such recording"));
        };
        let key = self.key(at, &options, path);
        let profile = self.profiles.get(&key, || {
            let observer: Arc<dyn Observer> = Arc::new(Stop(Arc::clone(stop)));
            let mut analysis = pipeline.analyze_or_recall(
                Source::Path(path.clone()),
                &options,
                RecallNeeds::Files,
                &observer,
            )?;
            if options.off_cpu {
                analysis.profile.fold_waits(FoldedFrames::Kernel);
            }
            Ok(analysis)
        });
        let profile = profile.map_err(|error| match error {
            Error::UnknownField { pattern, recorded, .. } => {
                let labels = options.labels.labels.iter().map(|label| label.name.clone());
                let known: Vec<String> = labels.chain(recorded).collect();
                Refusal::unknown("field or label", &pattern, &known)
            }
            error => Refusal::new(format!("{name}: {}", explain(error))),
        })?;
        let inlines = options.names.inlines;
        profile.query_index(inlines);
        self.profiles.weigh(&key, &profile);
        Ok(Loaded { name: name.clone(), profile, inlines })
    }

    /// Returns the description of a recording, which `describe` makes of its profile.
    pub(crate) fn described(
        &self,
        at: usize,
        stop: &StopSignal,
        describe: impl FnOnce(&Loaded) -> Value,
    ) -> Result<Value, Refusal> {
        let path = self.options.recordings.get(at).map_or(Path::new(""), |path| path);
        let key = self.key(at, &self.options.options, path);
        let described = || self.described.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = described().get(&key) {
            return Ok(known.clone());
        }
        let made = describe(&self.load(at, false, &ValueOptions::default(), stop)?);
        described().insert(key, made.clone());
        Ok(made)
    }

    /// Returns the key of a profile, which changes with the file.
    fn key(&self, at: usize, options: &Options, path: &Path) -> String {
        let stat = self.options.pipeline.host().stat(path, Origin::User);
        let stamp = stat.ok().map(|stat| stat.stamp);
        format!("{at} {} {stamp:?}", options.to_json())
    }
}

/// Returns a unique name for each path: its last component, else the path, else with its number.
fn names(paths: &[impl AsRef<Path>]) -> Vec<String> {
    let text = |text: &OsStr| safe(text.as_bytes());
    let last = |path: &Path| text(path.file_name().unwrap_or(path.as_os_str()));
    let whole = |path: &Path| text(path.as_os_str());
    let all = |name: &dyn Fn(&Path) -> String| -> Vec<String> {
        paths.iter().map(|path| name(path.as_ref())).collect()
    };
    let (short, long) = (all(&last), all(&whole));
    let is_unique =
        |names: &[String], name: &String| names.iter().filter(|it| *it == name).count() == 1;
    let pairs = short.iter().zip(&long).enumerate();
    let chosen = pairs.map(|(at, (one, other))| {
        [(one, &short), (other, &long)]
            .into_iter()
            .find(|(name, names)| is_unique(names, name))
            .map_or_else(|| format!("{other} ({})", at + 1), |(name, _)| name.clone())
    });
    chosen.collect()
}

/// An observer that stops a run if the client cancels its request.
struct Stop(StopSignal);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

impl Observer for Stop {
    fn is_cancelled(&self) -> bool {
        (self.0)()
    }
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;
    use pipeline::Pipeline;
    use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder};

    use super::*;

    /// Returns a server's recordings: one in memory.
    fn recordings(options: Options) -> Recordings {
        let mut data = PerfDataBuilder::new(Endian::Little);
        data.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
        data.describe_events();
        data.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20));
        let machine = MemoryHost::new();
        machine.insert("perf.data", data.build());
        Recordings::new(ServerOptions {
            recordings: vec!["perf.data".into()],
            options,
            pipeline: Pipeline::new(Arc::new(machine)),
            explain: |error| error.to_string(),
        })
    }

    #[test]
    fn runs_are_made_once_and_can_be_cancelled() {
        let recordings = recordings(Options::default());
        let (stop, usual): (StopSignal, _) = (Arc::new(|| true), ValueOptions::default());
        let cancelled = pipeline::Error::Cancelled.to_string();
        let refused = recordings.load(0, false, &usual, &stop).unwrap_err().to_string();
        assert_eq!(refused, format!("perf.data: {cancelled}"));
        let go: StopSignal = Arc::new(|| false);
        let first = recordings.load(0, false, &usual, &go).unwrap();
        assert_eq!(first.profile.profile.samples.len(), 1);
        // It is in the cache: nothing runs that could be stopped.
        let second = recordings.load(0, false, &usual, &stop).unwrap();
        assert!(Arc::ptr_eq(&first.profile, &second.profile));
    }

    #[test]
    fn names_are_unique() {
        let cases: [(&[&str], &[&str]); 4] = [
            (&["a/perf.data", "b.data"], &["perf.data", "b.data"]),
            (&["a/x", "b/x", "y"], &["a/x", "b/x", "y"]),
            (&["a/x", "a/x"], &["a/x (1)", "a/x (2)"]),
            (&["a\nb", "/"], &["a\\nb", "/"]),
        ];
        for (paths, expected) in cases {
            assert_eq!(names(paths), expected);
        }
    }
}
