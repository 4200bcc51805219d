//! Recordings of all architectures without the CFI of their files.
//! Each chain reaches the same root as with CFI, or ends early; no frame is wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::MemoryHost;
use image_store::FileOptions;
use unwinder::EndReason;

use crate::replayed::{Sampled, replay_own_bytes};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// Adds the files below a directory.
fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn withhold(file: &mut [u8]) {
    synth::withhold_frames(file).unwrap();
}

fn samples(case: &str, change: impl Fn(&mut [u8])) -> Vec<Sampled> {
    let (sysroot, host) = (testdata().join("sysroot"), Arc::new(MemoryHost::new()));
    let mut files = Vec::new();
    files_below(&sysroot, &mut files);
    for file in files {
        let recorded = Path::new("/").join(file.strip_prefix(&sysroot).unwrap());
        let is_shared = recorded.starts_with("/usr");
        if is_shared || recorded.components().any(|part| part.as_os_str() == case) {
            let mut bytes = std::fs::read(&file).unwrap();
            if !is_shared && bytes.starts_with(b"\x7fELF") {
                change(&mut bytes);
            }
            host.insert(recorded, bytes);
        }
    }
    let recording = std::fs::read(testdata().join("cases").join(case).join("perf.data")).unwrap();
    replay_own_bytes(recording, FileOptions { host, ..FileOptions::default() })
}

/// Counts the chains that are complete with CFI: equal without it, early end or gap, wrong.
/// Wrong ones have another frame, or a premature end that is called a root.
fn counts(case: &str) -> (usize, usize, usize) {
    let (truth, ours) = (samples(case, |_| {}), samples(case, withhold));
    assert_eq!(truth.len(), ours.len());
    let (mut again, mut early, mut wrong) = (0, 0, 0);
    for ((_, truth, whole), (_, ours, end)) in truth.iter().zip(&ours) {
        if *whole != EndReason::Root {
            continue;
        }
        let addresses = |chain: &[(u64, unwinder::FoundBy, bool)]| -> Vec<u64> {
            chain.iter().map(|frame| frame.0).collect()
        };
        let (truth, ours) = (addresses(truth), addresses(ours));
        // A gap is at address 0; the frames after it are the outer ones of the chain.
        let gap = ours.iter().position(|&at| at == 0);
        let (inner, outer) = ours.split_at(gap.unwrap_or(ours.len()));
        let is_part =
            truth.starts_with(inner) && truth.ends_with(outer.get(1..).unwrap_or_default());
        match (ours == truth, is_part, *end == EndReason::Root) {
            (true, _, true) => again += 1,
            (_, true, false) => early += 1,
            _ => wrong += 1,
        }
    }
    (again, early, wrong)
}

/// A recording, its equal chains, and those that end early.
const TABLE: [(&str, usize, usize); 24] = [
    ("aarch64-chain", 30, 0),
    ("aarch64-signed", 33, 0),
    ("anon", 15, 0),
    ("arm-chain", 56, 5),
    ("arm-fp", 61, 0),
    ("copied", 13, 0),
    ("deep", 5, 0),
    ("dlopen", 23, 0),
    ("exceptions", 0, 38),
    ("fork", 48, 0),
    ("inlines-clang-lld", 38, 0),
    ("inlines-gcc", 35, 0),
    ("leaf-nofp", 35, 0),
    ("norm", 33, 0),
    ("off-cpu", 95, 0),
    ("plt", 19, 0),
    ("ppc64le-chain", 55, 2),
    ("realign-gcc", 53, 0),
    ("recursion-rs", 41, 0),
    ("riscv64-chain", 64, 0),
    ("s390x-chain", 58, 3),
    ("signal", 44, 0),
    ("spin-static", 31, 0),
    ("tailcall", 31, 0),
];

#[test]
fn no_chain_has_another_frame() {
    for (case, again, early) in TABLE {
        assert_eq!(counts(case), (again, early, 0), "{case}");
    }
}
