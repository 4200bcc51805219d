//! Hints: over recorded maps, through forks, until the exec.

use address::{FileOffset, Pid, Tid};
use module_map::{Hint, Timeline};

use crate::support::{code, shape};

fn timeline_with(hints: &[&str]) -> Timeline {
    let mut timeline = Timeline::new();
    for text in hints {
        let hint = Hint::parse(text).expect("a hint");
        timeline.hint(&hint, None, hint.offset.unwrap_or(FileOffset(0)));
    }
    timeline
}

#[test]
fn a_hint_wins_over_what_is_recorded_before_and_after() {
    let mut timeline = timeline_with(&["/lib/reported.so@1,0x10800,0x800,0x100"]);
    timeline.map(&code(1, 0x10000, 0x2000, 0, "//anon"));
    timeline.map(&code(1, 0x10000, 0x2000, 0, "/lib/file.so"));
    assert_eq!(
        shape(&mut timeline, 1),
        [
            "10000-10800 /lib/file.so+0",
            "10800-11000 /lib/reported.so+100",
            "11000-12000 /lib/file.so+1000"
        ]
    );
    assert!(shape(&mut timeline, 2).is_empty());
}

#[test]
fn children_inherit_until_they_exec() {
    let mut timeline = timeline_with(&["/t@1,0x10000,0x1000"]);
    // The birth of the process itself, after its hint is in force.
    timeline.fork(Pid(1), Tid(1), Pid(99), Tid(99));
    timeline.map(&code(1, 0x10000, 0x1000, 0, "//anon"));
    timeline.fork(Pid(2), Tid(2), Pid(1), Tid(1));
    timeline.map(&code(2, 0x10000, 0x1000, 0, "//anon"));
    assert_eq!(shape(&mut timeline, 2), ["10000-11000 /t+0"]);
    timeline.comm(Pid(2), Tid(2), b"other", true);
    timeline.map(&code(2, 0x10000, 0x1000, 0, "//anon"));
    assert_eq!(shape(&mut timeline, 2), ["10000-11000 //anon+0"]);
    timeline.comm(Pid(1), Tid(1), b"other", true);
    timeline.map(&code(1, 0x10000, 0x1000, 0, "//anon"));
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 //anon+0"]);
}

#[test]
fn a_hint_waits_for_the_program_that_it_is_meant_for() {
    let mut timeline = timeline_with(&["/t@1,0x10000,0x1000"]);
    timeline.map(&code(1, 0x50000, 0x1000, 0, "/bin/sh"));
    timeline.comm(Pid(1), Tid(1), b"program", true);
    timeline.map(&code(1, 0x10000, 0x1000, 0, "//anon"));
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /t+0"]);
}

#[test]
fn hints_for_all_and_for_names() {
    let mut timeline = timeline_with(&["/all@*,0x10000,0x1000", "/named@comm:app,0x20000,0x1000"]);
    timeline.comm(Pid(1), Tid(1), b"sh", false);
    timeline.map(&code(1, 0x90000, 0x1000, 0, "/bin/sh"));
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /all+0", "90000-91000 /bin/sh+0"]);
    timeline.comm(Pid(1), Tid(1), b"app", true);
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /all+0", "20000-21000 /named+0"]);
    timeline.comm(Pid(2), Tid(2), b"app", false);
    assert_eq!(shape(&mut timeline, 2), ["10000-11000 /all+0", "20000-21000 /named+0"]);
}

/// A map in the range of a broad hint restores only that part of the hint.
#[test]
fn a_broad_hint_covers_no_narrower_one() {
    let mut timeline = timeline_with(&["/all@*,0x10000,0x2000", "/one@1,0x10000,0x1000"]);
    timeline.map(&code(1, 0x11000, 0x1000, 0, "//anon"));
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /one+0", "11000-12000 /all+1000"]);
    assert_eq!(shape(&mut timeline, 2), ["10000-12000 /all+0"]);
}

/// A later name adds its hints below those of the process and of its parent.
#[test]
fn hints_for_a_name_come_in_below_those_for_a_process() {
    let hints =
        ["/named@comm:app,0x10000,0x3000", "/one@1,0x11000,0x1000", "/all@*,0x12000,0x2000"];
    let mut timeline = timeline_with(&hints);
    timeline.map(&code(1, 0x11000, 0x1000, 0, "//anon"));
    timeline.fork(Pid(2), Tid(2), Pid(1), Tid(1));
    assert_eq!(shape(&mut timeline, 2), ["11000-12000 /one+0", "12000-14000 /all+0"]);
    timeline.comm(Pid(2), Tid(2), b"app", false);
    let expected = [
        "10000-11000 /named+0",
        "11000-12000 /one+0",
        "12000-13000 /named+2000",
        "13000-14000 /all+1000",
    ];
    assert_eq!(shape(&mut timeline, 2), expected);
}

/// A hint with an overlapped range ends at the exec; its neighbours remain.
#[test]
fn hints_end_one_by_one() {
    let mut timeline = timeline_with(&["/a@1,0x10000,0x1000", "/b@1,0x20000,0x1000"]);
    timeline.map(&code(1, 0x20000, 0x1000, 0, "//anon"));
    timeline.comm(Pid(1), Tid(1), b"next", true);
    assert_eq!(shape(&mut timeline, 1), ["10000-11000 /a+0"]);
    timeline.map(&code(1, 0x10000, 0x1000, 0, "//anon"));
    timeline.comm(Pid(1), Tid(1), b"last", true);
    assert!(shape(&mut timeline, 1).is_empty());
}
