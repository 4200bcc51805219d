//! A process that maps one file, and walks through it.

use std::sync::Arc;

use address::{Avma, FileOffset, Pid};
use host::MemoryHost;
use image_store::{FileOptions, ImageStore};
use module_map::{FileIdentity, MapEvent, Space};
use unwinder::{Arch, EndReason, Engine, Frame, UserState, Walker};

/// Maximum number of frames of a walk.
pub const MAX_FRAMES: usize = 40;

/// Returns a store that finds only the files of `host`.
pub fn store(host: MemoryHost) -> ImageStore {
    ImageStore::new(FileOptions { host: Arc::new(host), ..FileOptions::default() })
}

/// Returns an executable mapping of a file.
pub fn mapping(path: &[u8], start: u64, len: u64, offset: u64) -> MapEvent<'_> {
    MapEvent {
        pid: Pid(1),
        kernel: false,
        start: Avma(start),
        len,
        offset: FileOffset(offset),
        executable: true,
        writable: false,
        path,
        identity: FileIdentity::default(),
    }
}

/// Checks that the mappings of a space are sorted, disjoint and not empty, and that look-ups return mappings in range.
pub fn check_space(space: &Space) {
    let mappings: Vec<_> = space.mappings().collect();
    assert!(mappings.iter().all(|it| it.start < it.end));
    assert!(mappings.is_sorted_by(|a, b| a.end <= b.start));
    for mapping in mappings {
        assert_eq!(space.lookup(mapping.start), Some(mapping));
        assert_eq!(space.lookup(Avma(mapping.end.0 - 1)), Some(mapping));
    }
}

/// Walks from each of the pcs, with the other registers by their numbers in a recorder's mask: as a sampled
/// instruction, and as one that has executed. Caches of a worker or an engine must not change the result: every walk is
/// repeated three times.
pub fn walk_all(
    arch: Arch,
    space: &Space,
    store: &ImageStore,
    stack: &[u8],
    registers: &[u64],
    pcs: impl Iterator<Item = u64>,
) {
    let (warm, cold) = (Engine::new(), Engine::new());
    let mut worker = Walker::new(&warm, store, MAX_FRAMES);
    for pc in pcs {
        for executed in [false, true] {
            let state = UserState {
                arch,
                stack,
                big_endian: false,
                partial_registers: false,
                executed,
                space,
                thread: 1,
            };
            let first = walk(&mut worker, &state, registers, pc);
            assert!(first.1.len() <= MAX_FRAMES);
            assert_eq!(first, walk(&mut worker, &state, registers, pc));
            let fresh = &mut Walker::new(&cold, store, MAX_FRAMES);
            assert_eq!(first, walk(fresh, &state, registers, pc));
        }
    }
}

fn walk(
    walker: &mut Walker<'_>,
    state: &UserState<'_>,
    registers: &[u64],
    pc: u64,
) -> (EndReason, Vec<Frame>) {
    let bit = match state.arch {
        Arch::X86_64 | Arch::X86 => 8,
        Arch::Aarch64 | Arch::Powerpc64 => 32,
        Arch::Arm => 15,
        Arch::S390x => 33,
        _ => 0,
    };
    let others = (0_u32..).zip(registers.iter().copied()).filter(|&(number, _)| number != bit);
    let mut frames = Vec::new();
    let end = walker.walk(state, others.chain([(bit, pc)]), &mut frames);
    (end, frames)
}
