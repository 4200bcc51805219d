//! Tests of the kinds of waits and of folded stacks.

use address::ModuleId;

use super::FoldedFrames;
use crate::id::{EventId, LayoutId, StackId, ThreadId};
use crate::profile::Profile;
use crate::reason::{EndReason, FoundBy, WaitKind};
use crate::tables::{FrameRow, InlineRow, LocationRow, ModuleKind, ModuleRow, SampleRow, StackRow};

const KERNEL: &str = "[kernel.kallsyms]";
const LIBRARY: &str = "/lib/libc.so.6";
const PROGRAM: &str = "/bin/program";

/// Adds a sample of the off-CPU event; its frames are innermost first, `""` for a function without a name.
fn add(profile: &mut Profile, kind: WaitKind, frames: &[(&str, &str)]) {
    let mut parent: Option<StackId> = None;
    for &(path, function) in frames.iter().rev() {
        let path_id = profile.strings.intern(path.as_bytes());
        let module = profile.modules.iter().position(|row| row.path == path_id);
        let module = module.map_or_else(
            || {
                let kind = ModuleKind::Elf;
                profile.modules.push(ModuleRow {
                    path: path_id,
                    opened: None,
                    build_id: None,
                    kind,
                })
            },
            |at| ModuleId(at as u32),
        );
        let first_inline = profile.inlines.next_id();
        if !function.is_empty() {
            let name = profile.strings.intern(function.as_bytes());
            profile.inlines.push(InlineRow::with_name(name));
        }
        let n_inlines = u16::from(!function.is_empty());
        let unnamed = LocationRow::unnamed(Some(module), 0);
        let location = LocationRow { first_inline, n_inlines: n_inlines.into(), ..unnamed };
        let location = profile.locations.push(location);
        let kernel = path == KERNEL;
        let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel, instance: 0 };
        let frame = profile.frames.push(frame);
        parent = Some(profile.stacks.push(StackRow { parent, frame }));
    }
    let (thread, event, layout) = (ThreadId::new(0), EventId::new(0), LayoutId::new(0));
    let row = SampleRow::new(thread, event, EndReason::Root, parent, layout);
    profile.samples.push(row.with_wait(kind, false));
    profile.off_cpu = Some(event);
}

fn found(frames: &[(&str, &str)]) -> (Option<WaitKind>, bool) {
    let mut profile = Profile::default();
    add(&mut profile, WaitKind::Unknown, frames);
    profile.find_waits();
    let row = profile.samples.iter().next().expect("a sample");
    (row.wait(), row.wait_is_of_library())
}

#[test]
fn the_innermost_known_function_of_the_kernel_decides() {
    let of = |kernel: &[&str]| {
        let frames = kernel.iter().map(|&name| (KERNEL, name));
        let frames: Vec<_> = frames.chain([(LIBRARY, "read"), (PROGRAM, "main")]).collect();
        found(&frames)
    };
    for (kind, kernel) in [
        (WaitKind::Pipe, &["__schedule", "schedule", "pipe_read", "vfs_read", "ksys_read"][..]),
        (WaitKind::Socket, &["__schedule", "unix_stream_data_wait", "sock_read_iter", "vfs_read"]),
        (WaitKind::ReadWrite, &["__schedule", "io_schedule", "folio_wait_bit", "vfs_read"]),
        (WaitKind::PageFault, &["__schedule", "io_schedule", "filemap_fault", "exc_page_fault"]),
        // A fault within a system call.
        (WaitKind::PageFault, &["__schedule", "io_schedule", "exc_page_fault", "tcp_sendmsg"]),
        (WaitKind::ReadWrite, &["__schedule", "eventfd_read", "vfs_read"]),
        (WaitKind::Other, &["__schedule", "do_signal_stop"]),
    ] {
        assert_eq!(of(kernel), (Some(kind), false), "{kernel:?}");
    }
}

#[test]
fn without_names_of_the_kernel_the_library_decides() {
    let hidden = (KERNEL, "");
    let of = |frames: &[(&'static str, &'static str)]| {
        found(&[&[hidden], frames, &[(PROGRAM, "main")]].concat())
    };
    let (futex, sleep) = ((Some(WaitKind::Futex), true), (Some(WaitKind::Sleep), true));
    assert_eq!(of(&[(LIBRARY, ""), (LIBRARY, "pthread_mutex_lock")]), futex);
    assert_eq!(of(&[(PROGRAM, "__GI___clock_nanosleep")]), sleep, "a static program");
    let unknown = (Some(WaitKind::Unknown), false);
    assert_eq!(of(&[(LIBRARY, "memcpy"), (PROGRAM, "work"), (LIBRARY, "usleep")]), unknown);
    assert_eq!(of(&[(PROGRAM, "work"), (PROGRAM, "read")]), unknown, "not of the library");
    assert_eq!(found(&[]), unknown);
}

/// Names of the innermost functions.
fn innermost(profile: &Profile) -> Vec<&str> {
    let name = |row: &SampleRow| {
        let frame = profile.frames.get(profile.stacks.get(row.stack?)?.frame)?;
        let location = profile.locations.get(frame.location)?;
        let function = profile.inlines.get(location.first_inline)?.function?;
        std::str::from_utf8(profile.strings.get(function)).ok()
    };
    profile.samples.iter().map(|row| name(row).expect("a name")).collect()
}

#[test]
fn folded_stacks_end_with_the_program() {
    let mut profile = Profile::default();
    let kernel = (KERNEL, "__schedule");
    for (kind, frames) in [
        (WaitKind::Sleep, &[kernel, (LIBRARY, "usleep"), (PROGRAM, "nap")][..]),
        (WaitKind::Preempted, &[kernel, (LIBRARY, "memcpy"), (PROGRAM, "copy")]),
        (WaitKind::Other, &[kernel, (KERNEL, "kthread")]),
        (WaitKind::Futex, &[kernel, (LIBRARY, "start_thread")]),
        (WaitKind::Unknown, &[(PROGRAM, "main")]),
    ] {
        add(&mut profile, kind, frames);
    }
    let whole = ["__schedule", "__schedule", "__schedule", "__schedule", "main"];
    assert_eq!(innermost(&profile), whole);
    let removed = profile.fold_waits(FoldedFrames::Kernel);
    assert_eq!(innermost(&profile), ["usleep", "memcpy", "__schedule", "start_thread", "main"]);
    profile.unfold_waits(removed);
    assert_eq!(innermost(&profile), whole);
    profile.fold_waits(FoldedFrames::KernelAndLibrary);
    assert_eq!(innermost(&profile), ["nap", "memcpy", "__schedule", "start_thread", "main"]);
}
