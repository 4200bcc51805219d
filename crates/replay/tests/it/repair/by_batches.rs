//! Repair batch by batch, for live output, independent of the time between batches.

use crate::repair::stage::{How, PID, Recording};

/// Samples of a batch, which is a round of the recorder.
const BATCH: usize = 60;

const LIVE: How =
    How { join: replay::Join::Gaps, max_frames: 127, threads: 1, stream: true, live: Some(false) };

/// Truncated chains are completed from the samples of their batch, of the next one, and of all earlier ones.
#[test]
fn the_next_batch_is_all_that_is_waited_for() {
    let mut recording = Recording::new();
    // No sample shows their callers before the last of eight batches.
    (0..8 * BATCH).for_each(|_| recording.sample_of((PID, 1000), "EDC|BAR"));
    recording.sample_of((PID, 1000), "EDCBAR");
    (0..3 * BATCH).for_each(|_| recording.sample_of((PID, 1000), "EDC|BAR"));
    let is_joined = |chain: &String| match chain.as_str() {
        "@E D C +B +A +R root" | "@E D C B A R root" => true,
        "@E D C stack-exhausted" => false,
        other => panic!("{other}"),
    };
    let file = recording.chains(How { stream: false, live: None, ..LIVE });
    assert!(file.iter().all(is_joined));
    let chains = recording.chains(LIVE);
    let first = chains.iter().position(is_joined).expect("a chain that goes on");
    assert!(chains.iter().skip(first).all(is_joined));
    // All batches up to the third-last one before the sample with the callers were complete by then.
    assert!((6 * BATCH..8 * BATCH).contains(&first), "{first}");
    for threads in [1, 4] {
        for live in [Some(false), Some(true)] {
            let again = recording.chains(How { threads, live, ..LIVE });
            assert!(again == chains, "{threads} threads, {live:?}");
        }
    }
}
