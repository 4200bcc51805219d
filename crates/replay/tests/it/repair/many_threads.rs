//! A recording of many threads: of how many the stacks are remembered is limited, and the same in each run.

use crate::repair::stage::{How, PID, Recording};

const THREADS: u32 = 10_000;
/// So many samples are repaired together.
const REPAIRED: usize = 24 << 10;
/// So many stacks are remembered from then on.
const REMEMBERED: usize = 4096;

/// Each thread shows its whole stack once. All its other samples are cut off.
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
    // The threads that had samples last before the limit have one more afterwards.
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
