//! Tables of the default format as columns of equal length. Indexes refer to other tables; unknown values are `null`.

use super::writer::{JsonDocument, address, boolean, number, number_or_null, string};
use crate::render::inline_rows::InlineRows;
use profile::{EventId, FieldValue, InlineRow, LocationRow, ModuleRow, Profile, StackId, StringId};

/// Appends all tables.
pub(super) fn add<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile, rows: &'a InlineRows<'a>) {
    events(json, profile);
    modules(json, profile.modules.as_slice());
    inlines(json, &rows.inlines);
    locations(json, profile.locations.as_slice(), &rows.starts);
    frames(json, profile);
    stacks(json, profile);
    layouts(json, profile);
    threads(json, profile);
    samples(json, profile);
    fields(json, profile);
    spans(json, profile);
}

fn events<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    json.table("events", profile.events.len());
    json.column("name", profile.events.as_slice(), |out, event| number(out, event.name.as_u32()));
    json.end_table();
}

fn modules<'a>(json: &mut JsonDocument<'a>, modules: &'a [ModuleRow]) {
    json.table("modules", modules.len());
    json.column("path", modules, |out, module| number(out, module.path.as_u32()));
    json.column("opened", modules, |out, module| string_id(out, module.opened));
    json.column("build_id", modules, |out, module| match module.build_id {
        Some(id) => string(out, id.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    });
    json.column("kind", modules, |out, module| number(out, module.kind as u8));
    json.end_table();
}

fn inlines<'a>(json: &mut JsonDocument<'a>, rows: &'a [InlineRow]) {
    let known = |number: u32| (number != 0).then_some(number);
    json.table("inlines", rows.len());
    json.column("function", rows, |out, row| string_id(out, row.function));
    json.column("file", rows, |out, row| string_id(out, row.file));
    json.column("line", rows, move |out, row| number_or_null(out, known(row.line)));
    json.column("column", rows, move |out, row| number_or_null(out, known(row.column)));
    json.column("inlined", rows, |out, row| boolean(out, row.inlined));
    json.column("declared_file", rows, |out, row| string_id(out, row.declared_file));
    json.column("declared_line", rows, move |out, row| {
        number_or_null(out, known(row.declared_line));
    });
    json.end_table();
}

fn locations<'a>(json: &mut JsonDocument<'a>, rows: &'a [LocationRow], starts: &'a [usize]) {
    json.table("locations", rows.len());
    json.column("module", rows, |out, row| number_or_null(out, row.module.map(|id| id.0)));
    json.column("relative", rows, |out, row| address(out, row.relative));
    json.column("offset", rows, |out, row| match row.offset {
        Some(offset) => address(out, offset),
        None => out.extend_from_slice(b"null"),
    });
    json.column("function_offset", rows, |out, row| number_or_null(out, row.function_offset));
    json.column("first_inline", starts.get(..rows.len()).unwrap_or_default(), |out, &start| {
        number(out, start);
    });
    json.text.key("n_inlines");
    json.elements(rows.len(), |out, row| {
        let start = |row: usize| starts.get(row).copied().unwrap_or(0);
        number(out, start(row + 1).saturating_sub(start(row)));
    });
    json.end_table();
}

fn frames<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    let rows = profile.frames.as_slice();
    json.table("frames", rows.len());
    json.column("location", rows, |out, row| number(out, row.location.as_u32()));
    json.column("found_by", rows, |out, row| number(out, row.found_by as u8));
    json.column("kernel", rows, |out, row| boolean(out, row.kernel));
    json.column("instance", rows, |out, row| number(out, row.instance));
    json.end_table();
}

fn stacks<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    let rows = profile.stacks.as_slice();
    json.table("stacks", rows.len());
    json.column("parent", rows, |out, row| number_or_null(out, row.parent.map(StackId::as_u32)));
    json.column("frame", rows, |out, row| number(out, row.frame.as_u32()));
    json.end_table();
}

fn layouts<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    json.table("layouts", profile.layouts.len());
    json.column("biases", profile.layouts.as_slice(), |out, layout| {
        out.push(b'[');
        for (index, image) in layout.biases().iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"[" } else { b",[" });
            number(out, image.module.0);
            out.push(b',');
            number(out, image.instance);
            out.push(b',');
            address(out, image.bias.0);
            out.push(b']');
        }
        out.push(b']');
    });
    json.end_table();
}

fn threads<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    let rows = profile.threads.as_slice();
    json.table("threads", rows.len());
    json.column("pid", rows, |out, row| number(out, row.pid.0));
    json.column("tid", rows, |out, row| number(out, row.tid.0));
    json.column("comm", rows, |out, row| number(out, row.comm.as_u32()));
    json.column("process", rows, |out, row| number(out, row.process.as_u32()));
    if rows.iter().any(|row| row.cgroup.is_some()) {
        json.column("cgroup", rows, |out, row| string_id(out, row.cgroup));
    }
    json.end_table();
}

fn samples<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    let rows = profile.samples.as_slice();
    json.table("samples", rows.len());
    json.column("time_ns", rows, |out, row| number_or_null(out, row.time().map(|time| time.0)));
    json.column("thread", rows, |out, row| number(out, row.thread.as_u32()));
    json.column("event", rows, |out, row| number(out, row.event.as_u32()));
    json.column("end", rows, |out, row| number(out, row.end as u8));
    json.column("cpu", rows, |out, row| number_or_null(out, row.cpu()));
    json.column("period", rows, |out, row| number_or_null(out, row.period()));
    json.column("stack", rows, |out, row| number_or_null(out, row.stack.map(StackId::as_u32)));
    json.column("layout", rows, |out, row| number(out, row.layout.as_u32()));
    json.end_table();
}

/// Appends the values of requested fields: a table for each field, with a row for each sample that has a value.
fn fields<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    if profile.fields.is_empty() {
        return;
    }
    json.text.line().key("fields").begin_array();
    for column in profile.fields.columns() {
        json.text.begin_object();
        json.text.key("event").maybe(column.event.map(EventId::as_u32));
        json.text.key("name").number(column.name.as_u32());
        json.text.key("type").string(column.kind.as_str());
        json.text.key("length").number(column.samples().len());
        json.column("sample", column.samples(), |out, sample| number(out, sample.as_u32()));
        json.column("value", column.values(), |out, value| match *value {
            FieldValue::Signed(value) => number(out, value),
            FieldValue::Unsigned(value) => number(out, value),
            FieldValue::Text(id) => number(out, id.as_u32()),
            FieldValue::List(id) => out.extend_from_slice(profile.strings.get(id)),
        });
        json.text.end_object();
    }
    json.text.end_array();
}

/// Appends the spans that samples begin.
fn spans<'a>(json: &mut JsonDocument<'a>, profile: &'a Profile) {
    let rows = profile.fields.spans.rows();
    if rows.is_empty() {
        return;
    }
    json.table("spans", rows.len());
    json.column("name", rows, |out, row| number(out, row.name.as_u32()));
    json.column("sample", rows, |out, row| number(out, row.sample.as_u32()));
    json.column("key", rows, |out, row| string_id(out, row.key));
    json.column("duration_ns", rows, |out, row| number(out, row.duration));
    json.column("self_ns", rows, |out, row| number(out, row.own));
    json.end_table();
}

#[inline]
fn string_id(out: &mut Vec<u8>, id: Option<StringId>) {
    number_or_null(out, id.map(StringId::as_u32));
}
