//! Labels: values that samples have from an earlier event of their thread.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Condition, json};

/// Labels of samples by thread and time. From an event with the field until the next such event of the thread, all
/// samples of the thread have its value, whatever their event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelOptions {
    /// The labels.
    #[serde(rename = "label", with = "json::parsed")]
    pub labels: Vec<LabelRule>,
    /// Conditions on the events that begin a label. Each applies to the events that have its field; an event that does
    /// not fulfil it ends the label.
    #[serde(rename = "label_when", with = "json::parsed")]
    pub when: Vec<Condition>,
    /// Events that end all labels of their thread, by patterns.
    #[serde(rename = "label_end", deserialize_with = "json::texts")]
    pub ends: Vec<String>,
    /// Fields with the id of a thread, by patterns `EVENT/FIELD`. The labels of the event's thread are passed to it.
    #[serde(rename = "handover", deserialize_with = "json::texts")]
    pub handovers: Vec<String>,
}

impl LabelOptions {
    /// Returns true if samples get no label.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns true if there is a label of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.labels.iter().any(|label| label.name == name)
    }
}

/// A label and the field that it is from, as `NAME=EVENT/FIELD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRule {
    /// Name of the label.
    pub name: String,
    /// The field, by a pattern.
    pub field: String,
}

/// Reason that a text is not a label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a label; expected NAME=EVENT/FIELD")]
pub struct LabelError(String);

impl FromStr for LabelRule {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        match text.split_once('=') {
            Some((name, field)) if !name.is_empty() && field.contains('/') => {
                Ok(Self { name: name.to_owned(), field: field.to_owned() })
            }
            _ => Err(LabelError(text.to_owned())),
        }
    }
}

impl fmt::Display for LabelRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_its_field() {
        let rule: LabelRule = "query=probe:report/query".parse().unwrap();
        assert_eq!((rule.name.as_str(), rule.field.as_str()), ("query", "probe:report/query"));
        assert_eq!(rule.to_string(), "query=probe:report/query");
        for text in ["query", "=probe:report/query", "query=report"] {
            let error = text.parse::<LabelRule>().unwrap_err().to_string();
            assert_eq!(error, format!("{text:?} is not a label; expected NAME=EVENT/FIELD"));
        }
    }
}
