//! Truncated chains through the whole replay, completed from other samples.

mod by_batches;
mod calls_and_returns;
mod many_threads;
mod stage;

use std::collections::BTreeMap;

use replay::Join;
use synth::{Endian, StackBuilder};

use stage::{FRAME, How, PID, Recording, TOP, TRAMPOLINE, Written, address, saved};

const GAPS: How = How { join: Join::Gaps, max_frames: 127, threads: 1, stream: false, live: None };
const EXACT: How = How { join: Join::Exact, ..GAPS };
const OFF: How = How { join: Join::Off, ..GAPS };

const CUT: &str = "@E D C stack-exhausted";
const JOINED: &str = "@E D C +B +A +R root";

/// The four outermost calls are the same in all of them.
const ROUNDS: &str = "EDCBAR EdCBAR EDCBAR EdCBAR EDCBAR EdCBAR";

fn recording(text: &str) -> Recording {
    let mut recording = Recording::new();
    recording.samples(text);
    recording
}

#[test]
fn a_chain_that_is_joined_to_the_root() {
    for text in ["EDCBAR EDC|BAR", "EDC|BAR EDCBAR", "EDCBAR EDC|BAR EDCBAR"] {
        recording(text).check(GAPS, &[JOINED]);
        recording(text).check(EXACT, &[JOINED]);
        recording(text).check(OFF, &[CUT]);
    }
    let whole = "@E D C B A R root";
    assert_eq!(recording("EDCBAR EDC|BAR").chains(GAPS), [whole, JOINED]);
    recording("EDCBAR E2D2C|BAR EDCBAR").check(GAPS, &[CUT]);
    recording("EDCBAR EDC|BAR ED2CB|AR").check(GAPS, &[JOINED, "@E D C B +A +R root"]);
}

/// The other samples are truncated, too, so the chain is completed only in part.
#[test]
fn a_chain_that_is_joined_in_part() {
    let text = "EDCB|AR EDC|BAR EDC|BAR";
    let part = "@E D C +B stack-exhausted";
    recording(text).check(GAPS, &["@E D C B stack-exhausted", part, part]);
}

/// No sample shows the caller of `G`.
#[test]
fn a_chain_across_a_gap() {
    let rounds = "DCBAR ".repeat(4);
    let recording = recording(&format!("{rounds} HG|FEQCBAR {rounds}"));
    recording.check(GAPS, &["@H G ~ +C +B +A +R root-across-gap"]);
    recording.check(EXACT, &["@H G stack-exhausted"]);
    recording.check(OFF, &["@H G stack-exhausted"]);
    // A gap is one frame.
    let frames = |how| recording.replay(how).0.profile.summary.frames;
    assert_eq!((frames(OFF), frames(GAPS)), (8 * 5 + 2, 8 * 5 + 7));
}

#[test]
fn too_few_samples_for_a_gap() {
    let recording = recording("DCBAR HG|FEQCBAR DCBAR");
    recording.check(GAPS, &["@H G stack-exhausted"]);
}

/// Equal stacks of two threads.
#[test]
fn threads_of_a_process() {
    let mut recording = Recording::new();
    for stack in ["EDCBAR"; 5] {
        recording.sample_of((PID, 8), stack);
        recording.sample_of((PID, 9), stack);
    }
    recording.sample_of((PID, PID), "EDC|BAR");
    recording.sample_of((PID, 8), "EDC|BAR");
    recording.sample_of((PID, 9), "ED|CBAR");
    recording.check(GAPS, &[CUT, JOINED, "@E D +C +B +A +R root"]);
}

#[test]
fn processes() {
    let mut recording = Recording::new();
    recording.fork(8, 8);
    for stack in ["EDCBAR"; 5] {
        recording.sample_of((PID, PID), stack);
    }
    recording.sample_of((8, 8), "EDC|BAR");
    recording.sample_of((PID, PID), "EDC|BAR");
    recording.check(GAPS, &[CUT, JOINED]);
}

/// Another program has the addresses of the previous one.
#[test]
fn another_program() {
    let mut recording = recording(&"EDCBAR ".repeat(5));
    recording.exec(PID);
    recording.samples("EDC|BAR");
    recording.exec(PID);
    recording.samples(&"EDCBAR ".repeat(5));
    recording.check(GAPS, &[CUT]);
}

/// The id of an exited thread is reused by another one, which may have its stack.
#[test]
fn another_thread_of_the_same_id() {
    for forks in [0, 1] {
        let mut recording = Recording::new();
        (0..5).for_each(|_| recording.sample_of((PID, 8), "EDCBAR"));
        (0..forks).for_each(|_| recording.fork(PID, 8));
        recording.sample_of((PID, 8), "EDC|BAR");
        (0..forks).for_each(|_| recording.fork(PID, 8));
        (0..5).for_each(|_| recording.sample_of((PID, 8), "EDCBAR"));
        recording.check(GAPS, &[if forks == 0 { JOINED } else { CUT }]);
    }
}

/// The sample has only registers: its function is in the same place before and afterwards, which proves nothing.
#[test]
fn a_sample_without_stack() {
    let text = format!("{ROUNDS} D|CBAR {ROUNDS}");
    recording(&text).check(EXACT, &["@D no-user-stack"]);
    recording(&text).check(OFF, &["@D no-user-stack"]);
}

/// The handler runs on a separate stack, below that of the interrupted function.
#[test]
fn a_handler_on_an_alternate_stack() {
    let sp = TOP - 0x6_0000;
    let interrupted = TOP - 4 * FRAME;
    let mut stack = StackBuilder::new(sp, Endian::Little, 8);
    stack.words(0, 2).word(saved(1)).word(TRAMPOLINE);
    stack.words(0, 20).word(interrupted).word(address('D'));
    let handler = Written { pc: address('H'), sp, bytes: stack.bytes() };
    let mut recording = recording(ROUNDS);
    recording.written((PID, PID), &handler, &[]);
    recording.samples(ROUNDS);
    recording.check(OFF, &["@H signal D stack-exhausted"]);
    // `D` is in the same place before and afterwards, which proves nothing.
    recording.check(EXACT, &["@H signal D stack-exhausted"]);
}

#[test]
fn the_limit_of_frames() {
    let limited = |max_frames| How { max_frames, ..GAPS };
    let recording = recording("EDCBAR ED|CBAR");
    let found = |max_frames| recording.chains(limited(max_frames));
    assert_eq!(found(6), ["@E D C B A R root", "@E D +C +B +A +R root"]);
    // Frames above the limit in one sample are unknown for the other one, too.
    assert_eq!(found(4), ["@E D C B max-frames", "@E D +C +B stack-exhausted"]);
    assert_eq!(found(2), ["@E D max-frames", "@E D stack-exhausted"]);
}

/// The limit applies to each sample: others may show more of its stack.
#[test]
fn a_joined_chain_above_the_limit() {
    let recording = recording("EDCB|AR DCBAR EDC|BAR");
    let limited = |max_frames| How { max_frames, ..GAPS };
    let rows = |ends: [&str; 3]| ends.map(str::to_owned).to_vec();
    let all = rows(["@E D C B stack-exhausted", "@D C B A R root", "@E D C stack-exhausted"]);
    assert_eq!(recording.chains(How { join: Join::Off, ..limited(6) }), all);
    let joined = rows(["@E D C B +A +R root", "@D C B A R root", "@E D C +B +A +R root"]);
    assert_eq!(recording.chains(limited(6)), joined);
    let joined = rows(["@E D C B +A max-frames", "@D C B A R root", "@E D C +B +A max-frames"]);
    assert_eq!(recording.chains(limited(5)), joined);
}

#[test]
fn kernel_frames_stay_in_front() {
    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    let mut recording = recording("EDCBAR");
    recording.written((PID, PID), &Written::read("EDC|BAR"), &[KERNEL + 0x10, KERNEL + 0x201]);
    recording.check(GAPS, &["@k10 k200 @E D C +B +A +R root"]);
    // The limit applies to user frames.
    let limited = How { max_frames: 5, ..GAPS };
    let joined = "@k10 k200 @E D C +B +A stack-exhausted";
    recording.check(limited, &["@E D C B A max-frames", joined]);
}

/// Samples of three threads with several kinds of truncation, more than one window holds.
fn many() -> Recording {
    let mut recording = Recording::new();
    let stacks = ["EDCBAR", "EDC|BAR", "ED|CBAR", "XBAR", "HG|FEDCBAR", "E2DC|BAR", "E2DCBAR"];
    for at in 0..40_000_u32 {
        let stack = stacks[(at.wrapping_mul(2_654_435_761) >> 8) as usize % stacks.len()];
        recording.sample_of((PID, PID + at % 3), stack);
    }
    recording
}

/// Neither the number of threads nor the batches affect the chains.
#[test]
fn threads_and_batches() {
    let recording = many();
    let expected = recording.chains(GAPS);
    let cut = recording.chains(OFF);
    let cut = cut.iter().zip(&expected).filter(|(cut, _)| cut.ends_with("stack-exhausted"));
    let mut counts = BTreeMap::new();
    for (_, chain) in cut {
        let chain = chain.split_once("~").map_or(chain.as_str(), |(inner, _)| inner);
        *counts.entry(chain).or_insert(0) += 1;
    }
    let expected_counts = [
        ("@E D ", 3636),
        ("@E D +C ", 59),
        ("@E D +C +B +A +R root", 2023),
        ("@E D C ", 7919),
        (JOINED, 3503),
        ("@H G ", 5719),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected_counts);
    assert!(recording.chains(How { threads: 4, ..GAPS }) == expected, "four threads");
    for threads in [1, 4] {
        let how = How { threads, stream: true, ..GAPS };
        assert!(recording.replay(how).1 > 1000);
        assert!(recording.chains(how) == expected, "{threads} threads, many batches");
    }
}

/// Returns all tables of the recording, and of the same as a stream of many batches.
fn tables(join: Join) -> [String; 2] {
    let recording = many();
    [false, true].map(|stream| {
        let profile = recording.replay(How { join, stream, ..GAPS }).0.profile;
        format!("{:?}", (profile.samples, profile.stacks, profile.frames, profile.locations))
    })
}

#[test]
fn batches_do_not_show_in_the_ids_of_rows() {
    let [one, many] = tables(Join::Off);
    assert!(one == many);
}

#[test]
fn batches_do_not_show_in_the_ids_of_joined_rows() {
    let [one, many] = tables(Join::Gaps);
    assert!(one == many);
}

/// A completed chain leaves no rows of its truncated form.
#[test]
fn only_rows_that_samples_have() {
    let profile = recording("EDCBAR EDC|BAR").replay(GAPS).0.profile;
    // The rows of the first sample and of the second: joined frames differ from walked ones.
    assert_eq!(profile.stacks.len(), 6 + 6);
}
