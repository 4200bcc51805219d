//! The tables of the default format, each as columns of the same length. Indexes point into other tables; what is
//! unknown is `null`.

use std::borrow::Cow;

use super::writer::{Document, address, boolean, number, number_or_null, string};
use profile::query::functions;
use profile::{InlineRow, LocationRow, ModuleRow, NO_STACK, Profile};

/// The rows of the table of inlines, in the order of the locations, so that these own ranges of it also where rows are
/// left out.
pub(super) struct Rows<'a> {
    inlines: Cow<'a, [InlineRow]>,
    /// Where each location's rows begin, and where the last one's end.
    starts: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// Those of all functions, or with `inlines` unset those of functions that are not inlined.
    pub(super) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let mut end = 0;
        let starts = profile.locations.iter().map(|location| {
            let start = end;
            end += functions(profile, location, inlines).len();
            start
        });
        let mut starts: Vec<usize> = starts.collect();
        starts.push(end);
        let mut stated = profile.locations.iter().zip(&starts);
        let in_place = stated.all(|(location, &start)| {
            location.n_inlines == 0 || location.first_inline as usize == start
        });
        let inlines = if in_place && end == profile.inlines.len() {
            Cow::Borrowed(&*profile.inlines)
        } else {
            let rows = profile.locations.iter();
            rows.flat_map(|row| functions(profile, row, inlines)).copied().collect()
        };
        Self { inlines, starts }
    }
}

/// Adds all tables.
pub(super) fn add<'a>(json: &mut Document<'a>, profile: &'a Profile, rows: &'a Rows<'a>) {
    events(json, profile);
    modules(json, &profile.modules);
    inlines(json, &rows.inlines);
    locations(json, &profile.locations, &rows.starts);
    frames(json, profile);
    stacks(json, profile);
    layouts(json, profile);
    threads(json, profile);
    samples(json, profile);
}

fn events<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    json.table("events", profile.events.len());
    json.column("name", &profile.events, |out, event| number(out, event.name.0));
    json.end_table();
}

fn modules<'a>(json: &mut Document<'a>, modules: &'a [ModuleRow]) {
    json.table("modules", modules.len());
    json.column("path", modules, |out, module| number(out, module.path.0));
    json.column("opened", modules, |out, module| number_or_null(out, module.opened.map(|id| id.0)));
    json.column("build_id", modules, |out, module| match module.build_id {
        Some(id) => string(out, id.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    });
    json.column("kind", modules, |out, module| number(out, module.kind as u8));
    json.end_table();
}

fn inlines<'a>(json: &mut Document<'a>, rows: &'a [InlineRow]) {
    let known = |number: u32| (number != 0).then_some(number);
    json.table("inlines", rows.len());
    json.column("function", rows, |out, row| number_or_null(out, row.function.map(|id| id.0)));
    json.column("file", rows, |out, row| number_or_null(out, row.file.map(|id| id.0)));
    json.column("line", rows, move |out, row| number_or_null(out, known(row.line)));
    json.column("column", rows, move |out, row| number_or_null(out, known(row.column)));
    json.column("inlined", rows, |out, row| boolean(out, row.inlined));
    json.end_table();
}

fn locations<'a>(json: &mut Document<'a>, rows: &'a [LocationRow], starts: &'a [usize]) {
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
    json.name("n_inlines");
    json.elements(rows.len(), |out, row| {
        let start = |row: usize| starts.get(row).copied().unwrap_or(0);
        number(out, start(row + 1).saturating_sub(start(row)));
    });
    json.end_table();
}

fn frames<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    let rows = &profile.frames;
    json.table("frames", rows.len());
    json.column("location", rows, |out, row| number(out, row.location));
    json.column("found_by", rows, |out, row| number(out, row.found_by as u8));
    json.column("kernel", rows, |out, row| boolean(out, row.kernel));
    json.column("instance", rows, |out, row| number(out, row.instance));
    json.end_table();
}

fn stacks<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    let rows = &profile.stacks;
    json.table("stacks", rows.len());
    json.column("parent", rows, |out, row| {
        number_or_null(out, (row.parent != NO_STACK).then_some(row.parent))
    });
    json.column("frame", rows, |out, row| number(out, row.frame));
    json.end_table();
}

fn layouts<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    json.table("layouts", profile.layouts.len());
    json.column("biases", &profile.layouts, |out, layout| {
        out.push(b'[');
        for (index, &(module, instance, bias)) in layout.biases.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"[" } else { b",[" });
            number(out, module.0);
            out.push(b',');
            number(out, instance);
            out.push(b',');
            address(out, bias);
            out.push(b']');
        }
        out.push(b']');
    });
    json.end_table();
}

fn threads<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    let rows = &profile.threads;
    json.table("threads", rows.len());
    json.column("pid", rows, |out, row| number(out, row.pid.0));
    json.column("tid", rows, |out, row| number(out, row.tid.0));
    json.column("comm", rows, |out, row| number(out, row.comm.0));
    json.end_table();
}

fn samples<'a>(json: &mut Document<'a>, profile: &'a Profile) {
    let rows = &profile.samples;
    json.table("samples", rows.len());
    json.column("time_ns", rows, |out, row| number_or_null(out, row.time.map(|time| time.0)));
    json.column("thread", rows, |out, row| number(out, row.thread));
    json.column("event", rows, |out, row| number(out, row.event));
    json.column("end", rows, |out, row| number(out, row.end as u8));
    json.column("cpu", rows, |out, row| number_or_null(out, row.cpu));
    json.column("period", rows, |out, row| number_or_null(out, row.period));
    json.column("stack", rows, |out, row| {
        number_or_null(out, (row.stack != NO_STACK).then_some(row.stack))
    });
    json.column("layout", rows, |out, row| number(out, row.layout));
    json.end_table();
}
