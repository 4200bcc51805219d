//! From the replay and the names to the profile that printers print.

use address::{Bias, BuildId};
use module_map::{Library, Module, ModuleKind as MapKind, Timeline};
use perf_data::{Event, Head};
use profile::{
    EventId, EventRow, FrameId, FrameRow, LayoutId, LayoutRow, LocationId, ModuleKind, ModuleRow,
    Profile, RecordingInfo, SampleRow, StackId, StackRow, Strings, Summary, Table, ThreadId,
    ThreadRow,
};
use unwinder::{FrameKey, Layout, Outcome, Partial, Replay, StackNode, Thread};

use crate::locations::locations;
use crate::names::Resolved;

/// Puts the tables together.
pub(crate) fn assemble(
    head: &Head,
    timeline: &Timeline,
    library: &Library,
    replay: Replay,
    resolved: &Resolved,
) -> Profile {
    let mut strings = Strings::default();
    let info = recording_info(head, &mut strings);
    let events = head.events().iter().map(|event| event_row(event, &mut strings)).collect();
    let modules =
        timeline.modules().iter().map(|module| module_row(module, library, &mut strings)).collect();
    let mut inlines = Table::new();
    let summary = summary(&replay);
    let Replay { frames, stacks, layouts, samples, .. } = replay;
    let n_samples = samples.len() as u64;
    let (locations, (frames, stacks, layouts, samples)) = rayon::join(
        || locations(resolved, &mut strings, &mut inlines),
        || {
            let frames = frames.iter().zip(&resolved.of_frame);
            let frames = frames.map(|(frame, &location)| frame_row(frame, location)).collect();
            let stacks = stacks.iter().map(stack_row).collect();
            let layouts = layouts.iter().map(layout_row).collect();
            (frames, stacks, layouts, samples.iter().map(sample_row).collect())
        },
    );
    let threads = replay.threads.iter().map(|thread| thread_row(thread, timeline, &mut strings));
    let threads = threads.collect();
    let summary = Summary { samples: n_samples, ..summary };
    Profile {
        recording: info,
        events,
        modules,
        inlines,
        locations,
        frames,
        stacks,
        layouts,
        threads,
        samples,
        strings,
        summary,
    }
}

/// Adds what a growing replay has found since the last call.
pub(crate) fn extend(
    profile: &mut Profile,
    partial: &Partial<'_>,
    library: &Library,
    resolved: &Resolved,
) {
    let timeline = partial.timeline;
    let new = partial.frames.get(profile.frames.len()..).unwrap_or_default();
    let rows = locations(resolved, &mut profile.strings, &mut profile.inlines);
    profile.locations.extend(rows);
    let frames = new.iter().zip(&resolved.of_frame);
    profile.frames.extend(frames.map(|(frame, &location)| frame_row(frame, location)));
    // A module's file may have been opened since.
    let modules = timeline.modules().iter();
    profile.modules =
        modules.map(|module| module_row(module, library, &mut profile.strings)).collect();
    let new = partial.stacks.get(profile.stacks.len()..).unwrap_or_default();
    profile.stacks.extend(new.iter().map(stack_row));
    profile.layouts = partial.layouts().map(layout_row).collect();
    let new = partial.threads.get(profile.threads.len()..).unwrap_or_default();
    let strings = &mut profile.strings;
    profile.threads.extend(new.iter().map(|thread| thread_row(thread, timeline, strings)));
    let new = partial.samples.get(profile.samples.len()..).unwrap_or_default();
    profile.samples.extend(new.iter().map(sample_row));
}

/// The counters of a replay.
pub(crate) fn summary(replay: &Replay) -> Summary {
    Summary {
        samples: replay.samples.len() as u64,
        samples_filtered: replay.filtered,
        samples_dropped: replay.undecoded,
        frames: replay.n_frames,
        ..Summary::default()
    }
}

pub(crate) fn event_row(event: &Event, strings: &mut Strings) -> EventRow {
    EventRow {
        name: strings.intern(event.name.as_bytes()),
        kind: event.attr.kind,
        config: event.attr.config,
        frequency: event.attr.flags.freq(),
        rate: event.attr.sample_period,
    }
}

/// The id that an index of the replay is, whose greatest number stands for none.
fn stack_id(index: u32) -> Option<StackId> {
    (index != u32::MAX).then(|| StackId::new(index))
}

pub(crate) fn stack_row(node: &StackNode) -> StackRow {
    StackRow { parent: stack_id(node.parent), frame: FrameId::new(node.frame) }
}

pub(crate) fn layout_row(layout: &Layout) -> LayoutRow {
    layout.biases.iter().map(|&(module, _, bias)| (module, Bias(bias))).collect()
}

pub(crate) fn frame_row(frame: &FrameKey, location: u32) -> FrameRow {
    FrameRow {
        location: LocationId::new(location),
        found_by: frame.found_by(),
        kernel: frame.kernel(),
        instance: frame.instance(),
    }
}

pub(crate) fn thread_row(thread: &Thread, timeline: &Timeline, strings: &mut Strings) -> ThreadRow {
    let comm = strings.intern(timeline.comm_name(thread.comm));
    ThreadRow { pid: thread.pid, tid: thread.tid, comm }
}

pub(crate) fn sample_row(outcome: &Outcome) -> SampleRow {
    SampleRow {
        time: (outcome.time.0 != 0).then_some(outcome.time),
        thread: ThreadId::new(outcome.thread),
        event: EventId::new(outcome.event),
        end: outcome.end,
        cpu: outcome.cpu,
        period: outcome.period,
        stack: stack_id(outcome.stack),
        layout: LayoutId::new(outcome.layout),
    }
}

pub(crate) fn recording_info(head: &Head, strings: &mut Strings) -> RecordingInfo {
    let features = head.features();
    let mut intern = |bytes: Option<&[u8]>| bytes.map(|bytes| strings.intern(bytes));
    RecordingInfo {
        hostname: intern(features.hostname),
        os_release: intern(features.os_release),
        arch: intern(features.arch),
        perf_version: intern(features.version),
        cpu_desc: intern(features.cpu_description),
        cpu_id: intern(features.cpu_id),
        total_memory_kib: features.total_memory_kib,
        cpus_available: features.cpu_count.map(|count| count.available),
        cpus_online: features.cpu_count.map(|count| count.online),
        command_line: features.command_line.iter().map(|word| strings.intern(word)).collect(),
    }
}

pub(crate) fn module_row(module: &Module, library: &Library, strings: &mut Strings) -> ModuleRow {
    use std::os::unix::ffi::OsStrExt as _;
    let file = library.outcome(module).and_then(Result::ok);
    let kind = match (module.kind, file) {
        (_, Some(_)) => ModuleKind::Elf,
        (MapKind::File | MapKind::Unopened | MapKind::Vdso, None) => ModuleKind::File,
        (MapKind::Anonymous, None) => ModuleKind::Anonymous,
        (MapKind::Kernel, None) => ModuleKind::Kernel,
    };
    let found: Option<BuildId> = file.and_then(|file| file.image().build_id());
    ModuleRow {
        path: strings.intern(&module.path),
        opened: file.map(|file| strings.intern(file.image().path().as_os_str().as_bytes())),
        build_id: module.identity.build_id.or(found),
        kind,
    }
}
