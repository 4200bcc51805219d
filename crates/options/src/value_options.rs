//! Options on values that requests set for one run: fields, labels, spans, variables and conditions on them.

use serde_json::{Map, Value};

use crate::{FieldSelection, Options, OptionsError};

/// Options on values, without all other options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueOptions(Options);

impl ValueOptions {
    /// Names of the options.
    pub const NAMES: [&'static str; 13] = [
        "with_fields",
        "value",
        "label",
        "label_when",
        "label_end",
        "handover",
        "span",
        "inside",
        "longer_than",
        "up_to",
        "where",
        "weight_field",
        "redact",
    ];

    /// Reads the options from a JSON object, in the forms of [`Options::from_object`].
    ///
    /// # Errors
    /// If a member is not an option on values, or its value cannot be used.
    pub fn from_object(object: Map<String, Value>) -> Result<Self, OptionsError> {
        if let Some(name) = object.keys().find(|name| !Self::NAMES.contains(&name.as_str())) {
            return Err(OptionsError::Unknown { name: name.clone() });
        }
        Options::from_object(object).map(Self)
    }

    /// Returns the options that differ from their defaults, as a JSON object.
    #[must_use]
    pub fn to_object(&self) -> Map<String, Value> {
        self.0.to_object()
    }

    /// Returns true if no option is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to_object().is_empty()
    }

    /// Number of the fields, variables, labels, spans and conditions.
    #[must_use]
    pub fn count(&self) -> usize {
        let Options { samples, with_fields, values, labels, spans, .. } = &self.0;
        with_fields.patterns.len()
            + values.len()
            + labels.labels.len()
            + labels.when.len()
            + labels.ends.len()
            + labels.handovers.len()
            + spans.rules.len()
            + samples.conditions.len()
    }

    /// Sets the options of a run. Conditions are added to those that it has.
    pub fn apply(&self, options: &mut Options) {
        let Self(Options {
            samples, with_fields, values, labels, spans, redact, weight_field, ..
        }) = self.clone();
        options.samples.conditions.extend(samples.conditions);
        options.with_fields = with_fields;
        options.values = values;
        options.labels = labels;
        options.spans = spans;
        options.redact = redact;
        options.weight_field = weight_field;
    }

    /// Requests the values of a name, as [`Options::add_values`] does.
    pub fn add_values(&mut self, name: &str) {
        self.0.add_values(name);
    }

    /// Weighs samples by a field, or by the durations of spans.
    pub fn weigh_by(&mut self, field: &str) {
        self.0.weight_field = Some(field.to_owned());
    }

    /// Iterates over the names of the labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.0.labels.labels.iter().map(|label| label.name.as_str())
    }

    /// Returns true if spans are described.
    #[must_use]
    pub const fn has_spans(&self) -> bool {
        !self.0.spans.is_empty()
    }
}

impl Options {
    /// Makes the values of a name columns of the profile: those of a variable `FUNCTION(PATH)`, of a label that the
    /// options have, or else of a field.
    pub fn add_values(&mut self, name: &str) {
        let is_variable = name.contains('(') && name.ends_with(')');
        let list = match is_variable {
            true => &mut self.values,
            false if self.labels.has(name) => return,
            false => &mut self.with_fields.patterns,
        };
        let is_all = |pattern: &String| !is_variable && pattern == FieldSelection::ALL;
        if !list.iter().any(|it| it == name || is_all(it)) {
            list.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::every_option;

    #[test]
    fn options_on_values_are_those_of_a_run() {
        let mut all = every_option().to_object();
        all.retain(|name, _| ValueOptions::NAMES.contains(&name.as_str()));
        assert_eq!(all.len(), ValueOptions::NAMES.len());
        let values = ValueOptions::from_object(all.clone()).unwrap();
        assert_eq!((values.to_object(), values.is_empty()), (all.clone(), false));
        let mut options = Options::default();
        values.apply(&mut options);
        assert_eq!(options.to_object(), all);
        assert!(ValueOptions::default().is_empty());
        let other = Map::from_iter([("sysroot".to_owned(), "/".into())]);
        let error = ValueOptions::from_object(other).unwrap_err();
        assert_eq!(error.to_string(), "unknown option 'sysroot'");
        let alone = Map::from_iter([("label_end".to_owned(), "e".into())]);
        let error = ValueOptions::from_object(alone).unwrap_err();
        assert_eq!(error.to_string(), "option 'label_end': it means nothing without label");
    }

    #[test]
    fn values_are_those_of_variables_labels_or_fields() {
        let mut options = ValueOptions::from_object(Map::from_iter([(
            "label".to_owned(),
            "query=p:r/query".into(),
        )]));
        let options = options.as_mut().unwrap();
        for name in ["query", "size", "f(a.b)", "size", "f(a.b)"] {
            options.add_values(name);
        }
        let Options { with_fields, values, .. } = &options.0;
        assert_eq!(
            (with_fields.patterns.as_slice(), values.as_slice()),
            (&["size".to_owned()][..], &["f(a.b)".to_owned()][..])
        );
        assert_eq!(options.count(), 3);
    }
}
