//! State that remains from one window to the next, and its limits.

use unwinder::Saved;

use crate::join::tests::notation::{Sample, World};
use crate::join::{CallHistory, SnapshotKey, StackEnd, Trials};

/// Limits of the stacks, and of the calls of each.
const STACKS: u32 = 1024;
const CALLS: usize = 1024;
/// Larger than the number of calls stored here.
const ROOM: usize = 1 << 20;

/// A sample with that many frames, all of one function, 16 bytes each.
fn deep(owner: u32, frames: u64) -> Sample {
    let frames: Vec<_> = (1..=frames).map(|at| ('R', at * 0x10, Saved::NONE)).collect();
    Sample::new(owner, &frames, StackEnd::Root)
}

/// Returns the remembered CFAs of a stack's calls, innermost first.
/// Does so by showing a sample that is inside of all of them.
fn remembered(world: &mut World, memory: &mut CallHistory, owner: u32) -> Vec<u64> {
    let sample = Sample::new(owner, &[('Q', 8, Saved::NONE)], StackEnd::Other);
    world.observe(memory, &sample, |memory, comparison, _| {
        let outside = memory.snapshot(comparison).expect("room for calls");
        let trials = Trials::default();
        let mut calls = memory.view(&comparison.evidence, outside, &trials).calls;
        std::iter::from_fn(|| {
            let (call, outer) = calls.split_innermost()?;
            calls = outer;
            Some(call.cfa)
        })
        .collect()
    })
}

fn show(world: &mut World, memory: &mut CallHistory, sample: &Sample) {
    world.observe(memory, sample, |_, _, _| ());
}

/// The stacks with the latest samples remain, regardless of their first ones.
#[test]
fn stacks_above_the_limit_are_forgotten() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(ROOM));
    for owner in 0..STACKS + 1000 {
        show(&mut world, &mut memory, &deep(owner, 3));
    }
    for owner in [7, 3] {
        show(&mut world, &mut memory, &deep(owner, 4));
    }
    memory.forget_old();
    let snapshots: Vec<(u32, usize)> = (0..STACKS + 1000)
        .map(|owner| (owner, remembered(&mut world, &mut memory, owner).len()))
        .filter(|(_, calls)| *calls > 0)
        .collect();
    assert_eq!(snapshots.len(), STACKS as usize);
    let mut expected = vec![(3, 3), (7, 3)];
    expected.extend((1002..STACKS + 1000).map(|owner| (owner, 2)));
    assert_eq!(snapshots, expected);
}

/// Their starts are forgotten, too.
#[test]
fn starts_of_forgotten_stacks_are_forgotten() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(ROOM));
    let samples: Vec<Sample> = (0..STACKS + 1).map(|owner| deep(owner, 3)).collect();
    for sample in &samples {
        show(&mut world, &mut memory, sample);
    }
    memory.forget_old();
    let start = |world: &mut World, memory: &mut CallHistory, owner| {
        let sample = Sample::new(owner, &[('Q', 8, Saved::NONE)], StackEnd::Other);
        world.observe(memory, &sample, |memory, comparison, _| {
            memory.start(&comparison.evidence).map(|start| start.calls.len())
        })
    };
    let found = [0, 1, STACKS].map(|owner| start(&mut world, &mut memory, owner));
    assert_eq!(found, [None, Some(1), Some(1)]);
}

/// The innermost calls of a stack remain.
#[test]
fn calls_above_the_limit_are_forgotten() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(ROOM));
    show(&mut world, &mut memory, &deep(0, 2000));
    assert_eq!(remembered(&mut world, &mut memory, 0).len(), 1999);
    memory.forget_old();
    let expected: Vec<u64> = (2..2 + CALLS as u64).map(|at| at * 0x10).collect();
    assert_eq!(remembered(&mut world, &mut memory, 0), expected);
}

/// Contradicted calls are removed, and the remaining ones are unchanged.
#[test]
fn calls_that_are_over_are_forgotten() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(ROOM));
    for depth in [50, 40, 30] {
        show(&mut world, &mut memory, &deep(0, depth));
    }
    let before = remembered(&mut world, &mut memory, 0);
    memory.forget_old();
    memory.forget_old();
    assert_eq!(remembered(&mut world, &mut memory, 0), before);
    assert_eq!(before, (2..=30).map(|at| at * 0x10).collect::<Vec<u64>>());
}

/// The state that remains between windows is limited, regardless of the number of threads.
#[test]
fn ten_thousand_stacks() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(ROOM));
    for owner in 0..10_000 {
        show(&mut world, &mut memory, &deep(owner, 5));
        if owner % 2500 == 2499 {
            memory.forget_old();
        }
    }
    let snapshots: Vec<usize> = (0..10_000)
        .map(|owner| remembered(&mut world, &mut memory, owner).len())
        .filter(|calls| *calls > 0)
        .collect();
    assert_eq!(snapshots, [4; STACKS as usize]);
}

/// Calls that do not fit are not stored until the store is emptied. A single list always fits.
#[test]
fn calls_beyond_the_capacity_are_not_stored() {
    let (mut world, mut memory) = (World::new(), CallHistory::with_capacity(5));
    let snapshot = |world: &mut World, memory: &mut CallHistory, owner| {
        let sample = Sample::new(owner, &[('Q', 8, Saved::NONE)], StackEnd::Other);
        world.observe(memory, &sample, |memory, comparison, _| {
            memory.snapshot(comparison).map(SnapshotKey::len)
        })
    };
    for (owner, frames) in [(0, 4), (1, 3), (2, 2), (3, 8)] {
        show(&mut world, &mut memory, &deep(owner, frames));
    }
    let mut snapshots = |owners: [u32; 4]| {
        let all = owners.map(|owner| snapshot(&mut world, &mut memory, owner));
        memory.reset_snapshots(0);
        all
    };
    assert_eq!(snapshots([0, 1, 2, 3]), [Some(3), Some(2), None, None]);
    assert_eq!(snapshots([3, 2, 1, 0]), [Some(7), None, None, None]);
    assert_eq!(snapshots([2, 1, 2, 0]), [Some(1), Some(2), Some(1), None]);
}
