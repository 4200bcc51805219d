//! The head of the page: JSON with names, facts of the recording, and its quality.

use std::io;

use address::ModuleId;
use hashbrown::HashMap;
use profile::query::{Function, period_units, recorded_program};
use profile::{
    EndReason, EventId, ModuleRow, Profile, RecordingInfo, StringId, Table, ThreadRow, WaitKind,
};

use super::Page;
use super::columns::PageColumns;
use super::schema::PageFunction;
use super::tree::PageTree;
use crate::render::encoding::json_writer::JsonWriter;
use crate::summary::write_summary;

/// Version of the layout of head and columns, for readers that store the tables separately from the scripts.
pub(super) const VERSION: u8 = 3;

/// Modules with the same path.
pub(super) struct PageModule<'a> {
    /// The module shown for all of them.
    row: &'a ModuleRow,
    count: usize,
}

/// Modules by path, the only property of a module that functions refer to.
pub(super) struct PageModules<'a> {
    pub(super) rows: Vec<PageModule<'a>>,
    by_path: HashMap<StringId, usize>,
    of_module: Table<ModuleId, usize>,
}

impl<'a> PageModules<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let mut all = Self { rows: Vec::new(), by_path: HashMap::new(), of_module: Table::new() };
        for module in &profile.modules {
            let at = *all.by_path.entry(module.path).or_insert_with(|| {
                all.rows.push(PageModule { row: module, count: 0 });
                all.rows.len() - 1
            });
            if let Some(PageModule { row: shown, count }) = all.rows.get_mut(at) {
                *count += 1;
                // Of several files with one path, an opened one has more information.
                if shown.opened.is_none() && module.opened.is_some() {
                    *shown = module;
                }
            }
            all.of_module.push(at);
        }
        all
    }

    /// Returns the index of a function's module; -1 for none.
    pub(super) fn number(&self, function: &Function) -> i64 {
        let module = function.module.and_then(|path| self.by_path.get(&path));
        module.map_or(-1, |&at| at as i64)
    }
}

/// Returns the head as JSON.
pub(super) fn head(
    profile: &Profile,
    tree: &PageTree,
    columns: &PageColumns,
    page: &Page,
) -> io::Result<Vec<u8>> {
    let modules = PageModules::new(profile);
    let mut summary = Vec::new();
    write_summary(profile, &mut summary)?;
    let mut json = JsonWriter::default();
    json.object(|json| {
        json.key("version").number(VERSION);
        json.key("title").string(title(profile));
        json.key("summary").string(&summary);
        let clock = PageClock { unit: columns.unit, origin: columns.origin };
        facts(json, profile, clock, &columns.fixed, page.written);
        json.key("threads").array(profile.threads.iter(), |json, row| {
            json.array([row], |json, row| thread(json, profile, row));
        });
        cgroups(json, profile);
        if profile.off_cpu.is_some() {
            json.key("waits").array(WaitKind::ALL, |json, kind| json.string(kind.as_str()));
            // The page opens with the first recorded event.
            if profile.off_cpu_is_extra {
                json.key("offCpuLater").number(1_u8);
            }
        }
        json.key("modules").array(&modules.rows, |json, row| module(json, profile, row));
        functions(json, profile, tree, &modules);
        columns.values.head(profile, json);
        quality(json, profile, &modules);
        json.key("sources").array(&page.sources, |json, source| {
            json.object(|json| {
                json.key("file").string(&source.file);
                json.key("text").lines(&source.text);
            });
        });
        code(json, page, &modules);
        json.key("columns").array(&columns.shapes, |json, shape| {
            json.array([shape], |json, (name, width, length)| {
                json.string(name);
                json.string(width.name());
                json.number(*length as u64);
            });
        });
    });
    Ok(json.into_bytes())
}

/// Returns the recorded command.
pub(super) fn title(profile: &Profile) -> Vec<u8> {
    let words: Vec<&[u8]> =
        profile.recording.command_line.iter().map(|&id| profile.strings.get(id)).collect();
    if words.is_empty() { b"Profile".to_vec() } else { words.join(&b' ') }
}

/// Clock of a page's times.
#[derive(Clone, Copy)]
pub(super) struct PageClock {
    /// Unit, in nanoseconds.
    pub(super) unit: u64,
    /// Origin, in nanoseconds of the recording's clock.
    pub(super) origin: u64,
}

/// By event: the period of all its samples.
pub(super) type Fixed = Table<EventId, Option<u64>>;

/// Appends the facts of a recording that do not depend on its samples.
pub(super) fn facts(
    json: &mut JsonWriter,
    profile: &Profile,
    clock: PageClock,
    fixed: &Fixed,
    written: Option<i64>,
) {
    json.key("recording").object(|json| {
        recording(json, profile, &profile.recording);
        json.key("written").maybe(written);
    });
    json.key("unit").number(clock.unit);
    json.key("origin").number(clock.origin);
    json.key("events");
    events(json, profile, fixed);
    if let Some(event) = profile.off_cpu {
        json.key("offCpu").number(event.as_u32());
    }
    let ends = || EndReason::ALL.iter();
    json.key("ends").array(ends(), |json, end| json.string(end.as_str()));
    json.key("rooted").array(ends(), |json, end| json.number(u8::from(end.is_rooted())));
    json.key("complete").array(ends(), |json, end| json.number(u8::from(end.is_complete())));
}

/// Appends the process id, thread id, thread name and process name.
pub(super) fn thread(json: &mut JsonWriter, profile: &Profile, thread: &ThreadRow) {
    json.number(thread.pid.0);
    json.number(thread.tid.0);
    json.string(profile.strings.get(thread.comm));
    json.string(profile.strings.get(thread.process));
}

/// Appends the control group of a thread.
pub(super) fn cgroup(json: &mut JsonWriter, profile: &Profile, thread: &ThreadRow) {
    json.string(thread.cgroup.map_or(&b""[..], |id| profile.strings.get(id)));
}

fn recording(json: &mut JsonWriter, profile: &Profile, facts: &RecordingInfo) {
    if let Some(program) = recorded_program(profile) {
        json.key("program").string(program);
    }
    for (key, text) in [
        ("host", facts.hostname),
        ("kernel", facts.os_release),
        ("arch", facts.arch),
        ("perf", facts.perf_version),
        ("processor", facts.cpu_desc),
    ] {
        if let Some(id) = text {
            json.key(key).string(profile.strings.get(id));
        }
    }
    json.key("processors").maybe(facts.cpus_online);
    json.key("memoryKiB").maybe(facts.total_memory_kib);
    json.key("stackBytes").maybe(facts.stack_bytes);
}

/// Appends the control group of each thread, if any was recorded.
fn cgroups(json: &mut JsonWriter, profile: &Profile) {
    if profile.threads.iter().any(|thread| thread.cgroup.is_some()) {
        let rows = profile.threads.iter();
        json.key("cgroups").array(rows, |json, row| cgroup(json, profile, row));
    }
}

fn events(json: &mut JsonWriter, profile: &Profile, fixed: &Fixed) {
    let units = period_units(profile);
    json.array(profile.events.entries(), |json, (id, event)| {
        json.object(|json| {
            json.key("name").string(profile.strings.get(event.name));
            let unit = units.get(id).copied().flatten().unwrap_or("count");
            json.key("unit").string(unit);
            json.key("period").maybe(fixed.get(id).copied().flatten());
            json.key("rate").number(event.rate);
            json.key("frequency").number(u8::from(event.frequency));
        });
    });
}

pub(super) fn module(json: &mut JsonWriter, profile: &Profile, module: &PageModule<'_>) {
    let PageModule { row, count } = *module;
    json.object(|json| {
        json.key("path").string(profile.strings.get(row.path));
        json.key("kind").string(row.kind.as_str());
        json.key("count").number(count as u64);
        if let Some(opened) = row.opened {
            json.key("opened").string(profile.strings.get(opened));
        }
        if let Some(id) = row.build_id {
            json.key("buildId").string(id.to_string());
        }
    });
}

/// Appends the functions, and the strings that they refer to.
fn functions(json: &mut JsonWriter, profile: &Profile, tree: &PageTree, modules: &PageModules<'_>) {
    let index = |id: Option<StringId>| {
        id.and_then(|id| tree.strings.binary_search(&id).ok()).map_or(-1, |at| at as i64)
    };
    json.key("functions").array(tree.functions.iter(), |json, function| {
        let [name, file] = [function.name, function.file].map(index);
        let module = modules.number(function);
        let row = PageFunction { function, name, file, module }.row();
        json.array(row, JsonWriter::number);
    });
    json.key("elsewhere").array(&tree.elsewhere, |json, &(file, line)| {
        json.array([()], |json, ()| {
            json.number(index(Some(file)));
            json.number(i64::from(line));
        });
    });
    json.key("names").array(&tree.strings, |json, &id| json.string(profile.strings.get(id)));
}

/// Appends the instructions: a line of text for each, and their lengths.
fn code(json: &mut JsonWriter, page: &Page, modules: &PageModules<'_>) {
    json.key("code").array(&page.code.functions, |json, function| {
        json.object(|json| {
            let module = modules.of_module.get(function.module);
            json.key("module").number(module.map_or(-1, |&at| at as i64));
            json.key("start").number(function.start);
            let lengths = function.instructions.iter().map(|(length, _)| *length);
            json.key("lengths").array(lengths, JsonWriter::number);
            let lines: Vec<&str> =
                function.instructions.iter().map(|(_, text)| text.as_str()).collect();
            json.key("text").lines(lines.join("\n"));
        });
    });
    json.key("targets").array(&page.code.targets, |json, target| {
        let module = modules.of_module.get(target.module);
        json.array([()], |json, ()| {
            json.number(module.map_or(-1, |&at| at as i64));
            json.number(target.address);
            json.string(&target.name);
        });
    });
    json.key("codeLeftOut").number(page.code.omitted);
}

pub(super) fn quality(json: &mut JsonWriter, profile: &Profile, modules: &PageModules<'_>) {
    let summary = &profile.summary;
    if let Some(applied) = &summary.applied_filter {
        json.key("filters").array(&applied.filters, JsonWriter::string);
    }
    json.key("frames").number(summary.frames);
    json.key("filtered").number(summary.samples_filtered);
    json.key("dropped").number(summary.samples_dropped);
    json.key("lost").number(summary.lost_samples);
    json.key("throttled").number(summary.throttled);
    json.key("losses").array(&summary.losses, |json, loss| {
        json.object(|json| {
            let module = loss.module.and_then(|id| modules.of_module.get(id));
            json.key("module").number(module.map_or(-1, |&at| at as i64));
            json.key("samples").number(loss.samples);
            json.key("reason").string(&loss.reason);
            json.key("help").string(loss.help.as_ref().map_or(&b""[..], |it| it.text.as_bytes()));
        });
    });
    json.key("findings").array(&summary.findings, |json, finding| {
        json.object(|json| {
            json.key("kind").string(&finding.kind);
            json.key("message").string(finding.text().as_ref());
            json.key("count").number(finding.count);
        });
    });
}
