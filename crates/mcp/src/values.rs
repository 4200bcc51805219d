//! Arguments on values: labels, spans and conditions, by the names and in the forms of the program's options.

use options::ValueOptions;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// Labels and spans of the samples, and conditions on their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct ValueArgs {
    /// Labels, each NAME=EVENT/FIELD: samples get the field of the last such event of their thread.
    label: Vec<String>,
    /// Conditions on the events that begin a label, such as state=2; other events end it.
    label_when: Vec<String>,
    /// Events that end the labels of their thread.
    label_end: Vec<String>,
    /// Fields EVENT/FIELD with the id of a thread that gets the labels.
    handover: Vec<String>,
    /// Spans, each NAME=BEGIN,END or NAME=BEGIN,END,KEY: the time from an event to the next END of its thread, or to the
    /// one with an equal field KEY.
    span: Vec<String>,
    /// Name of spans: only samples inside one of them count.
    inside: Option<String>,
    /// Only samples inside longer spans count: a duration such as 10ms, or a percentile such as p99.
    longer_than: Option<String>,
    /// Only samples inside spans of at most this duration count.
    up_to: Option<String>,
    /// Conditions that samples fulfil, on fields and labels: bytes>=4096, path=/etc/*, state=1..3.
    #[serde(rename = "where")]
    conditions: Vec<String>,
    /// Field of numbers, or name of spans, that weighs samples.
    weight_field: Option<String>,
}

impl ValueArgs {
    /// Returns the options of a run.
    pub(crate) fn options(&self) -> Result<ValueOptions, Refusal> {
        let all = match serde_json::to_value(self) {
            Ok(Value::Object(all)) => all,
            // Arguments are objects with text keys.
            _ => Map::new(),
        };
        let is_given =
            |value: &Value| !value.is_null() && value.as_array().is_none_or(|it| !it.is_empty());
        let given = all.into_iter().filter(|(_, value)| is_given(value));
        ValueOptions::from_object(given.collect()).map_err(|error| match error {
            options::OptionsError::Value { name, reason } => {
                Refusal::new(format!("argument {name:?}: {reason}"))
            }
            error => Refusal::new(error.to_string()),
        })
    }

    /// Returns true if a field or spans weigh samples.
    pub(crate) const fn is_weight(&self) -> bool {
        self.weight_field.is_some()
    }
}
