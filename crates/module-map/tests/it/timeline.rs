//! Processes over time: maps, forks, execs, exits, and reused ids.

use address::{Avma, BuildId, FileOffset, Pid, Tid, Timestamp};
use budget::Exhausted;
use module_map::{JitDump, JitLoad, JitReader, MapEvent, MappedKind, Timeline};

use crate::support::{code, code_of, path_at, shape};

#[test]
fn maps_of_no_length_are_counted_and_wrapping_ones_are_cut() {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x1000, 0, 0, "/a"));
    timeline.map(&code(1, u64::MAX - 0xfff, u64::MAX, 0, "/b"));
    assert_eq!(timeline.unmappable(), 1);
    assert_eq!(shape(&mut timeline, 1), ["fffffffffffff000-ffffffffffffffff /b+0"]);
}

#[test]
fn the_first_map_too_long_is_corrected_by_the_next() {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x10000, 0x6000, 0, "/lib/x.so"));
    timeline.map(&code(1, 0x12000, 0x2000, 0x2000, "/lib/x.so"));
    timeline.map(&code(1, 0x14000, 0x1000, 0x3000, "/lib/x.so"));
    assert_eq!(
        shape(&mut timeline, 1),
        [
            "10000-12000 /lib/x.so+0",
            "12000-14000 /lib/x.so+2000",
            "14000-15000 /lib/x.so+3000",
            "15000-16000 /lib/x.so+5000"
        ]
    );
}

#[test]
fn a_file_mapped_twice_and_by_its_middle() {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x10000, 0x2000, 0x1000, "/lib/x.so"));
    timeline.map(&code(1, 0x50000, 0x1000, 0x2000, "/lib/x.so"));
    let space = timeline.space(Pid(1)).0;
    let offset = |at| {
        space.lookup(Avma(at)).map(|mapping| (mapping.module.0, mapping.offset_of(Avma(at)).0))
    };
    assert_eq!(offset(0x11010), Some((0, 0x2010)));
    assert_eq!(offset(0x50010), Some((0, 0x2010)));
}

#[test]
fn another_library_at_the_same_address() {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x10000, 0x2000, 0, "/lib/first.so"));
    let before = timeline.space(Pid(1)).0;
    timeline.map(&code(1, 0x10000, 0x2000, 0, "/lib/second.so"));
    let path = |space: &module_map::Space| path_at(space, 0x10010);
    assert_eq!(path(&before), Some(b"/lib/first.so".to_vec()));
    assert_eq!(path(&timeline.space(Pid(1)).0), Some(b"/lib/second.so".to_vec()));
}

#[test]
fn one_path_with_two_build_ids_is_two_modules() {
    let mut timeline = Timeline::new();
    timeline.map(&code_of(code(1, 0x10000, 0x1000, 0, "/bin/app"), "aa11"));
    timeline.map(&code_of(code(2, 0x10000, 0x1000, 0, "/bin/app"), "bb22"));
    timeline.map(&code_of(code(3, 0x10000, 0x1000, 0, "/bin/app"), "aa11"));
    let ids: Vec<_> =
        timeline.modules().iter().map(|m| m.identity.build_id.map(|id| id.to_string())).collect();
    assert_eq!(ids, [Some("aa11".to_owned()), Some("bb22".to_owned())]);
}

#[test]
fn a_fork_inherits_and_goes_its_own_way() {
    let mut timeline = Timeline::new();
    for index in 0..2000 {
        timeline.map(&code(1, 0x10000 + index * 0x1000, 0x1000, index, "/lib/x.so"));
    }
    let (parent, _) = timeline.space(Pid(1));
    for child in 2..1002 {
        timeline.fork(Pid(child), Tid(child), Pid(1), Tid(1));
        timeline.map(&code(child, 0x10000, 0x1000, 0, "/lib/own.so"));
    }
    let (child, _) = timeline.space(Pid(700));
    let path = |space: &module_map::Space| path_at(space, 0x10000);
    assert_eq!(path(&child), Some(b"/lib/own.so".to_vec()));
    assert_eq!(path(&parent), Some(b"/lib/x.so".to_vec()));
    assert_eq!(child.mappings().count(), 2000);
    // Only the changed chunk is not the parent's.
    let chunks = parent.shared_chunks(&parent);
    assert!(chunks > 60, "{chunks}");
    assert_eq!(child.shared_chunks(&parent), chunks - 1);
}

/// Synthesized records of running processes: a shell had forked this one, which then became another program.
/// Its own maps are listed; it has none of the shell's.
#[test]
fn a_process_that_was_already_running_has_its_own_maps_only() {
    let mut timeline = Timeline::new();
    timeline.comm(Pid(1), Tid(1), b"shell", false);
    timeline.map(&code(1, 0x10000, 0x1000, 0, "/bin/sh"));
    timeline.already_running(Pid(2), Tid(2), Pid(1), Tid(1));
    let inherited = timeline.comm_of(Pid(2), Tid(2));
    assert_eq!(timeline.comm_name(inherited), b"shell");
    assert_eq!(shape(&mut timeline, 2), [""; 0]);
    timeline.map(&code(2, 0x20000, 0x1000, 0, "/bin/app"));
    timeline.already_running(Pid(2), Tid(3), Pid(2), Tid(2));
    assert_eq!(shape(&mut timeline, 2), ["20000-21000 /bin/app+0"]);
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /bin/sh+0"]);
    // The process has two threads: it ends with the second.
    timeline.exit(Pid(2), Tid(2));
    timeline.map(&code(2, 0x30000, 0x1000, 0, "/lib/late.so"));
    assert_eq!(shape(&mut timeline, 2).len(), 2);
}

#[test]
fn an_exec_forgets_and_names_go_with_threads() {
    let mut timeline = Timeline::new();
    timeline.comm(Pid(1), Tid(1), b"shell", false);
    timeline.map(&code(1, 0x10000, 0x1000, 0, "/bin/sh"));
    timeline.fork(Pid(2), Tid(2), Pid(1), Tid(1));
    let inherited = timeline.comm_of(Pid(2), Tid(2));
    assert_eq!(timeline.comm_name(inherited), b"shell");
    let (_, before) = timeline.space(Pid(2));
    timeline.comm(Pid(2), Tid(2), b"ls", true);
    let (space, after) = timeline.space(Pid(2));
    assert!(space.is_empty() && before != after);
    assert_eq!(shape(&mut timeline, 1).len(), 1);
    timeline.fork(Pid(2), Tid(3), Pid(2), Tid(2));
    timeline.comm(Pid(2), Tid(3), b"worker", false);
    let names = [Tid(2), Tid(3), Tid(9)].map(|tid| timeline.comm_of(Pid(2), tid));
    assert_eq!(
        names.map(|name| timeline.comm_name(name).to_vec()),
        [b"ls".to_vec(), b"worker".to_vec(), b"ls".to_vec()]
    );
}

#[test]
fn an_exited_process_answers_late_samples_until_its_id_is_used_again() {
    let mut timeline = Timeline::new();
    timeline.map(&code(7, 0x10000, 0x1000, 0, "/bin/old"));
    timeline.fork(Pid(7), Tid(8), Pid(7), Tid(7));
    timeline.exit(Pid(7), Tid(7));
    timeline.map(&code(7, 0x20000, 0x1000, 0, "/bin/still-alive"));
    timeline.exit(Pid(7), Tid(8));
    assert_eq!(shape(&mut timeline, 7).len(), 2);
    timeline.fork(Pid(7), Tid(7), Pid(1), Tid(1));
    assert!(shape(&mut timeline, 7).is_empty());
}

#[test]
fn huge_pages_over_text_are_still_the_text() {
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x40_0000, 0x60_0000, 0x1000, "/bin/app"));
    let anon =
        |start, len, executable| MapEvent { executable, ..code(1, start, len, start, "//anon") };
    timeline.map(&anon(0x40_0000, 0x40_0000, false));
    timeline.map(&anon(0x40_0000, 0x40_0000, true));
    assert_eq!(
        shape(&mut timeline, 1),
        ["400000-800000 /bin/app+1000", "800000-a00000 /bin/app+401000"]
    );
    assert_eq!(timeline.inferences().len(), 1);
    // Memory elsewhere, and memory that only overlaps, is not inferred to be text.
    timeline.map(&anon(0x90_0000, 0x1000, true));
    timeline.map(&anon(0x100_0000, 0x1000, true));
    assert_eq!(timeline.inferences().len(), 1);
    let space = timeline.space(Pid(1)).0;
    let module = space.lookup(Avma(0x90_0000)).and_then(|mapping| space.module(&mapping));
    assert_eq!(module.map(|module| module.kind), Some(MappedKind::Anonymous));
}

#[derive(Debug)]
struct Dump;

impl JitReader for Dump {
    fn read(&self, path: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted> {
        assert_eq!((path, pid), (&b"/tmp/jit-1.dump"[..], Pid(1)));
        let load = |time, start, offset| JitLoad {
            time: Timestamp(time),
            start: Avma(start),
            len: 0x100,
            offset: FileOffset(offset),
        };
        let loads =
            vec![load(20, 0x9000, 0x1000), load(30, 0x9000, 0x2000), load(40, 0x9800, 0x1000)];
        Ok(Some(JitDump { begun: Timestamp(20), loads }))
    }
}

#[test]
fn jit_code_is_there_when_it_was_loaded() {
    let mut timeline = Timeline::new();
    timeline.read_jit_with(Box::new(Dump));
    timeline.advance(Timestamp(10));
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/tmp/jit-1.dump"));
    let mut at = |now| {
        timeline.advance(Timestamp(now));
        // A change of protection in between does not remove the code.
        timeline.map(&code(1, 0x9000, 0x1000, 0x9000, "//anon"));
        let mut shape = shape(&mut timeline, 1);
        shape.remove(0);
        shape
    };
    assert_eq!(at(19), ["9000-a000 //anon+9000"]);
    assert_eq!(at(25), ["9000-9100 /tmp/jit-1.dump+1000", "9100-a000 //anon+9100"]);
    assert_eq!(at(30)[0], "9000-9100 /tmp/jit-1.dump+2000");
    assert_eq!(at(50)[2], "9800-9900 /tmp/jit-1.dump+1000");
}

#[test]
fn kernel_maps_and_code_that_comes_and_goes() {
    let mut timeline = Timeline::new();
    let kernel =
        |start, len, offset, path| MapEvent { kernel: true, ..code(-1, start, len, offset, path) };
    let text = 0xffff_ffff_8100_0000;
    timeline.map(&kernel(text, 0x1000, text, "[kernel.kallsyms]_text"));
    timeline.map(&kernel(0xffff_ffff_c000_0000, 0x1000, 0, "bpf_prog_1"));
    assert_eq!(timeline.kernel_reference(), Some((&b"_text"[..], Avma(text))));
    let before = timeline.kernel();
    timeline.unmap_kernel(Avma(0xffff_ffff_c000_0000), 0x1000);
    assert!(before.lookup(Avma(0xffff_ffff_c000_0010)).is_some());
    assert!(timeline.kernel().lookup(Avma(0xffff_ffff_c000_0010)).is_none());
    let names: Vec<_> = timeline.modules().iter().map(|m| m.path.to_vec()).collect();
    assert_eq!(names, [b"[kernel.kallsyms]".to_vec(), b"bpf_prog_1".to_vec()]);
    timeline.list_build_id(b"[kernel.kallsyms]", BuildId::from_hex("ab").expect("an id"));
}
