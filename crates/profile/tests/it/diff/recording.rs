//! Hand-written profiles: stacks of `function@module` words, with numbers of samples.

use address::{Bias, BuildId, ModuleId, Pid, Tid, Timestamp};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LocationRow, ModuleKind,
    ModuleRow, Profile, SampleRow, StackId, StackRow, ThreadId, ThreadRow,
};

/// A growing profile. By default, samples are a millisecond apart and have a period of a million nanoseconds.
pub(crate) struct Recording {
    pub(crate) profile: Profile,
    /// Time between samples, in nanoseconds.
    pub(crate) step: u64,
    /// Period of the samples.
    pub(crate) period: Option<u64>,
    thread: ThreadId,
    event: EventId,
    build_ids: Vec<(String, BuildId)>,
}

impl Recording {
    pub(crate) fn new() -> Self {
        let mut profile = Profile::default();
        profile.layouts.push([(ModuleId(0), Bias(0))].into_iter().collect());
        let mut recording = Self {
            profile,
            step: 1_000_000,
            period: Some(1_000_000),
            thread: ThreadId::new(0),
            event: EventId::new(0),
            build_ids: Vec::new(),
        };
        recording.event("cpu-clock", 1000);
        recording.thread(1, "program");
        recording
    }

    /// Selects the event of further samples.
    pub(crate) fn event(&mut self, name: &str, rate: u64) {
        let name = self.profile.strings.intern(name.as_bytes());
        let row = EventRow { name, kind: 1, config: 0, frequency: true, rate };
        let is_empty = self.profile.samples.is_empty() && self.profile.events.len() == 1;
        if is_empty {
            self.profile.events.as_mut_slice()[0] = row;
        } else {
            self.event = self.profile.events.push(row);
        }
    }

    /// Selects the thread of further samples.
    pub(crate) fn thread(&mut self, tid: i32, comm: &str) {
        let comm = self.profile.strings.intern(comm.as_bytes());
        let (pid, tid) = (Pid(1), Tid(tid));
        let row = ThreadRow { pid, tid, comm, process: comm, cgroup: None };
        self.thread = self.profile.threads.push(row);
    }

    /// Sets the build-id of modules with this name.
    pub(crate) fn build_id(&mut self, module: &str, id: &str) {
        self.build_ids.push((module.to_owned(), BuildId::from_hex(id).expect("digits")));
    }

    /// Adds `count` samples of a stack, outermost function first; in `a<b`, `a` is inlined into `b`.
    pub(crate) fn stack(&mut self, stack: &str, count: u64) {
        self.ended(stack, count, EndReason::Root);
    }

    /// Adds `count` samples of a stack with this end reason.
    pub(crate) fn ended(&mut self, stack: &str, count: u64, end: EndReason) {
        let mut node = None;
        for word in stack.split_whitespace() {
            let frame = self.frame(word);
            node = Some(self.profile.stacks.push(StackRow { parent: node, frame }));
        }
        for _ in 0..count {
            self.sample(node, end);
        }
    }

    /// Adds `count` samples of one function with any bytes as its name.
    pub(crate) fn one(&mut self, name: &str, module: &str, count: u64) {
        let frame = self.frame(&format!("one@{module}"));
        let function = Some(self.profile.strings.intern(name.as_bytes()));
        if let Some(row) = self.profile.inlines.as_mut_slice().last_mut() {
            row.function = function;
        }
        let node = self.profile.stacks.push(StackRow { parent: None, frame });
        (0..count).for_each(|_| self.sample(Some(node), EndReason::Root));
    }

    fn sample(&mut self, stack: Option<StackId>, end: EndReason) {
        let time = 5_000_000_000 + self.step * self.profile.samples.len() as u64;
        let time = (self.step > 0).then_some(Timestamp(time));
        let row = SampleRow::new(self.thread, self.event, end, stack, LayoutId::new(0));
        self.profile.samples.push(row.with_time(time).with_period(self.period));
    }

    /// Parses `function@module`. `?0x40` is nameless code in a function that starts at 0x40; `?` has no known start.
    fn frame(&mut self, word: &str) -> profile::FrameId {
        let (names, module) = word.split_once('@').unwrap_or((word, ""));
        let module = self.module(module);
        let mut place = LocationRow::unnamed(module, 0x1000 + self.profile.locations.len() as u64);
        if let Some(start) = names.strip_prefix('?') {
            if let Some(start) = start.strip_prefix("0x") {
                let start = u64::from_str_radix(start, 16).expect("hexadecimal digits");
                place.relative = start + 4;
                place.function_offset = Some(4);
            }
        } else {
            place.first_inline = self.profile.inlines.next_id();
            let names: Vec<&str> = names.split('<').collect();
            place.n_inlines = names.len() as u32;
            for (index, name) in names.iter().enumerate() {
                // `name:` has a line.
                let (name, line) = name.strip_suffix(':').map_or((*name, 0), |name| (name, 7));
                let function = Some(self.profile.strings.intern(name.as_bytes()));
                let inlined = index + 1 < names.len();
                let row = InlineRow { function, line, inlined, ..InlineRow::NAMELESS };
                self.profile.inlines.push(row);
            }
        }
        let location = self.profile.locations.push(place);
        let found_by = FoundBy::Cfi;
        self.profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 })
    }

    /// Adds a mapped module, which may have no samples.
    pub(crate) fn module(&mut self, name: &str) -> Option<ModuleId> {
        if name.is_empty() {
            return None;
        }
        let path = self.profile.strings.intern(name.as_bytes());
        let known = self.profile.modules.iter().position(|module| module.path == path);
        if let Some(index) = known {
            return Some(ModuleId(index as u32));
        }
        let build_id = self.build_ids.iter().find(|(known, _)| known == name).map(|&(_, id)| id);
        let kind = match name {
            "//anon" => ModuleKind::Anonymous,
            "[kernel.kallsyms]" | "[ext4]" => ModuleKind::Kernel,
            _ => ModuleKind::Elf,
        };
        Some(self.profile.modules.push(ModuleRow { path, opened: None, build_id, kind }))
    }
}

/// Returns a recording of these stacks.
pub(crate) fn recording(stacks: &[(&str, u64)]) -> Profile {
    let mut recording = Recording::new();
    for &(stack, count) in stacks {
        recording.stack(stack, count);
    }
    recording.profile
}
