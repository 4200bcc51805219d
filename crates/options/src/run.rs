//! The options of a run.

use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{
    CacheLocation, FieldSelection, FileSearch, Join, LabelOptions, Limits, NameOptions,
    OptionsError, SampleFilter, SpanOptions, cache_location, json,
};

/// The default of [`Options::max_frames`].
pub const MAX_FRAMES: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Options that mean nothing without another one.
const DEPENDENT: [(&str, &str); 7] = [
    ("cache_size", "cache"),
    ("label_when", "label"),
    ("label_end", "label"),
    ("handover", "label"),
    ("inside", "span"),
    ("longer_than", "inside"),
    ("up_to", "inside"),
];

/// Options of a run from a recording to a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Selection of samples.
    #[serde(flatten)]
    pub samples: SampleFilter,
    /// Search paths for files.
    #[serde(flatten)]
    pub files: FileSearch,
    /// Options of the look-up of names.
    #[serde(flatten)]
    pub names: NameOptions,
    /// Limit on the user frames of a callchain; outer frames beyond it are omitted.
    #[serde(deserialize_with = "json::count")]
    pub max_frames: NonZeroUsize,
    /// Continuation of truncated callchains with frames from other samples.
    #[serde(deserialize_with = "join")]
    pub join: Join,
    /// If true, callchains include the frames that tail calls removed.
    #[serde(deserialize_with = "json::truth")]
    pub tail_calls: bool,
    /// Fields of samples that become columns of the profile.
    pub with_fields: FieldSelection,
    /// Variables of functions, each `FUNCTION(PATH)`, whose values in frames become columns.
    #[serde(rename = "value", with = "json::parsed")]
    pub values: Vec<String>,
    /// If true, samples of tracepoints and probes get the text that the kernel prints for them.
    #[serde(deserialize_with = "json::truth")]
    pub trace_text: bool,
    /// If true, samples get their recent branches from the processor's branch records.
    #[serde(deserialize_with = "json::truth")]
    pub branches: bool,
    /// Labels of samples by earlier events of their threads.
    #[serde(flatten)]
    pub labels: LabelOptions,
    /// Spans between two events, and the samples inside them that are wanted.
    #[serde(flatten)]
    pub spans: SpanOptions,
    /// Key of the hashes that replace the values of fields and labels, and the keys of spans; conditions and weights use
    /// the values.
    pub redact: Option<String>,
    /// Field of numbers that replaces the period of samples, by a pattern as in `with_fields`. Samples without the field
    /// are omitted. The name of spans stands for their durations, with `.self` for their self times.
    pub weight_field: Option<String>,
    /// If true, adds off-CPU times as samples of an additional event (`Profile::off_cpu`). Only runs on a whole
    /// recording support it.
    #[serde(deserialize_with = "json::truth")]
    pub off_cpu: bool,
    /// If true, a recording that shows no off-CPU times is no error for `off_cpu`.
    #[serde(deserialize_with = "json::truth")]
    pub off_cpu_optional: bool,
    /// If true, the recorder's command line has the arguments of the recorded program, and variables set by `env`.
    #[serde(deserialize_with = "json::truth")]
    pub with_arguments: bool,
    /// Resources that the run may use.
    #[serde(flatten)]
    pub limits: Limits,
    /// Cache of names and unwind rules across runs; `None` for no cache. The output does not depend on it. Runs on
    /// bundles do not use it.
    #[serde(flatten, with = "cache_location")]
    pub cache: Option<CacheLocation>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            samples: SampleFilter::default(),
            files: FileSearch::default(),
            names: NameOptions::default(),
            max_frames: MAX_FRAMES,
            join: Join::default(),
            tail_calls: true,
            with_fields: FieldSelection::default(),
            values: Vec::new(),
            trace_text: false,
            branches: false,
            labels: LabelOptions::default(),
            spans: SpanOptions::default(),
            redact: None,
            weight_field: None,
            off_cpu: false,
            off_cpu_optional: false,
            with_arguments: false,
            limits: Limits::default(),
            cache: None,
        }
    }
}

impl Options {
    /// Returns true if spans or variables are requested, which are only known at the end of a recording.
    #[must_use]
    pub const fn needs_whole_recording(&self) -> bool {
        !self.spans.is_empty() || !self.values.is_empty()
    }

    /// Returns true if the profile depends on values of samples: fields, variables, labels or spans.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.needs_whole_recording()
            || self.labels != LabelOptions::default()
            || self.with_fields != FieldSelection::default()
            || self.weight_field.is_some()
            || self.trace_text
            || self.branches
    }

    /// Reads the options from the text of a JSON object. Missing and null options have their defaults.
    ///
    /// # Errors
    /// If the text is not a JSON object, an option is unknown, or its value cannot be used.
    pub fn from_json(text: &str) -> Result<Self, OptionsError> {
        Self::from_object(serde_json::from_str(text)?)
    }

    /// Reads the options from a JSON object.
    ///
    /// # Errors
    /// If an option is unknown, or its value cannot be used.
    pub fn from_object(object: Map<String, Value>) -> Result<Self, OptionsError> {
        let given = |name| object.get(name).is_some_and(|value| !value.is_null());
        for (name, other) in DEPENDENT {
            if given(name) && !given(other) {
                let reason = format!("it means nothing without {other}");
                return Err(OptionsError::Value { name: name.to_owned(), reason });
            }
        }
        json::object::read(object)
    }

    /// Returns the options that differ from their defaults, as a JSON object.
    #[must_use]
    pub fn to_object(&self) -> Map<String, Value> {
        json::object::write(self)
    }

    /// Returns the options that differ from their defaults, as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        Value::Object(self.to_object()).to_string()
    }

    /// Prefixes every relative path with a folder, for a reader in another folder.
    pub fn make_absolute(&mut self, folder: &Path) {
        self.files.for_each_path(|path| *path = folder.join(&*path));
        if let Some(place) = &mut self.cache {
            place.folder = folder.join(&place.folder);
        }
    }
}

/// Reads the keyword, or `true` for the default, or `false` for [`Join::Off`].
fn join<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Join, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let truth = match &value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.to_ascii_lowercase().parse().ok(),
        _ => None,
    };
    match truth {
        Some(true) => Ok(Join::default()),
        Some(false) => Ok(Join::Off),
        None => Join::deserialize(value).map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Servers, every_option};

    #[test]
    fn every_option_round_trips() {
        let options = every_option();
        let object = options.to_object();
        // Options with their default are not written, so a new field must be set in `every_option`.
        let all: Map<_, _> = match serde_json::to_value(Options::default()).unwrap() {
            Value::Object(all) => all,
            _ => Map::new(),
        };
        assert_eq!(object.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
        assert_eq!(Options::from_object(object.clone()).unwrap(), options);
        assert_eq!(Options::from_json(&options.to_json()).unwrap(), options);
        // Each option alone.
        for (name, value) in object {
            if DEPENDENT.iter().any(|(dependent, _)| *dependent == name) {
                continue;
            }
            let alone = Map::from_iter([(name.clone(), value)]);
            let read = Options::from_object(alone.clone()).unwrap();
            assert_eq!(read.to_object(), alone, "{name}");
        }
        let environment = Servers { urls: Vec::new(), environment: true };
        let files = FileSearch { debuginfod: environment, ..FileSearch::default() };
        assert_eq!(FileSearch::from_object(files.to_object()).unwrap(), files);
        assert_eq!(Options::default().to_json(), "{}");
    }

    #[test]
    fn the_documentation_has_every_option() {
        let page = include_str!("../../../docs/OPTIONS.md");
        for name in every_option().to_object().keys() {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn values_are_read_as_users_write_them() {
        for (given, canonical) in [
            (
                r#"{"pid":1,"tid":"2,3","comm":"a,b","event":"x","cpu":"0,2-3"}"#,
                r#"{"comm":["a","b"],"cpu":[0,2,3],"event":["x"],"pid":[1],"tid":[2,3]}"#,
            ),
            (
                r#"{"comm":["a,b"],"cgroup":{"hex":"ff"}}"#,
                r#"{"cgroup":[{"hex":"ff"}],"comm":["a,b"]}"#,
            ),
            (r#"{"time":[1.5,null]}"#, r#"{"time":"1.500000000,"}"#),
            (
                r#"{"sysroot":"a,b","map":"o@1,0x10,2"}"#,
                r#"{"map":[{"len":2,"object":"o","pid":1,"start":16}],"sysroot":["a,b"]}"#,
            ),
            (r#"{"path_map":"/a=/b=c"}"#, r#"{"path_map":[["/a","/b=c"]]}"#),
            (
                r#"{"path_map":["/a=/b",["/c=","/d"]]}"#,
                r#"{"path_map":[["/a","/b"],["/c=","/d"]]}"#,
            ),
            (
                r#"{"inlines":"False","symbols":true,"trust_perf_maps":"true"}"#,
                r#"{"inlines":false,"trust_perf_maps":true}"#,
            ),
            (r#"{"join":false}"#, r#"{"join":"off"}"#),
            (r#"{"join":true,"max_frames":"1024","pid":[]}"#, "{}"),
            (r#"{"demangle":"full"}"#, r#"{"demangle":"full"}"#),
            (r#"{"debuginfod":true}"#, r#"{"debuginfod":true}"#),
            (
                r#"{"debuginfod":"http://a ima:x https://b"}"#,
                r#"{"debuginfod":["http://a","https://b"]}"#,
            ),
            (r#"{"debuginfod":false,"cache":null}"#, "{}"),
            (
                r#"{"max_memory":"1G","jobs":"4","cache":"c","cache_size":"2G"}"#,
                r#"{"cache":"c","cache_size":2147483648,"jobs":4,"max_memory":1073741824}"#,
            ),
        ] {
            let options =
                Options::from_json(given).unwrap_or_else(|error| panic!("{given}: {error}"));
            assert_eq!(options.to_json(), canonical);
        }
    }

    #[test]
    fn an_error_names_the_option() {
        for (given, expected) in [
            (r#"{"pids":[1]}"#, "unknown option 'pids'"),
            (r#"{"pid":"x"}"#, "option 'pid': \"x\" is not a number"),
            (r#"{"comm":[1]}"#, "option 'comm': expected text, or a list of texts"),
            (r#"{"jobs":0}"#, "option 'jobs': expected a number from 1 to 65535"),
            (r#"{"max_frames":0}"#, "option 'max_frames': expected a number above 0"),
            (r#"{"max_memory":"1M"}"#, "option 'max_memory': at least 32 M are needed"),
            (r#"{"symbols":"no"}"#, "option 'symbols': \"no\" is neither true nor false"),
            (r#"{"path_map":{}}"#, "option 'path_map': expected a list of [FROM, TO]"),
            (
                r#"{"join":"x"}"#,
                "option 'join': unknown variant `x`, expected one of `off`, `exact`, `gaps`",
            ),
            (
                r#"{"map":"x"}"#,
                "option 'map': map hint \"x\": there is no @; expected OBJECT@PID,START,LEN[,OFFSET]",
            ),
            (r#"{"label_end":"x"}"#, "option 'label_end': it means nothing without label"),
            (r#"{"up_to":"1s","span":"a=b,c"}"#, "option 'up_to': it means nothing without inside"),
            (
                r#"{"span":"a"}"#,
                "option 'span': \"a\" is not a span; expected NAME=BEGIN,END or NAME=BEGIN,END,KEY",
            ),
            (r#"{"cache_size":"1G"}"#, "option 'cache_size': it means nothing without cache"),
            (
                r#"{"time":"x","pid":[1]}"#,
                "option 'time': expected A,B in seconds, +A,+B in seconds from the first \
              sample on, or A%-B%: no comma",
            ),
        ] {
            let error = Options::from_json(given).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for text in ["", "[]", "{", "1"] {
            let error = Options::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with("the options are not one JSON object"), "{text}: {error}");
        }
    }

    #[test]
    fn relative_paths_become_absolute() {
        let mut options = every_option();
        options.make_absolute(Path::new("/f"));
        let files = &options.files;
        assert_eq!(files.modules, [Path::new("/f/m")]);
        assert_eq!(files.sysroots, [Path::new("/s"), Path::new("/t")]);
        assert_eq!(files.map_files, [Path::new("/f/hints")]);
        assert_eq!(files.source_dirs, [Path::new("/f/src")]);
        assert_eq!(files.hints[1].object, Path::new("/f/o"));
        assert_eq!(options.cache.unwrap().folder, Path::new("/f/c"));
    }
}
