//! The tables of the default format, each as columns of the same length. Indexes point into other tables; what is
//! unknown is `null`.

use std::io;

use super::writer::{Writer, address, boolean, number, number_or_null, string};
use crate::profile::{InlineRow, LocationRow, ModuleRow, NO_STACK, Profile};
use crate::stack::functions;

/// Prints all tables.
pub(super) fn print(json: &mut Writer<'_>, profile: &Profile, inlines: bool) -> io::Result<()> {
    events(json, profile)?;
    modules(json, &profile.modules)?;
    inline_rows(json, profile, inlines)?;
    locations(json, profile, inlines)?;
    frames(json, profile)?;
    stacks(json, profile)?;
    layouts(json, profile)?;
    threads(json, profile)?;
    samples(json, profile)
}

fn events(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
    json.table("events", profile.events.len());
    json.column("name", &profile.events, |out, event| number(out, event.name.0))?;
    json.end_table();
    Ok(())
}

fn modules(json: &mut Writer<'_>, modules: &[ModuleRow]) -> io::Result<()> {
    json.table("modules", modules.len());
    json.column("path", modules, |out, module| number(out, module.path.0))?;
    json.column("opened", modules, |out, module| {
        number_or_null(out, module.opened.map(|id| id.0))
    })?;
    json.column("build_id", modules, |out, module| match module.build_id {
        Some(id) => string(out, id.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    })?;
    json.column("kind", modules, |out, module| number(out, module.kind as u8))?;
    json.end_table();
    Ok(())
}

/// The table of inlines in the order of the locations, so that these own ranges of it also where rows are left out.
fn inline_rows(json: &mut Writer<'_>, profile: &Profile, inlines: bool) -> io::Result<()> {
    let rows = profile.locations.iter().flat_map(|location| functions(profile, location, inlines));
    let rows: Vec<&InlineRow> = rows.collect();
    let known = |number: u32| (number != 0).then_some(number);
    json.table("inlines", rows.len());
    json.column("function", &rows, |out, row| number_or_null(out, row.function.map(|id| id.0)))?;
    json.column("file", &rows, |out, row| number_or_null(out, row.file.map(|id| id.0)))?;
    json.column("line", &rows, |out, row| number_or_null(out, known(row.line)))?;
    json.column("column", &rows, |out, row| number_or_null(out, known(row.column)))?;
    json.column("inlined", &rows, |out, row| boolean(out, row.inlined))?;
    json.end_table();
    Ok(())
}

fn locations(json: &mut Writer<'_>, profile: &Profile, inlines: bool) -> io::Result<()> {
    let rows = &profile.locations;
    let length = |row: &LocationRow| functions(profile, row, inlines).len();
    let mut first = 0;
    json.table("locations", rows.len());
    json.column("module", rows, |out, row| number_or_null(out, row.module.map(|id| id.0)))?;
    json.column("relative", rows, |out, row| address(out, row.relative))?;
    json.column("offset", rows, |out, row| match row.offset {
        Some(offset) => address(out, offset),
        None => out.extend_from_slice(b"null"),
    })?;
    json.column("function_offset", rows, |out, row| number_or_null(out, row.function_offset))?;
    json.column_in_order("first_inline", rows, |out, row| {
        number(out, first);
        first += length(row);
    })?;
    json.column("n_inlines", rows, |out, row| number(out, length(row)))?;
    json.end_table();
    Ok(())
}

fn frames(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
    let rows = &profile.frames;
    json.table("frames", rows.len());
    json.column("location", rows, |out, row| number(out, row.location))?;
    json.column("found_by", rows, |out, row| number(out, row.found_by as u8))?;
    json.column("kernel", rows, |out, row| boolean(out, row.kernel))?;
    json.column("instance", rows, |out, row| number(out, row.instance))?;
    json.end_table();
    Ok(())
}

fn stacks(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
    let rows = &profile.stacks;
    json.table("stacks", rows.len());
    json.column("parent", rows, |out, row| {
        number_or_null(out, (row.parent != NO_STACK).then_some(row.parent))
    })?;
    json.column("frame", rows, |out, row| number(out, row.frame))?;
    json.end_table();
    Ok(())
}

fn layouts(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
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
    })?;
    json.end_table();
    Ok(())
}

fn threads(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
    let rows = &profile.threads;
    json.table("threads", rows.len());
    json.column("pid", rows, |out, row| number(out, row.pid.0))?;
    json.column("tid", rows, |out, row| number(out, row.tid.0))?;
    json.column("comm", rows, |out, row| number(out, row.comm.0))?;
    json.end_table();
    Ok(())
}

fn samples(json: &mut Writer<'_>, profile: &Profile) -> io::Result<()> {
    let rows = &profile.samples;
    json.table("samples", rows.len());
    json.column("time_ns", rows, |out, row| number_or_null(out, row.time.map(|time| time.0)))?;
    json.column("thread", rows, |out, row| number(out, row.thread))?;
    json.column("event", rows, |out, row| number(out, row.event))?;
    json.column("end", rows, |out, row| number(out, row.end as u8))?;
    json.column("cpu", rows, |out, row| number_or_null(out, row.cpu))?;
    json.column("period", rows, |out, row| number_or_null(out, row.period))?;
    json.column("stack", rows, |out, row| {
        number_or_null(out, (row.stack != NO_STACK).then_some(row.stack))
    })?;
    json.column("layout", rows, |out, row| number(out, row.layout))?;
    json.end_table();
    Ok(())
}
