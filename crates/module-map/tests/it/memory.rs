//! What is held is counted, and given back when nobody uses it any more: spaces in all their versions, modules, names,
//! code that is to come, and what is read of files. Where it is too much, the count names what was read.

use std::path::Path;
use std::sync::Arc;

use address::{Arch, BuildId, Pid, Tid};
use budget::{Memory, MemoryUse};
use module_map::{DumpReader, FileFindingKind, FileOptions, ImageStore, JitReader as _, Timeline};
use synth::{Section, elf_const};

use crate::support::{code, machine};

fn limited(bytes: u64) -> Arc<Memory> {
    Arc::new(Memory::new(Some(bytes)))
}

/// What was read when too much was asked for.
fn reading(memory: &Memory) -> Option<&str> {
    memory.exceeded().map(|exceeded| exceeded.reading.as_str())
}

#[test]
fn versions_of_spaces_are_held_while_somebody_has_them() {
    let memory = Arc::new(Memory::default());
    let mut timeline = Timeline::within(&memory);
    let map = |timeline: &mut Timeline, pid, at: u64| {
        timeline.map(&code(pid, at * 0x2000, 0x1000, 0, "/x"));
    };
    (1..=10_000).for_each(|at| map(&mut timeline, 1, at));
    let (first, _) = timeline.space(Pid(1));
    let before = memory.held();
    let versions: Vec<_> = (0..100)
        .map(|_| {
            map(&mut timeline, 1, 5);
            timeline.space(Pid(1)).0
        })
        .collect();
    let held = memory.held() - before;
    // Each has a chunk and the way to it, not all 450 chunks.
    assert!(held > 100 * 1000 && held < 100 * 10_000, "{held}");
    drop((first, versions));
    map(&mut timeline, 1, 5);
    drop(timeline.space(Pid(1)));
    assert!(memory.held() <= before, "{} of {before}", memory.held());
    drop(timeline);
    assert_eq!(memory.held(), 0);
}

#[test]
fn children_with_a_map_of_their_own_are_too_many() {
    let memory = limited(8 << 20);
    let mut timeline = Timeline::within(&memory);
    for pid in 2..20_000 {
        timeline.fork(Pid(pid), Tid(pid), Pid(1), Tid(1));
        timeline.map(&code(pid, 0x1000, 0x1000, 0, "/x"));
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
    assert_eq!(memory.held(), memory.held_for(MemoryUse::Processes));
}

#[test]
fn modules_and_names_of_threads_are_too_many() {
    let long = "x".repeat(1000);
    let memory = limited(4 << 20);
    let mut timeline = Timeline::within(&memory);
    for index in 0..4000_u64 {
        timeline.map(&code(1, 0x1000, 0x1000, 0, &format!("/{index}{long}")));
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
    let memory = limited(4 << 20);
    let mut timeline = Timeline::within(&memory);
    for index in 0..4000 {
        timeline.comm(Pid(1), Tid(1), format!("{index}{long}").as_bytes(), false);
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
}

#[test]
fn a_section_is_named_before_it_is_unpacked() {
    let mut elf = synth::ElfBuilder::x86_64();
    let head: Vec<u8> = [1_u64, 100 << 10, 1].iter().flat_map(|it| it.to_le_bytes()).collect();
    let section = Section::new(".debug_info", elf_const::SHT_PROGBITS, [&head[..], &[0]].concat());
    elf.sections.push(Section { flags: 0x800, ..section });
    let (_, options) = machine(&[("/bin/app", &elf.build())]);
    let memory = limited(64 << 10);
    let store = ImageStore::new(FileOptions { memory: memory.clone(), ..options });
    let mut timeline = Timeline::new();
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
    let image = store.image(&timeline.modules()[0]).expect("the program").image();
    let section = image.section(".debug_info").expect("there");
    assert!(image.section_data(section).is_err());
    assert_eq!(reading(&memory), Some("section .debug_info of /bin/app"));
    assert_eq!(memory.held_for(MemoryUse::Files), 0);
}

#[test]
fn code_of_a_dump_is_named() {
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 7] {
        dump.extend(word.to_le_bytes());
    }
    dump.extend([0; 16]);
    let (_, options) = machine(&[("/tmp/jit-1.dump", &dump)]);
    let memory = limited(100);
    let budget = options.budget;
    let store = Arc::new(ImageStore::new(FileOptions { memory: memory.clone(), ..options }));
    assert!(
        DumpReader::new(store, budget, Some(Arch::X86_64))
            .read(b"/tmp/jit-1.dump", Pid(1))
            .is_err()
    );
    assert_eq!(reading(&memory), Some("/tmp/jit-1.dump"));
}

/// Lines of two bytes, of each of which the place is kept.
#[test]
fn the_list_of_kernel_modules_is_named() {
    let list = b"a\n".repeat(10_000);
    let memory = limited(100_000);
    let (_, options) = machine(&[("/s/lib/modules/6.1/modules.dep", &list)]);
    let store = ImageStore::new(FileOptions {
        sysroots: vec!["/s".into()],
        kernel_release: Some(b"6.1".to_vec()),
        memory: memory.clone(),
        ..options
    });
    assert!(store.kernel_file(b"[a]", BuildId::new(&[1; 20]).expect("an id")).is_err());
    assert_eq!(reading(&memory), Some("/s/lib/modules/6.1/modules.dep"));
    let findings = store.findings();
    let found: Vec<_> = findings.iter().map(|it| (it.kind, &*it.message)).collect();
    let message = "/s/lib/modules/6.1/modules.dep asks for more than 68,719,476,736 bytes of files in memory; it \
                   was left out";
    assert_eq!(found, [(FileFindingKind::LeftOut, message)]);
    assert!(!store.may_hold(Path::new("/x"), 1), "the run is to end");
}
