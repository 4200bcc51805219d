//! Maps wait until the space of their process is needed. Neither the time of that nor known names change the result.

use address::{Avma, Pid, Tid, Timestamp};
use module_map::{MapEvent, RecordedName, Timeline};

use crate::support::{code, shape, shape_of};

/// Applies a random event in one of four processes.
fn happen(timeline: &mut Timeline, seed: &mut u64) {
    let mut next = |below: u64| {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % below
    };
    let pid = 1 + next(4) as i32;
    match next(40) {
        0 => timeline.fork(Pid(1 + next(4) as i32), Tid(1), Pid(pid), Tid(pid)),
        1 => timeline.comm(Pid(pid), Tid(pid), b"other", true),
        2 => timeline.exit(Pid(pid), Tid(pid)),
        _ => {
            let path = ["/bin/app", "/lib/x.so", "//anon", "[heap]", "[vdso]"][next(5) as usize];
            let (start, len) = (0x1000 * next(64), 0x1000 * next(12));
            let event = code(pid, start, len, 0x1000 * next(3), path);
            timeline.map(&MapEvent { executable: next(2) == 0, ..event });
        }
    }
}

fn shapes(timeline: &mut Timeline) -> Vec<Vec<String>> {
    (1..=4).map(|pid| shape(timeline, pid)).collect()
}

#[test]
fn whenever_a_space_is_asked_for_it_is_the_same() {
    let mut inferred = 0;
    for seed in 0..20_u64 {
        let [mut always, mut sometimes] = [Timeline::new(), Timeline::new()];
        let [mut first, mut second] = [seed; 2];
        for step in 0..2000 {
            happen(&mut always, &mut first);
            happen(&mut sometimes, &mut second);
            let expected = shapes(&mut always);
            // More maps come in between than can wait.
            if step % 1500 == 1499 || step % 97 == seed {
                assert_eq!(shapes(&mut sometimes), expected, "{seed}, {step}");
            }
        }
        assert_eq!(shapes(&mut sometimes), shapes(&mut always));
        let inferences = |timeline: &Timeline| {
            let each = timeline.inferences().iter();
            each.map(|it| (it.pid, it.start, it.end, it.module)).collect::<Vec<_>>()
        };
        assert_eq!(inferences(&sometimes), inferences(&always));
        inferred += always.inferences().len();
        assert_eq!((always.unmappable(), always.modules().len()), {
            (sometimes.unmappable(), sometimes.modules().len())
        });
    }
    assert!(inferred > 20, "{inferred}");
}

/// Spaces that were not needed in time are built later, in reverse order and by several threads.
#[test]
fn spaces_that_are_made_later_are_those_of_their_time() {
    let [mut timeline, mut other] = [Timeline::new(), Timeline::new()];
    let [mut seed, mut other_seed] = [7; 2];
    let (mut later, mut expected) = (Vec::new(), Vec::new());
    for step in 0..4000 {
        happen(&mut timeline, &mut seed);
        happen(&mut other, &mut other_seed);
        if step % 13 == 0 {
            let pid = 1 + step / 13 % 4;
            later.push(timeline.current(Pid(pid)).space.clone());
            expected.push(shape(&mut other, pid));
        }
    }
    drop(timeline);
    std::thread::scope(|scope| {
        for part in 0..2 {
            let (later, expected) = (&later, &expected);
            scope.spawn(move || {
                for (space, expected) in later.iter().zip(expected).rev().skip(part).step_by(2) {
                    assert_eq!(shape_of(space.space()), *expected);
                }
            });
        }
    });
}

#[test]
fn a_name_that_was_seen_is_not_read_again() {
    let mut timeline = Timeline::new();
    let name = RecordedName { kind: false, identity: &[7; 24], path: b"/lib/x.so\0\0\0\0\0\0\0" };
    let first = code(1, 0x1000, 0x2000, 0, "/lib/x.so");
    let unread = |event| MapEvent { path: b"", ..event };
    assert!(!timeline.map_again(&unread(first), &name));
    timeline.map(&first);
    timeline.cache_name(&first, &name);
    let second = code(2, 0x8000, 0x1000, 0x1000, "/lib/x.so");
    assert!(timeline.map_again(&unread(second), &name));
    assert!(timeline.map_again(&unread(code(2, 0x9000, 0, 0, "")), &name));
    assert_eq!(shape(&mut timeline, 2), ["8000-9000 /lib/x.so+1000"]);
    assert_eq!((timeline.modules().len(), timeline.unmappable()), (1, 1));
    for other in [
        RecordedName { kind: true, ..name },
        RecordedName { identity: &[8; 24], ..name },
        RecordedName { path: b"/lib/y.so\0\0\0\0\0\0\0", ..name },
    ] {
        assert!(!timeline.map_again(&unread(second), &other));
    }
    // From here on the same record may belong to another module.
    timeline.list_build_id(b"/lib/x.so", address::BuildId::new(&[1; 20]).expect("an id"));
    assert!(!timeline.map_again(&unread(second), &name));
}

#[test]
fn code_without_a_file_and_what_is_mapped_in_its_own_way_is_read_each_time() {
    let mut timeline = Timeline::new();
    for path in ["//anon", "[vdso]", "/tmp/jit-1.dump"] {
        let name = RecordedName { kind: false, identity: &[0; 24], path: path.as_bytes() };
        let event = code(1, 0x1000, 0x2000, 0, path);
        timeline.map(&event);
        timeline.cache_name(&event, &name);
        assert!(!timeline.map_again(&event, &name), "{path}");
    }
    // Data without a file belongs to no process.
    let data = MapEvent { executable: false, start: Avma(0x8000), ..code(1, 0, 16, 0, "//anon") };
    let name = RecordedName { kind: false, identity: &[0; 24], path: b"//anon\0\0" };
    timeline.map(&data);
    timeline.cache_name(&data, &name);
    assert!(timeline.map_again(&MapEvent { pid: Pid(2), ..data }, &name));
    assert!(!timeline.map_again(&MapEvent { executable: true, ..data }, &name));
}

#[test]
fn known_maps_of_a_process_are_taken_together() {
    let mut timeline = Timeline::new();
    let name = RecordedName { kind: false, identity: &[7; 24], path: b"/lib/x.so\0\0\0\0\0\0\0" };
    let first = code(1, 0x1000, 0x2000, 0, "/lib/x.so");
    assert!(timeline.cached_names().find(&first, &name).is_none());
    timeline.map(&first);
    timeline.cache_name(&first, &name);
    let event = |at: u64| code(2, 0x1000 * at, 0x1000, 0, "");
    assert!(timeline.cached_names().find(&MapEvent { len: 0, ..event(1) }, &name).is_none());
    let maps = |timeline: &Timeline, of: std::ops::Range<u64>| -> Vec<_> {
        of.filter_map(|at| timeline.cached_names().find(&event(at), &name)).collect()
    };
    let known = maps(&timeline, 8..10);
    assert_eq!(known.iter().map(|map| map.pid()).collect::<Vec<_>>(), [Pid(2); 2]);
    let now = Timestamp(5);
    let take = |timeline: &mut Timeline, maps: &[module_map::CachedMap]| {
        timeline.map_all_cached(now, Pid(2), maps.iter().copied())
    };
    // The process is unknown so far.
    assert!(!take(&mut timeline, &known));
    timeline.map_cached(&known[0]);
    assert!(take(&mut timeline, &known[1..]));
    let expected = ["8000-9000 /lib/x.so+0", "9000-a000 /lib/x.so+0"];
    assert_eq!(shape(&mut timeline, 2), expected);
    // More than fit in one list.
    let many = maps(&timeline, 20..300);
    assert!(!take(&mut timeline, &many));
    assert_eq!(shape(&mut timeline, 2), expected);
    many.iter().for_each(|map| timeline.map_cached(map));
    assert_eq!(shape(&mut timeline, 2).len(), 2 + many.len());
    timeline.start_journal();
    assert!(!take(&mut timeline, &known));
}
