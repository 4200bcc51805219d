//! A recording of many threads: the number of remembered stacks is limited, and the result is the same in each run.

use crate::repair::stage::{How, PID, Recording};

const THREADS: u32 = 10_000;
/// Number of samples that are repaired together.
const REPAIRED: usize = 24 << 10;
/// Number of stacks that are remembered afterwards.
const REMEMBERED: usize = 4096;

/// Each thread shows its whole stack once; its other samples are truncated.
#[test]
fn ten_thousand_threads() {
    let mut recording = Recording::new();
    for round in ["EDCBAR", "EDC|BAR", "EDC|BAR", "EDC|BAR"] {
        (0..THREADS).for_each(|thread| recording.sample_of((PID, 1000 + thread), round));
    }
    let chains = recording.chains(How::default());
    let is_joined = |chain: &String| match chain.as_str() {
        "@E D C +B +A +R root" | "@E D C B A R root" => true,
        "@E D C stack-exhausted" => false,
        other => panic!("{other}"),
    };
    let joined: Vec<usize> = (0..chains.len()).filter(|at| is_joined(&chains[*at])).collect();
    // The remembered threads had the last samples before the limit; each has one more sample afterwards.
    let remembered = 10_000 + REPAIRED - REMEMBERED..10_000 + REPAIRED;
    let expected: Vec<usize> = (0..REPAIRED).chain(remembered).collect();
    assert_eq!(joined.len(), expected.len());
    assert_eq!(joined, expected);
    for threads in [1, 4] {
        for stream in [false, true] {
            let again = recording.chains(How { threads, stream, ..How::default() });
            assert!(again == chains, "{threads} threads, stream: {stream}");
        }
    }
}
