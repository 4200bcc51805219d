//! Options of a run that a request may set. The operator sets all others, above all the paths for searching files.

use std::num::NonZeroUsize;

use options::{Demangle, Join, NameOptions, Options, ValueOptions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Maximum number of fields, labels, spans, variables and conditions of a run: each can need memory for every sample.
const MOST_VALUES: usize = 64;

/// Options of a run that a request may set; part of the key of its result. Their JSON form is one flat object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunOptions {
    /// Names, callchains and off-CPU times.
    pub(crate) usual: UsualOptions,
    /// Fields, labels, spans, variables and conditions.
    pub(crate) values: ValueOptions,
}

/// Options that all recordings have a use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UsualOptions {
    /// True to look up inlined functions.
    pub(crate) inlines: bool,
    /// Spelling of names; `None` for that of the output.
    pub(crate) demangle: Option<Demangle>,
    /// How far truncated callchains are continued with frames of other samples.
    pub(crate) join: Join,
    /// Maximum number of user frames in a callchain.
    pub(crate) max_frames: NonZeroUsize,
    /// Whether off-CPU times are samples of a separate event; `None` if the recording has to show them.
    pub(crate) off_cpu: Option<bool>,
    /// True to include the arguments of the recorded program.
    pub(crate) with_arguments: bool,
}

impl Default for UsualOptions {
    fn default() -> Self {
        let Options { names, join, max_frames, with_arguments, .. } = Options::default();
        let NameOptions { inlines, demangle, .. } = names;
        Self { inlines, demangle, join, max_frames, off_cpu: None, with_arguments }
    }
}

impl RunOptions {
    /// Names of the options that are not on values.
    pub(crate) const USUAL: [&'static str; 6] =
        ["inlines", "demangle", "join", "max_frames", "off_cpu", "with_arguments"];

    /// Returns the operator's options with these applied.
    pub(crate) fn apply(&self, base: &Options) -> Options {
        let Self { usual, values } = self;
        let mut options = base.clone();
        options.names.inlines = usual.inlines;
        options.names.demangle = usual.demangle;
        options.join = usual.join;
        options.max_frames = usual.max_frames;
        options.off_cpu = usual.off_cpu != Some(false);
        options.off_cpu_optional = usual.off_cpu.is_none();
        options.with_arguments |= usual.with_arguments;
        values.apply(&mut options);
        options
    }

    /// Returns the same options with or without off-CPU times.
    pub(crate) fn with_off_cpu(&self, off_cpu: bool) -> Self {
        let usual = UsualOptions { off_cpu: Some(off_cpu), ..self.usual };
        Self { usual, values: self.values.clone() }
    }
}

impl Serialize for RunOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = self.values.to_object();
        if let Ok(Value::Object(usual)) = serde_json::to_value(self.usual) {
            object.extend(usual);
        }
        object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::<String, Value>::deserialize(deserializer)?;
        let is_usual = |(name, _): &(String, Value)| Self::USUAL.contains(&name.as_str());
        let (usual, values): (Vec<_>, Vec<_>) = object.into_iter().partition(is_usual);
        let usual = Value::Object(usual.into_iter().collect());
        let usual = serde_json::from_value(usual).map_err(D::Error::custom)?;
        let values = ValueOptions::from_object(values.into_iter().collect());
        let values = values.map_err(D::Error::custom)?;
        if values.count() > MOST_VALUES {
            return Err(D::Error::custom(format_args!(
                "at most {MOST_VALUES} fields, labels, spans, variables and conditions are possible"
            )));
        }
        Ok(Self { usual, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_one_flat_object() {
        let text = r#"{"inlines":false,"label":"query=p:r/query","where":["state=2","query=a*"]}"#;
        let read: RunOptions = serde_json::from_str(text).unwrap();
        assert!(!read.usual.inlines);
        assert_eq!(read.values.count(), 3);
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<RunOptions>(&again).unwrap(), read);
        let options = read.apply(&Options::default());
        assert_eq!(options.samples.conditions.len(), 2);
        assert!(options.labels.has("query"));
        let many: Vec<String> = (0..65).map(|at| format!("state={at}")).collect();
        let many = serde_json::json!({ "where": many }).to_string();
        for text in [r#"{"sysroot":"/"}"#, r#"{"span":"x"}"#, r#"{"inside":"x"}"#, &many] {
            assert!(serde_json::from_str::<RunOptions>(text).is_err(), "{text}");
        }
    }
}
