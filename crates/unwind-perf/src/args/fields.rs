//! Fields and labels in arguments: outputs that group by them, and outputs without a place for them.

use anyhow::bail;
use options::{Choice, ChoiceOrValue, Options, Weight};
use pipeline::Error;

use super::RunOptions;
use super::options::{argument_of, with_argument};

/// A label or field that the output groups samples by.
#[derive(Debug)]
pub(crate) struct GroupedBy {
    name: String,
    /// The argument and its known words.
    argument: String,
}

impl GroupedBy {
    /// An error of a run, with the argument that it is about.
    pub(crate) fn with_argument(this: Option<&Self>, error: Error) -> anyhow::Error {
        match (this, &error) {
            (Some(this), Error::UnknownField { pattern, .. }) if *pattern == this.name => {
                anyhow::Error::new(error).context(this.argument.clone())
            }
            _ => with_argument(error),
        }
    }
}

/// Returns the argument with the field or condition that an error is about, if it is about one.
pub(super) fn value_argument(error: &Error) -> Option<String> {
    Some(match error {
        Error::UnknownField { option: "weight_field", pattern, .. } => {
            format!("--weight {pattern} is none of {}, nor a field", Weight::WORDS.join(", "))
        }
        Error::FieldNotNumber { option: "weight_field", pattern, .. } => {
            format!("--weight {pattern}")
        }
        Error::UnknownField { option, pattern, .. }
        | Error::FieldNotNumber { option, pattern, .. } => {
            format!("{} {pattern}", argument_of(option))
        }
        Error::ConditionType { option, condition, .. } => {
            format!("{} {condition}", argument_of(option))
        }
        _ => return None,
    })
}

impl RunOptions {
    /// Refuses selected fields and labels for an output that neither has a place for them nor groups by them.
    ///
    /// # Errors
    /// If there are such fields or labels.
    pub(crate) fn refuse_fields(&self, output: &str) -> anyhow::Result<()> {
        let Options { with_fields, labels, samples, .. } = &self.options;
        let groups = |name: &String| self.grouped_by.as_ref().is_some_and(|it| it.name == *name);
        if !with_fields.patterns.iter().all(groups) {
            bail!(
                "--with-fields or with_fields has no effect on {output}; print fields with unwind-perf -f ndjson"
            );
        }
        let selects = |name: &String| samples.conditions.iter().any(|it| it.field == *name);
        let mut names = labels.labels.iter().map(|label| &label.name);
        match names.find(|name| !groups(name) && !selects(name)) {
            Some(name) => bail!(
                "the label {name} has no effect on {output}; use it in --where, top --by or --root, or print it with unwind-perf -f ndjson"
            ),
            None => Ok(()),
        }
    }

    /// Groups the samples of the output by the label or field of an argument, if it names one.
    pub(crate) fn group_by<C: Choice>(
        &mut self,
        argument: &str,
        grouping: Option<&ChoiceOrValue<C>>,
    ) {
        let Some(name) = grouping.and_then(ChoiceOrValue::value) else { return };
        if !self.options.labels.has(name) {
            self.options.with_fields.patterns.push(name.to_owned());
        }
        let words: Vec<_> = C::ALL.iter().map(|choice| choice.as_str()).collect();
        let words = words.join(", ");
        let argument = format!("{argument} {name} is none of {words}, nor a label or field");
        self.grouped_by = Some(GroupedBy { name: name.to_owned(), argument });
    }
}
