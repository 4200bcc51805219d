//! Tables of a profile that do not come from the replay: recording, events, modules, threads.

use std::os::unix::ffi::OsStrExt as _;

use image_store::ImageStore;
use module_map::{MappedKind, Module, Timeline};
use perf_data::{Event, Head};
use profile::query::without_arguments;
use profile::{
    EventRow, ModuleKind, ModuleRow, Profile, RecordingInfo, Strings, ThreadRow, WallClock,
    folded_thread_name,
};
use replay::Thread;

use super::values::{Weighing, weights};

/// Selection of a header's facts.
#[derive(Default)]
pub(crate) struct HeadSelection<'o> {
    /// The field or the spans that are the weight of samples.
    pub(crate) weighing: Option<Weighing<'o>>,
    /// True if the arguments of the recorded program are included.
    pub(crate) with_arguments: bool,
}

/// Stores the facts of the header: the recording, and events that are new since the last call. Events whose samples are
/// weighed by a field are called `EVENT/FIELD`, and those weighed by spans have their name.
pub(crate) fn add_head(profile: &mut Profile, head: &Head, selection: &HeadSelection<'_>) {
    let HeadSelection { weighing, with_arguments } = *selection;
    let Profile { recording, events, strings, .. } = profile;
    *recording = recording_info(head, with_arguments, strings);
    let known = events.len();
    let is_new = head.events().len() > known;
    let weights = weighing.filter(|_| is_new).map(|weighing| weights(weighing, head));
    let weights = weights.unwrap_or_default();
    for (event, index) in head.events().iter().zip(0_u16..).skip(known) {
        let mut row = event_row(event, strings);
        if let Some((_, name)) = weights.iter().find(|(weighed, _)| *weighed == index) {
            row.name = strings.intern(name);
        }
        events.push(row);
    }
}

/// If the recorder did not state the time of day, assumes that the last sample is as old as the file.
pub(crate) fn guess_wall_clock(profile: &mut Profile, recorded_until: Option<i128>) {
    let last = profile.samples.iter().filter_map(|sample| sample.time()).max();
    if let (None, Some(until), Some(last)) = (profile.recording.wall_clock, recorded_until, last) {
        profile.recording.wall_clock = WallClock::new(last, until, true);
    }
}

/// Stores the modules again, since the file of one may have been opened since the last time.
pub(crate) fn add_modules(profile: &mut Profile, timeline: &Timeline, images: &ImageStore) {
    let modules = timeline.modules().iter();
    let strings = &mut profile.strings;
    profile.modules = modules.map(|module| module_row(module, images, strings)).collect();
}

/// Adds the new threads. With `fold`, the threads of a pool share one name.
pub(crate) fn add_threads(
    profile: &mut Profile,
    threads: &[Thread],
    timeline: &Timeline,
    fold: bool,
) {
    let Profile { threads: rows, strings, .. } = profile;
    let new = threads.get(rows.len()..).unwrap_or_default();
    rows.extend(new.iter().map(|thread| thread_row(thread, timeline, strings, fold)));
}

fn event_row(event: &Event, strings: &mut Strings) -> EventRow {
    EventRow {
        name: strings.intern(event.name.as_bytes()),
        kind: event.attr.kind,
        config: event.attr.config,
        frequency: event.attr.flags.freq(),
        rate: event.attr.sample_period,
    }
}

fn thread_row(
    thread: &Thread,
    timeline: &Timeline,
    strings: &mut Strings,
    fold: bool,
) -> ThreadRow {
    let comm = timeline.comm_name(thread.comm);
    let comm = if fold { folded_thread_name(comm) } else { comm.into() };
    let comm = strings.intern(&comm);
    let process = strings.intern(timeline.comm_name(thread.process));
    let cgroup = thread.cgroup.map(|cgroup| strings.intern(&timeline.cgroup_path(cgroup)));
    ThreadRow { pid: thread.pid, tid: thread.tid, comm, process, cgroup }
}

fn recording_info(head: &Head, with_arguments: bool, strings: &mut Strings) -> RecordingInfo {
    let features = head.features();
    let words = if with_arguments {
        features.command_line.clone()
    } else {
        without_arguments(&features.command_line)
    };
    let stack_bytes = head.events().iter().map(|event| event.attr.sample_stack_user).max();
    let mut intern = |bytes: Option<&[u8]>| bytes.map(|bytes| strings.intern(bytes));
    RecordingInfo {
        name: None,
        service: None,
        hostname: intern(features.hostname),
        os_release: intern(features.os_release),
        arch: intern(features.arch),
        perf_version: intern(features.version),
        cpu_desc: intern(features.cpu_description),
        cpu_id: intern(features.cpu_id),
        total_memory_kib: features.total_memory_kib,
        cpus_available: features.cpu_count.map(|count| count.available),
        cpus_online: features.cpu_count.map(|count| count.online),
        stack_bytes: stack_bytes.filter(|&bytes| bytes > 0),
        command_line: words.iter().map(|word| strings.intern(word)).collect(),
        wall_clock: features
            .clock_data
            .and_then(|clock| WallClock::new(clock.time, clock.wall_ns.into(), false)),
    }
}

fn module_row(module: &Module, images: &ImageStore, strings: &mut Strings) -> ModuleRow {
    let file = images.outcome(module).and_then(Result::ok);
    let kind = match (module.kind, file) {
        (_, Some(_)) => ModuleKind::Elf,
        (MappedKind::File | MappedKind::Unopened | MappedKind::Vdso, None) => ModuleKind::File,
        (MappedKind::Anonymous | MappedKind::KernelPage | MappedKind::GuestUser, None) => {
            ModuleKind::Anonymous
        }
        (MappedKind::Kernel | MappedKind::GuestKernel | MappedKind::Hypervisor, None) => {
            ModuleKind::Kernel
        }
    };
    ModuleRow {
        path: strings.intern(&module.path),
        opened: file.map(|file| strings.intern(file.image().path().as_os_str().as_bytes())),
        build_id: images.proven_build_id(module),
        kind,
    }
}
