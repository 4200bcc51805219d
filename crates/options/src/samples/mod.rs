//! Options on samples: their selection, and their fields, labels and spans.

mod condition;
mod fields;
mod labels;
mod spans;

use address::{Pid, Tid};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{OptionsError, TimeRange, json};

pub use condition::{Condition, ConditionError};
pub use fields::FieldSelection;
pub use labels::{LabelError, LabelOptions, LabelRule};
pub use spans::{SpanError, SpanEvent, SpanLimit, SpanOptions, SpanRule, SpanTime};

/// Selection of samples. An empty list selects all. Memory maps are always replayed completely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleFilter {
    /// Process ids.
    #[serde(rename = "pid", with = "json::ids")]
    pub pids: Vec<Pid>,
    /// Thread ids.
    #[serde(rename = "tid", with = "json::ids")]
    pub tids: Vec<Tid>,
    /// Names of threads; `*` matches any bytes, `?` one byte.
    #[serde(rename = "comm", with = "json::names")]
    pub comms: Vec<Vec<u8>>,
    /// Paths of control groups, with `*` and `?` as in thread names.
    #[serde(rename = "cgroup", with = "json::names")]
    pub cgroups: Vec<Vec<u8>>,
    /// Names of events in the recording, with `*` and `?` as in thread names, with modifiers (`:u`) or without.
    #[serde(rename = "event", deserialize_with = "json::texts")]
    pub events: Vec<String>,
    /// Numbers of processors.
    #[serde(rename = "cpu", deserialize_with = "crate::values::cpus::deserialize")]
    pub cpus: Vec<u32>,
    /// Range of time.
    pub time: TimeRange,
    /// Conditions on fields and labels, which all have to hold.
    #[serde(rename = "where", with = "json::parsed")]
    pub conditions: Vec<Condition>,
}

impl SampleFilter {
    /// Reads the options from a JSON object.
    ///
    /// # Errors
    /// If an option is unknown, or its value cannot be used.
    pub fn from_object(object: Map<String, Value>) -> Result<Self, OptionsError> {
        json::object::read(object)
    }

    /// Returns the names of the options.
    #[must_use]
    pub fn names() -> Vec<String> {
        json::object::names::<Self>()
    }
}
