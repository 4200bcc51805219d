//! Memory accounting for file contents. An exceeded limit names the file being read.

use std::path::Path;
use std::sync::Arc;

use address::BuildId;
use budget::{MemoryBudget, MemoryUse};
use image_store::{FileFindingKind, FileOptions, ImageStore};
use module_map::Timeline;
use synth::{Section, elf_const};

use crate::support::{code, machine};

fn limited(bytes: u64) -> Arc<MemoryBudget> {
    Arc::new(MemoryBudget::new(Some(bytes)))
}

/// Returns the file that was being read when the limit was exceeded.
fn reading(memory: &MemoryBudget) -> Option<&str> {
    memory.exceeded().map(|exceeded| exceeded.reading.as_str())
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

/// Lines of two bytes, each with an entry in memory.
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
                   was omitted";
    assert_eq!(found, [(FileFindingKind::PartOmitted, message)]);
    assert!(!store.may_hold(Path::new("/x"), 1), "the run is to end");
}
