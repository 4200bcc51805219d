//! Cost of reading dumps of JIT code.

use std::path::PathBuf;
use std::sync::Arc;

use address::{Arch, Pid};
use budget::{Budget, Limit, MemoryBudget, Resource};
use image_store::{DumpReader, FileOptions, ImageStore};
use module_map::JitReader as _;

use crate::support::machine;

/// The code of a dump stays in memory and counts against the limit of the run.
#[test]
fn a_dump_that_does_not_fit() {
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 7] {
        dump.extend(word.to_le_bytes());
    }
    dump.extend([0; 16]);
    let (_, options) = machine(&[("/tmp/jit-1.dump", &dump)]);
    let most = Limit { base: 10, per_byte: 0, most: 10 };
    let budget = Budget::default().with(Resource::HeldInAll, most);
    let store = Arc::new(ImageStore::new(FileOptions { budget, ..options }));
    let reader = DumpReader::new(store, budget, Some(Arch::X86_64));
    let error = reader.read(b"/tmp/jit-1.dump", Pid(1)).expect_err("too much");
    assert_eq!(error.to_string(), "more than 10 bytes of files in memory");
}

/// One file with many names is read as often as the limit for its size allows.
#[test]
fn a_dump_with_many_names() {
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 7] {
        dump.extend(word.to_le_bytes());
    }
    dump.extend([0; 16]);
    let (_, options) = machine(&[("/tmp/jit-1.dump", &dump)]);
    let store = Arc::new(ImageStore::new(options));
    let twice = Limit { base: 6, per_byte: 0, most: 6 };
    let budget = Budget::default().with(Resource::JitRecords, twice);
    let reader = DumpReader::new(store, budget, Some(Arch::X86_64));
    let path = PathBuf::from("/tmp/jit-1.dump");
    let path = path.as_os_str().as_encoded_bytes();
    let reads: Vec<bool> = (0..3).map(|_| reader.read(path, Pid(1)).is_ok()).collect();
    assert_eq!(reads, [true, true, false]);
}

#[test]
fn code_of_a_dump_is_named() {
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 7] {
        dump.extend(word.to_le_bytes());
    }
    dump.extend([0; 16]);
    let (_, options) = machine(&[("/tmp/jit-1.dump", &dump)]);
    let memory = Arc::new(MemoryBudget::new(Some(100)));
    let budget = options.budget;
    let store = Arc::new(ImageStore::new(FileOptions { memory: memory.clone(), ..options }));
    assert!(
        DumpReader::new(store, budget, Some(Arch::X86_64))
            .read(b"/tmp/jit-1.dump", Pid(1))
            .is_err()
    );
    let exceeded = memory.exceeded().map(|exceeded| exceeded.reading.as_str());
    assert_eq!(exceeded, Some("/tmp/jit-1.dump"));
}
