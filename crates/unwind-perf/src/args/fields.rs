//! Fields and labels in arguments: outputs that group by them, and outputs without a place for them.

use anyhow::{Context as _, bail};
use formats::Format;
use options::{Choice, ChoiceOrValue, Options, SpanRule, SpanTime, Weight};
use pipeline::Error;
use rustix::rand::{GetRandomFlags, getrandom};

use super::options::{argument_of, with_argument};
use super::{FunctionArgs, RunOptions};

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
        Error::FunctionVariable { text, .. } => format!("--value {text}"),
        Error::UnknownSpan { option, name } => format!("{} {name}", argument_of(option)),
        Error::InsideNeedsLabel { name, .. } => format!("--inside {name}"),
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

/// Returns the key of `--redact`: the one of the argument, or else a random one.
///
/// # Errors
/// If the system gives no random bytes.
pub(super) fn redaction_key(given: Option<&Option<String>>) -> anyhow::Result<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    if let Some(key) = given {
        return Ok(Some(key.clone()));
    }
    let mut key = [0; 32];
    // `getrandom` returns requests of up to 256 bytes completely.
    getrandom(&mut key, GetRandomFlags::empty()).context("the system gives no random bytes")?;
    Ok(Some(key.map(|byte| format!("{byte:02x}")).concat()))
}

impl RunOptions {
    /// Refuses `--redact` for an output without values, and for one with values that are not hashed.
    ///
    /// # Errors
    /// If hashes are requested and the output has none.
    pub(crate) fn check_redaction(&self, format: Option<Format>) -> anyhow::Result<()> {
        let Options { redact, with_fields, labels, spans, values, trace_text, .. } = &self.options;
        let has_keys = spans.rules.iter().any(|rule| !rule.key.is_empty());
        if redact.is_none() {
            return Ok(());
        }
        if format == Some(Format::Hotspot) {
            bail!("--redact has no effect on the format hotspot, which prints all fields");
        }
        let has_values = !with_fields.is_empty() || !labels.is_empty() || !values.is_empty();
        if !has_values && !has_keys && !trace_text {
            bail!(
                "--redact has no effect: no value is printed; select some with --with-fields or --label"
            );
        }
        Ok(())
    }

    /// Refuses selected fields and labels for an output that neither has a place for them nor groups by them.
    ///
    /// # Errors
    /// If there are such fields or labels.
    pub(crate) fn refuse_fields(&self, output: &str) -> anyhow::Result<()> {
        let Options { with_fields, labels, samples, spans, values, .. } = &self.options;
        let groups = |name: &String| self.grouped_by.as_ref().is_some_and(|it| it.name == *name);
        if !with_fields.patterns.iter().all(groups) {
            bail!(
                "--with-fields or with_fields has no effect on {output}; print fields with unwind-perf -f ndjson"
            );
        }
        let selects = |name: &String| samples.conditions.iter().any(|it| it.field == *name);
        if let Some(text) = values.iter().find(|text| !groups(text)) {
            bail!(
                "--value '{text}' has no effect on {output}; use top --by '{text}', or print it with unwind-perf -f ndjson"
            );
        }
        let has_key = |name: &String| spans.rules.iter().any(|rule| rule.key.contains(name));
        let is_key = |name: &String| spans.inside.is_some() && has_key(name);
        let mut names = labels.labels.iter().map(|label| &label.name);
        match names.find(|name| !groups(name) && !selects(name) && !is_key(name)) {
            Some(name) => bail!(
                "the label {name} has no effect on {output}; use it in --where, top --by or --root, or print it with unwind-perf -f ndjson"
            ),
            None => Ok(()),
        }
    }

    /// Refuses spans for an output that neither prints nor uses them.
    ///
    /// # Errors
    /// If there are such spans.
    pub(crate) fn refuse_spans(&self, output: &str) -> anyhow::Result<()> {
        let Options { spans, weight_field, .. } = &self.options;
        let weight = weight_field.as_deref().and_then(|name| spans.weight(name));
        // Self times depend on all spans.
        let uses = |name: &str| {
            spans.inside.as_deref() == Some(name)
                || weight.is_some_and(|(it, time)| it == name || time == SpanTime::Own)
        };
        match spans.rules.iter().find(|rule| !self.prints_spans && !uses(&rule.name)) {
            Some(SpanRule { name, .. }) => bail!(
                "the span {name} has no effect on {output}; use it in --inside or --weight, or print it with unwind-perf spans"
            ),
            None => Ok(()),
        }
    }

    /// Omits names that a later look-up by build-id finds, for aggregated stacks.
    ///
    /// # Errors
    /// If an option needs those names, or selects values of samples.
    pub(crate) fn leave_names_to_symbolize(
        &mut self,
        functions: &FunctionArgs,
    ) -> anyhow::Result<()> {
        let output = "the stacks of --stacks";
        self.refuse_fields(output)?;
        self.refuse_spans(output)?;
        if !functions.is_empty() {
            bail!(
                "the filters of functions have no effect on {output}, which have no names; filter the result of unwind-perf symbolize"
            );
        }
        let names = &mut self.options.names;
        if !names.inlines {
            bail!("--no-inline has no effect on {output}; add it to unwind-perf symbolize");
        }
        names.only_without_build_id = true;
        Ok(())
    }

    /// Groups the samples of the output by the label or field of an argument, if it names one.
    pub(crate) fn group_by<C: Choice>(
        &mut self,
        argument: &str,
        grouping: Option<&ChoiceOrValue<C>>,
    ) {
        let Some(name) = grouping.and_then(ChoiceOrValue::value) else { return };
        self.options.add_values(name);
        let words: Vec<_> = C::ALL.iter().map(|choice| choice.as_str()).collect();
        let words = words.join(", ");
        let argument = format!("{argument} {name} is none of {words}, nor a label or field");
        self.grouped_by = Some(GroupedBy { name: name.to_owned(), argument });
    }
}
