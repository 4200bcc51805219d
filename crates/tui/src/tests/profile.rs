//! Small profiles.

use address::{ModuleId, Pid, Tid};
use profile::{
    EndReason, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LocationRow, ModuleKind,
    ModuleRow, Profile, SampleRow, StackId, StackRow, ThreadRow,
};

/// A sample: thread id, number of samples, and the functions from the outermost on.
pub(super) type Stacks<'s> = &'s [(i32, usize, &'s [&'s str])];

/// Returns a profile of these stacks. Functions with `kernel` in their name are in the kernel; `leaf` is sampled in
/// line 3 of `src/main.rs`, 2 bytes after its start.
pub(super) fn profile(stacks: Stacks<'_>) -> Profile {
    let mut profile = Profile::default();
    let module = |profile: &mut Profile, path: &str, kind| {
        let path = profile.strings.intern(path.as_bytes());
        profile.modules.push(ModuleRow { path, opened: None, build_id: None, kind })
    };
    let program = module(&mut profile, "/opt/bin/sum", ModuleKind::Elf);
    let kernel = module(&mut profile, "[kernel.kallsyms]", ModuleKind::Kernel);
    let name = profile.strings.intern(b"cpu-clock:u");
    let row = EventRow { name, kind: 1, config: 0, frequency: true, rate: 997 };
    let event = profile.events.push(row);
    for &(tid, count, functions) in stacks {
        let comm = profile.strings.intern(if tid == 42 { b"sum" } else { b"worker" });
        let process = profile.strings.intern(b"sum");
        let row = ThreadRow { pid: Pid(42), tid: Tid(tid), comm, process, cgroup: None };
        let known = profile.threads.entries().find(|(_, it)| **it == row).map(|(id, _)| id);
        let thread = known.unwrap_or_else(|| profile.threads.push(row));
        let stack = stack(&mut profile, functions, program, kernel);
        let sample = SampleRow::new(thread, event, EndReason::Root, stack, LayoutId::new(0));
        profile.samples.extend(std::iter::repeat_n(sample.with_period(Some(1_000_000)), count));
    }
    profile.summary.samples = profile.samples.len() as u64;
    profile
}

fn stack(
    profile: &mut Profile,
    functions: &[&str],
    program: ModuleId,
    kernel: ModuleId,
) -> Option<StackId> {
    let mut parent = None;
    for text in functions {
        let name = profile.strings.intern(text.as_bytes());
        let same = |row: &InlineRow| row.function == Some(name);
        let known = profile.inlines.iter().position(same);
        let location = match known {
            Some(at) => profile.locations.ids().nth(at).expect("one for each"),
            None => {
                let is_leaf = *text == "leaf";
                let file = is_leaf.then(|| profile.strings.intern(b"src/main.rs"));
                let line = if is_leaf { 3 } else { 0 };
                let inline = InlineRow { file, line, ..InlineRow::with_name(name) };
                let first_inline = profile.inlines.push(inline);
                let module = if text.contains("kernel") { kernel } else { program };
                let address = 0x1000 * (1 + first_inline.index() as u64) + 2;
                profile.locations.push(LocationRow {
                    first_inline,
                    n_inlines: 1,
                    function_offset: Some(2),
                    ..LocationRow::unnamed(Some(module), address)
                })
            }
        };
        let row = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance: 0 };
        let frame = profile.frames.push(row);
        parent = Some(profile.stacks.push(StackRow { parent, frame }));
    }
    parent
}
