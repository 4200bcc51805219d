//! Unlimited map records: the cost of a space version is independent of the number of mappings.
//! Also: JIT dumps are read once, and the background of a space is visible.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, FileOffset, ModuleId, Pid, Timestamp};
use budget::Exhausted;
use module_map::{JitDump, JitLoad, JitReader, Mapping, Space, Timeline};
use proptest::prelude::*;

use crate::support::{code, shape};

fn mapping(number: u64, start: u64, end: u64) -> Mapping {
    Mapping {
        start: Avma(start),
        end: Avma(end),
        offset: FileOffset(1000 * number),
        module: ModuleId(number as u32),
        executable: true,
        writable: false,
    }
}

#[test]
fn a_version_shares_all_but_one_chunk() {
    let mut timeline = Timeline::new();
    for index in 0..50_000 {
        timeline.map(&code(1, 0x10_0000 + index * 0x2000, 0x1000, index, "/x"));
    }
    let (before, _) = timeline.space(Pid(1));
    let chunks = before.shared_chunks(&before);
    assert!(chunks >= 50_000 / 22, "{chunks}");
    for index in [0, 777, 25_000, 49_999] {
        let mut next = (*before).clone();
        next.map(mapping(7, 0x10_0000 + index * 0x2000, 0x10_0800 + index * 0x2000));
        assert_eq!(next.shared_chunks(&before), chunks - 1);
        assert_eq!(next.mappings().count(), 50_001);
        next.map(mapping(8, 0, u64::MAX));
        assert_eq!(next.mappings().count(), 1);
    }
}

/// Maps in random order, many of them over many others, compared with a list that is searched from its end.
#[test]
fn deep_trees_hold_what_was_mapped() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    let mut space = Space::default();
    let mut model = Vec::new();
    for number in 0..20_000 {
        let start = random(1 << 20);
        let len = if number % 50 == 0 { random(1 << 14) } else { random(16) };
        let new = mapping(number, start, start + len + 1);
        space.map(new);
        model.push(new);
    }
    for _ in 0..5_000 {
        let at = Avma(random(1 << 20));
        let place = |mapping: &Mapping| (mapping.module, mapping.offset_of(at));
        let expected = model.iter().rev().find(|mapping| mapping.contains(at));
        let found = space.lookup(at);
        assert_eq!(found.as_ref().map(place), expected.map(place));
    }
    let all: Vec<_> = space.mappings().collect();
    assert!(all.windows(2).all(|two| two[0].end <= two[1].start));
    assert!(all.len() > 10_000, "{}", all.len());
}

fn rows() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0..96_u64, 1..20_u64), 0..40)
}

proptest! {
    /// Equal to mapping all of one space over the other.
    #[test]
    fn a_space_before_another(front in rows(), behind in rows()) {
        let space = |rows: &[(u64, u64)], first: u64| {
            let mut space = Space::default();
            for (number, &(start, len)) in (first..).zip(rows) {
                space.map(mapping(number, start, start + len));
            }
            space
        };
        let (front, behind) = (space(&front, 0), Arc::new(space(&behind, 100)));
        let mut expected = (*behind).clone();
        front.mappings().for_each(|mapping| expected.map(mapping));
        let seen = front.before(&behind);
        prop_assert_ne!(seen.version(), front.version());
        prop_assert_eq!(seen.mappings().collect::<Vec<_>>(), expected.mappings().collect::<Vec<_>>());
        prop_assert_eq!(seen.is_empty(), expected.is_empty());
        for at in 0..130 {
            prop_assert_eq!(seen.lookup(Avma(at)), expected.lookup(Avma(at)));
        }
    }
}

/// A dump of 100 functions that counts its reads.
#[derive(Debug)]
struct Counted(Arc<AtomicU64>);

impl JitReader for Counted {
    fn read(&self, path: &[u8], _pid: Pid) -> Result<Option<JitDump>, Exhausted> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if path != b"/tmp/jit-1.dump" {
            return Ok(None);
        }
        let load = |index: u64| JitLoad {
            time: Timestamp(20),
            start: Avma(0x9000 + index * 0x40),
            len: 0x20,
            offset: FileOffset(0x1000 + index * 0x40),
        };
        Ok(Some(JitDump { begun: Timestamp(20), loads: (0..100).map(load).collect() }))
    }
}

#[test]
fn a_dump_is_read_once_and_outlives_its_memory() {
    let read = Arc::new(AtomicU64::new(0));
    let mut timeline = Timeline::new();
    timeline.read_jit_with(Box::new(Counted(Arc::clone(&read))));
    timeline.advance(Timestamp(10));
    for _ in 0..1_000 {
        timeline.map(&code(1, 0x1000, 0x1000, 0, "/tmp/jit-1.dump"));
    }
    assert_eq!(read.load(Ordering::Relaxed), 1);
    timeline.advance(Timestamp(30));
    for _ in 0..1_000 {
        timeline.map(&code(1, 0x9000, 0x2000, 0x9000, "//anon"));
    }
    let found = shape(&mut timeline, 1);
    assert_eq!(found.len(), 1 + 200);
    assert_eq!(found[1], "9000-9020 /tmp/jit-1.dump+1000");
    assert_eq!(found[2], "9020-9040 //anon+9020");
    // A file replaces it as usual.
    timeline.map(&code(1, 0x9000, 0x2000, 0, "/lib/x.so"));
    assert_eq!(shape(&mut timeline, 1)[1..], ["9000-b000 /lib/x.so+0"]);
}
