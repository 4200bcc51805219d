//! Real programs of other architectures, stopped under emulation: the chains must be equal to gdb's backtraces.

use std::path::{Path, PathBuf};

use image_store::FileOptions;
use unwinder::{EndReason, FoundBy};

use crate::replayed::{Seen, replay};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A page with code of the emulator is above all programs; its file begins with it at this address.
const TRAMPOLINE: u64 = 0x1000;
const ABOVE_PROGRAMS: u64 = 0x2000_0000;
const PAGE: u64 = 0x1000;

/// gdb shows the pc of each frame. Lookup addresses of callers are one less, except in interrupted functions.
fn expected(line: &str) -> Vec<u64> {
    let pcs = line.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap());
    let mut exact = true;
    let looked_up = pcs.map(|pc| {
        let is_trampoline = pc > ABOVE_PROGRAMS;
        let looked_up = match (is_trampoline, exact) {
            // A handler returns there: no call precedes the address.
            (true, _) => TRAMPOLINE + pc % PAGE,
            (false, true) => pc,
            (false, false) => pc - 1,
        };
        exact = is_trampoline;
        looked_up
    });
    looked_up.collect()
}

/// Compares the chains with those of the debugger; ours have `tail_calls` additional frames of tail calls.
fn check(case: &str, samples: usize, tail_calls: usize) {
    let folder = testdata().join("cases").join(case);
    let backtraces = std::fs::read_to_string(folder.join("backtraces")).unwrap();
    let files = FileOptions { sysroots: vec![testdata().join("sysroot")], ..Default::default() };
    let found = replay(std::fs::read(folder.join("perf.data")).unwrap(), files);
    assert_eq!((found.len(), backtraces.lines().count()), (samples, samples));
    let mut n_removed = 0;
    for ((time, frames, end), line) in found.iter().zip(backtraces.lines()) {
        // gdb shows those only for functions with call sites in their debug information.
        let (removed, frames): (Vec<&Seen>, Vec<&Seen>) =
            frames.iter().partition(|frame| frame.1 == FoundBy::TailCall);
        n_removed += removed.len();
        let addresses: Vec<u64> = frames.iter().map(|frame| frame.0).collect();
        let expected = expected(line);
        // gdb does not recognize the emulator's code on every architecture: its chain is then the first part of ours.
        let is_cut =
            expected.last().is_some_and(|&last| (TRAMPOLINE..TRAMPOLINE + PAGE).contains(&last));
        let known = if is_cut { expected.len() } else { addresses.len() };
        assert_eq!(addresses.get(..known), Some(&expected[..]), "at {time:?}");
        assert_eq!(*end, EndReason::Root, "at {time:?}");
        let how = frames.iter().skip(1).map(|frame| frame.1);
        assert_eq!(how.filter(|&how| how != FoundBy::Cfi).count(), 0, "at {time:?}");
    }
    assert_eq!(n_removed, tail_calls);
}

#[test]
fn recursion_callback_alloca_and_signals() {
    check("aarch64-chain", 30, 6);
}

#[test]
fn riscv64() {
    check("riscv64-chain", 64, 0);
}

#[test]
fn arm_by_exception_tables() {
    check("arm-chain", 61, 0);
    check("arm-fp", 61, 0);
}

#[test]
fn s390x() {
    check("s390x-chain", 61, 0);
}

#[test]
fn ppc64le() {
    check("ppc64le-chain", 57, 0);
}

#[test]
fn signed_return_addresses_without_frame_pointers() {
    check("aarch64-signed", 33, 6);
}
