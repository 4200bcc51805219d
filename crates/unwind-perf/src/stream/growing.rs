//! The profile while it grows: after a step of the replay it has what is new, looked up and put behind what it had.

use std::sync::Arc;

use address::Pid;
use formats::{Details, ErrorKind, ErrorRow, GroupRow, MemoryNodeRow, TracepointRow};
use hashbrown::HashSet;
use module_map::ModuleKind;
use perf_data::{Head, TracingData, Window};
use profile::{LocationId, Profile, Strings, Summary};
use symbolizer::SymbolTimings;
use unwinder::{Partial, Replay};

use crate::assemble::{
    event_row, frame_row, layout_row, module_row, recording_info, sample_row, stack_row, thread_row,
};
use crate::locations::locations;
use crate::stream::records::Records;
use crate::symbols::{Kernel, Places, Resolved, Sources, resolve};

/// How many times as many samples as were written have to be there before the next are looked up: each time the files
/// are read again.
const GROWTH: usize = 3;

/// A profile that grows.
pub(super) struct Growing {
    pub(super) profile: Profile,
    /// What only this stream has.
    pub(super) details: Details,
    /// What is known of the kernel's names.
    pub(super) kernel: Kernel,
    /// Where the time for names went.
    pub(super) symbol_timings: SymbolTimings,
    head: Arc<Head>,
    places: Places,
    records: Records,
    /// Modules whose file is missing, told already.
    missing: HashSet<u32>,
    told_kernel: bool,
}

impl Growing {
    pub(super) fn new(head: &Arc<Head>) -> Self {
        let mut strings = Strings::default();
        let recording = recording_info(head, &mut strings);
        let details = details(head, &mut strings);
        let profile = Profile { recording, strings, ..Profile::default() };
        let mut growing = Self {
            profile,
            details,
            kernel: Kernel::default(),
            symbol_timings: SymbolTimings::default(),
            head: Arc::clone(head),
            places: Places::default(),
            records: Records::default(),
            missing: HashSet::new(),
            told_kernel: false,
        };
        growing.learn(head);
        growing
    }

    pub(super) fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// Events and tracepoints that were not known by then.
    fn learn(&mut self, head: &Arc<Head>) {
        self.head = Arc::clone(head);
        let (Profile { events, strings, .. }, details) = (&mut self.profile, &mut self.details);
        let new = head.events().iter().skip(events.len());
        events.extend(new.map(|event| event_row(event, strings)));
        let features = head.features();
        let Some(data) = features.tracing_data.and_then(TracingData::parse) else { return };
        let recorded = head.events().iter().filter(|event| is_tracepoint(event));
        let mut wanted: HashSet<u64> = recorded.map(|event| event.attr.config).collect();
        details.tracepoints.iter().for_each(|row| {
            wanted.remove(&row.id);
        });
        let new = data.formats().filter(|(id, _)| wanted.contains(id));
        let rows: Vec<TracepointRow> = new
            .map(|(id, format)| TracepointRow {
                id,
                system: strings.intern(format.system),
                name: strings.intern(format.name),
            })
            .collect();
        details.tracepoints.extend(rows);
    }

    /// What a window says of threads, and what its samples have beside stacks.
    pub(super) fn window(&mut self, window: &Window) {
        if !Arc::ptr_eq(&self.head, window.head()) {
            self.learn(window.head());
        }
        self.records.read(window, &mut self.profile.strings, &mut self.details);
    }

    /// Whether so many samples are worth a look-up.
    pub(super) fn wants(&self, done: usize) -> bool {
        let written = self.profile.samples.len();
        done > 0 && done >= written * GROWTH && done > written
    }

    /// Takes in what is new.
    pub(super) fn take(&mut self, partial: &Partial<'_>, sources: Sources<'_>) {
        let profile = &mut self.profile;
        let timeline = partial.timeline;
        let new = partial.frames.get(profile.frames.len()..).unwrap_or_default();
        let resolved = if sources.args.no_symbols {
            Resolved::nothing(new, &mut self.places, timeline)
        } else {
            let (resolved, kernel) = resolve(new, &mut self.places, sources, None);
            self.kernel.shared_ids = kernel.shared_ids;
            self.kernel.lost.merge(kernel.lost);
            self.kernel.refused = self.kernel.refused.take().or(kernel.refused);
            resolved
        };
        self.symbol_timings.loading += resolved.timings.loading;
        self.symbol_timings.looking_up += resolved.timings.looking_up;
        self.symbol_timings.naming += resolved.timings.naming;
        let first = profile.locations.next_id();
        let rows = locations(&resolved, &mut profile.strings, &mut profile.inlines);
        profile.locations.extend(rows);
        let frames = new.iter().zip(&resolved.of_frame);
        profile.frames.extend(frames.map(|(frame, &location)| frame_row(frame, location)));
        // A module's file may have been opened since.
        let modules = timeline.modules().iter();
        profile.modules = modules.map(|module| module_row(module, &mut profile.strings)).collect();
        let new = partial.stacks.get(profile.stacks.len()..).unwrap_or_default();
        profile.stacks.extend(new.iter().map(stack_row));
        profile.layouts = partial.layouts().map(layout_row).collect();
        let new = partial.threads.get(profile.threads.len()..).unwrap_or_default();
        let strings = &mut profile.strings;
        profile.threads.extend(new.iter().map(|thread| thread_row(thread, timeline, strings)));
        let new = partial.samples.get(profile.samples.len()..).unwrap_or_default();
        profile.samples.extend(new.iter().map(sample_row));
        self.errors(partial, first);
    }

    /// Forgets what was written and is not needed again: so many events of threads, and rows of single samples.
    pub(super) fn forget(&mut self, (tasks, extras): (usize, usize)) {
        let details = &mut self.details;
        details.tasks.drain(..tasks.min(details.tasks.len()));
        details.extras.drain(..extras.min(details.extras.len()));
    }

    /// Tells the user of files that are missing for locations from `first` on.
    fn errors(&mut self, partial: &Partial<'_>, first: LocationId) {
        let (locations, details) = (&self.profile.locations, &mut self.details);
        let mut nameless = false;
        for location in locations.as_slice().get(first.index()..).unwrap_or_default() {
            let Some(id) = location.module else { continue };
            let Some(module) = partial.timeline.modules().get(id.index()) else { continue };
            nameless |= module.kind == ModuleKind::Kernel && location.n_inlines == 0;
            let wants_file = matches!(module.kind, ModuleKind::File | ModuleKind::Vdso);
            let refusal = module.outcome().and_then(Result::err).filter(|_| wants_file);
            if let Some(refusal) = refusal
                && self.missing.insert(id.0)
            {
                let path = String::from_utf8_lossy(&module.path);
                let message = format!("{path}: {refusal}; stacks end there, names are missing");
                details.errors.push(ErrorRow { kind: ErrorKind::MissingFile, message });
            }
        }
        if let Some(reason) = self.kernel.refused.as_ref().filter(|_| nameless && !self.told_kernel)
        {
            let message = format!("no kernel names: {reason}");
            details.errors.push(ErrorRow { kind: ErrorKind::KernelSymbols, message });
            self.told_kernel = true;
        }
    }

    /// The whole profile, with what is known at the end only.
    pub(super) fn finish(&mut self, head: &Arc<Head>, replay: &Replay) -> Profile {
        self.learn(head);
        let empty = Self::new(head).profile;
        let mut profile = std::mem::replace(&mut self.profile, empty);
        profile.summary = Summary {
            samples: replay.samples.len() as u64,
            samples_filtered: replay.filtered,
            samples_dropped: replay.undecoded,
            frames: replay.n_frames,
            dump_used_up: replay.dump_used_up,
            ..Summary::default()
        };
        profile
    }
}

/// Whether an event is a tracepoint; its `config` is the number.
pub(super) const fn is_tracepoint(event: &perf_data::Event) -> bool {
    /// Source: `include/uapi/linux/perf_event.h`, `PERF_TYPE_TRACEPOINT`.
    const TRACEPOINT: u32 = 2;
    event.attr.kind == TRACEPOINT
}

/// What the header tells of the machine.
fn details(head: &Head, strings: &mut Strings) -> Details {
    let features = head.features();
    let mut details = Details::default();
    for entry in &features.build_ids {
        if let Some(id) = entry.build_id {
            let pid = if entry.pid.0 == 0 { Pid(-1) } else { entry.pid };
            details.build_ids.push((pid, id, strings.intern(entry.name)));
        }
    }
    if let Some(topology) = &features.cpu_topology {
        details.core_sets = topology.cores.iter().map(|set| strings.intern(set)).collect();
        details.thread_sets = topology.threads.iter().map(|set| strings.intern(set)).collect();
    }
    let nodes = features.numa_nodes.iter().map(|node| MemoryNodeRow {
        node: node.node,
        total_kib: node.total_kib,
        free_kib: node.free_kib,
        cpus: strings.intern(node.cpus),
    });
    details.memory_nodes = nodes.collect();
    let units = features.pmu_mappings.iter().map(|pmu| (pmu.kind, strings.intern(pmu.name)));
    details.units = units.collect();
    let groups = features.groups.iter().map(|group| GroupRow {
        name: strings.intern(group.name),
        leader: group.leader,
        members: group.members,
    });
    details.groups = groups.collect();
    details
}
