//! Spans in the options of a run.

use options::{FieldSelection, LabelOptions, SpanEvent, SpanOptions, SpanRule, fits_event};
use perf_data::{Event, FieldColumn, Head, RecordedFields};

use super::fields::names;
use crate::error::Error;

/// The name of the option in [`options`].
const OPTION: &str = "span";

/// Returns the events that can begin spans of a name, by index.
pub(super) fn begins(spans: &SpanOptions, name: &str, head: &Head) -> Vec<u16> {
    let is_begin = |event: &Event| {
        let mut rules = spans.rules.iter().filter(|rule| rule.name == name);
        rules.any(|rule| fits_event(&rule.begin.event, &event.name))
    };
    let events = (0..).zip(head.events());
    events.filter(|(_, event)| is_begin(event)).map(|(index, _)| index).collect()
}

/// Refuses spans of unknown events or fields, and samples inside spans that are not described.
pub(in crate::runs) fn check_spans(
    spans: &SpanOptions,
    labels: &LabelOptions,
    head: &Head,
) -> Result<(), Error> {
    if spans.is_empty() {
        return Ok(());
    }
    let fields = RecordedFields::of(head);
    for rule in &spans.rules {
        for event in [&rule.begin, &rule.end] {
            check_event(event, rule, &fields, head)?;
        }
    }
    let Some(name) = &spans.inside else { return Ok(()) };
    if !spans.has(name) {
        return Err(Error::UnknownSpan { option: "inside", name: name.clone() });
    }
    for rule in spans.rules.iter().filter(|rule| rule.name == *name) {
        if let Some(key) = rule.fields().find(|field| !labels.has(field)) {
            let (name, key) = (name.clone(), key.to_owned());
            return Err(Error::InsideNeedsLabel { name, key });
        }
    }
    Ok(())
}

fn check_event(
    of_rule: &SpanEvent,
    rule: &SpanRule,
    fields: &RecordedFields,
    head: &Head,
) -> Result<(), Error> {
    let SpanEvent { event: pattern, condition } = of_rule;
    let found: Vec<(u16, &Event)> =
        (0..).zip(head.events()).filter(|(_, event)| fits_event(pattern, &event.name)).collect();
    if found.is_empty() {
        let recorded = head.events().iter().map(|it| it.name.to_string()).collect();
        return Err(Error::UnknownEvent { option: OPTION, name: pattern.clone(), recorded });
    }
    for (at, event) in found {
        let fields = fields.of_event(at);
        let of = |pattern: &str| {
            let is = |it: &&FieldColumn| FieldSelection::fits(pattern, &event.name, &it.name);
            fields.iter().filter(is).collect::<Vec<_>>()
        };
        let unknown = |pattern: String| {
            let recorded = names(fields.iter(), head);
            Error::UnknownField { option: OPTION, pattern, recorded }
        };
        if let Some(condition) = condition {
            let fields = of(&condition.field);
            if fields.is_empty() {
                return Err(unknown(condition.field.clone()));
            }
            if !fields.iter().any(|field| condition.suits(field.kind)) {
                let is_text = fields.iter().any(|field| !field.kind.is_number());
                let kinds = if is_text { "text" } else { "numbers" };
                let condition = condition.to_string();
                return Err(Error::ConditionType { option: OPTION, condition, kinds });
            }
        }
        if let Some(field) = rule.fields().find(|field| of(field).is_empty()) {
            return Err(unknown(format!("{}/{field}", event.name)));
        }
    }
    Ok(())
}
