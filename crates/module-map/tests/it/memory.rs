//! Held memory is counted and released after its last use: spaces in all their versions, modules and names.
//! If the limit is exceeded, the error names the table.

use std::sync::Arc;

use address::{Pid, Tid};
use budget::{MemoryBudget, MemoryUse};
use module_map::Timeline;

use crate::support::code;

fn limited(bytes: u64) -> Arc<MemoryBudget> {
    Arc::new(MemoryBudget::new(Some(bytes)))
}

/// Returns the object being read when the limit was exceeded.
fn reading(memory: &MemoryBudget) -> Option<&str> {
    memory.exceeded().map(|exceeded| exceeded.reading.as_str())
}

#[test]
fn versions_of_spaces_are_held_while_somebody_has_them() {
    let memory = Arc::new(MemoryBudget::default());
    let mut timeline = Timeline::within(&memory);
    let map = |timeline: &mut Timeline, pid, at: u64| {
        timeline.map(&code(pid, at * 0x2000, 0x1000, 0, "/x"));
    };
    (1..=10_000).for_each(|at| map(&mut timeline, 1, at));
    let (first, _) = timeline.space(Pid(1));
    let before = memory.held();
    let versions: Vec<_> = (0..100)
        .map(|_| {
            map(&mut timeline, 1, 5);
            timeline.space(Pid(1)).0
        })
        .collect();
    let held = memory.held() - before;
    // Each version has a chunk and the path to it, not all 450 chunks.
    assert!(held > 100 * 1000 && held < 100 * 10_000, "{held}");
    drop((first, versions));
    map(&mut timeline, 1, 5);
    drop(timeline.space(Pid(1)));
    assert!(memory.held() <= before, "{} of {before}", memory.held());
    drop(timeline);
    assert_eq!(memory.held(), 0);
}

#[test]
fn children_with_a_map_of_their_own_are_too_many() {
    let memory = limited(8 << 20);
    let mut timeline = Timeline::within(&memory);
    for pid in 2..20_000 {
        timeline.fork(Pid(pid), Tid(pid), Pid(1), Tid(1));
        timeline.map(&code(pid, 0x1000, 0x1000, 0, "/x"));
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
    assert_eq!(memory.held(), memory.held_for(MemoryUse::Processes));
}

#[test]
fn modules_and_names_of_threads_are_too_many() {
    let long = "x".repeat(1000);
    let memory = limited(4 << 20);
    let mut timeline = Timeline::within(&memory);
    for index in 0..4000_u64 {
        timeline.map(&code(1, 0x1000, 0x1000, 0, &format!("/{index}{long}")));
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
    let memory = limited(4 << 20);
    let mut timeline = Timeline::within(&memory);
    for index in 0..4000 {
        timeline.comm(Pid(1), Tid(1), format!("{index}{long}").as_bytes(), false);
    }
    assert_eq!(reading(&memory), Some("address spaces and modules"));
}
