//! A difference as pprof's profile: the candidate's stacks as samples, the baseline's as negative samples with the
//! label `pprof::base`. pprof represents the profile of `-diff_base` in the same way.
//!
//! Functions have no addresses here: addresses of two builds are not comparable.
//!
//! Source: <https://github.com/google/pprof/blob/main/doc/README.md>, "Comparing profiles";
//! <https://github.com/google/pprof/blob/main/proto/profile.proto>.

use std::io::{self, Write as _};

use profile::query::diff::Diff;

use super::labels::{full_function, module};
use super::stacks::{DiffStack, stacks};
use crate::formats::{StringTable, pprof_field as field};
use crate::render::encoding::gzip::GzipWriter;
use crate::render::encoding::protobuf::ProtoMessage;

/// Label key of baseline samples, and its value.
const BASE: [&[u8]; 2] = [b"pprof::base", b"true"];

/// Prints the profile.
pub(super) fn print(diff: &Diff, out: &mut dyn io::Write) -> io::Result<()> {
    let mut gzip = GzipWriter::new(out, 4);
    let mut names = StringTable::default();
    let mut top = ProtoMessage::default();
    head(diff, &mut names, &mut top);
    for stack in stacks(diff) {
        for is_base in [true, false] {
            sample(diff, &stack, is_base, &mut names, &mut top);
        }
    }
    locations(diff, &mut names, &mut top);
    for name in names.strings() {
        top.string(field::STRING_TABLE, name);
    }
    gzip.write_all(top.bytes())?;
    gzip.finish()
}

/// Appends the types of the sample values: their number, and their cost in the unit of the event.
fn head(diff: &Diff, names: &mut StringTable, top: &mut ProtoMessage) {
    let mut value_type = |field, name: &str, unit: &str, names: &mut StringTable| {
        let mut message = ProtoMessage::default();
        message.number(1, names.index(name.as_bytes()));
        message.number(2, names.index(unit.as_bytes()));
        top.message(field, &message);
    };
    value_type(field::SAMPLE_TYPE, "samples", "count", names);
    if let Some(unit) = diff.unit {
        value_type(field::SAMPLE_TYPE, &diff.event, unit, names);
        value_type(field::PERIOD_TYPE, &diff.event, unit, names);
    }
    let default = if diff.unit.is_some() { &*diff.event } else { "samples" };
    top.number(field::DEFAULT_SAMPLE_TYPE, names.index(default.as_bytes()));
    let seconds: f64 = diff.after.runs.iter().filter_map(|run| run.seconds).sum();
    top.number(field::DURATION_NANOS, (seconds * 1e9).round() as u64);
    let lines = [("before", &diff.before), ("after", &diff.after)].map(|(word, side)| {
        let runs: Vec<&str> = side.runs.iter().map(|run| &*run.name).collect();
        names.index(format!("{word}: {}", runs.join(" ")).as_bytes())
    });
    let by = format!("normalized by: {}", diff.normalization.as_str());
    let comments = [lines[0], lines[1], names.index(by.as_bytes())];
    top.packed(field::COMMENT, comments.into_iter());
}

fn sample(
    diff: &Diff,
    stack: &DiffStack,
    is_base: bool,
    names: &mut StringTable,
    top: &mut ProtoMessage,
) {
    let side = usize::from(!is_base);
    let number = |value: u64| {
        let value = value.min(i64::MAX as u64) as i64;
        (if is_base { -value } else { value }) as u64
    };
    let values = [stack.samples[side], stack.costs[side]].map(number);
    if values == [0, 0] {
        return;
    }
    let mut message = ProtoMessage::default();
    message.packed(1, stack.functions.iter().map(|function| function.to_bits().into()));
    let n_values = if diff.unit.is_some() { 2 } else { 1 };
    message.packed(2, values.into_iter().take(n_values));
    let mut label = |[key, value]: [&[u8]; 2], names: &mut StringTable| {
        let mut label = ProtoMessage::default();
        label.number(1, names.index(key));
        label.number(2, names.index(value));
        message.message(3, &label);
    };
    label([b"comm", stack.thread.map_or(b"", |name| diff.text(name))], names);
    if stack.truncated {
        label([b"end", b"truncated"], names);
    }
    if is_base {
        label(BASE, names);
    }
    top.message(field::SAMPLE, &message);
}

/// Appends the modules, and a location for each function in its module.
fn locations(diff: &Diff, names: &mut StringTable, top: &mut ProtoMessage) {
    let mut message = ProtoMessage::default();
    for id in diff.modules.ids() {
        message.clear();
        message.number(1, id.to_bits().into());
        message.number(5, names.index(module(diff, id)));
        // All available names are already here, so pprof need not look any up.
        for field in 7..=10 {
            message.number(field, 1);
        }
        top.message(field::MAPPING, &message);
    }
    for (id, row) in diff.functions.entries() {
        let mut line = ProtoMessage::default();
        line.number(1, id.to_bits().into());
        message.clear();
        message.number(1, id.to_bits().into());
        message.number(2, row.module.map_or(0, |module| module.to_bits().into()));
        message.message(4, &line);
        top.message(field::LOCATION, &message);
        message.clear();
        message.number(1, id.to_bits().into());
        message.number(2, names.index(&full_function(diff, row)));
        top.message(field::FUNCTION, &message);
    }
}
