//! Renewal: the timeline of a long recording forgets what no process maps any more.

use std::sync::{Arc, Mutex, PoisonError};

use address::{Avma, FileOffset, Pid, Tid, Timestamp};
use budget::Exhausted;
use module_map::{Hint, JitDump, JitLoad, JitReader, MapEvent, Timeline};

use crate::support::{code, code_of, shape};

fn paths(timeline: &Timeline) -> Vec<String> {
    let path = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    timeline.modules().iter().map(|module| path(&module.path)).collect()
}

#[test]
fn spaces_stay_and_modules_without_a_mapping_go() {
    let mut timeline = Timeline::new();
    let anon =
        |pid, start| MapEvent { offset: FileOffset(0), ..code(pid, start, 0x1000, 0, "//anon") };
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/before"));
    timeline.comm(Pid(1), Tid(1), b"shell", true);
    timeline.map(&code_of(code(1, 0x1000, 0x2000, 0x500, "/bin/sh"), "ab"));
    timeline.map(&anon(1, 0x8000));
    timeline.fork(Pid(2), Tid(2), Pid(1), Tid(1));
    timeline.map(&code(2, 0x1800, 0x100, 0, "/lib/x.so"));
    timeline.map(&MapEvent {
        kernel: true,
        ..code(-1, 0xffff_0000, 0x1000, 0, "[kernel.kallsyms]_text")
    });
    // The child gets its own module for the memory that it inherited.
    let before = [1, 2].map(|pid| shape(&mut timeline, pid));
    assert_eq!(timeline.modules().len(), 6);
    assert_eq!(timeline.modules()[5].inherited_from, Some(timeline.modules()[2].id));
    let first = timeline.modules()[0].timeline;

    timeline.renew();
    assert_eq!([1, 2].map(|pid| shape(&mut timeline, pid)), before);
    let mut remaining = paths(&timeline);
    remaining.sort_unstable();
    assert_eq!(remaining, ["//anon", "//anon", "/bin/sh", "/lib/x.so", "[kernel.kallsyms]"]);
    let modules = timeline.modules();
    assert!(modules.iter().enumerate().all(|(at, module)| module.id.index() == at));
    assert!(modules.iter().all(|module| module.timeline != first));
    let inherited = modules.iter().find_map(|module| Some((module.owner, module.inherited_from?)));
    let Some((Some(Pid(2)), parent)) = inherited else { panic!("{inherited:?}") };
    assert_eq!(modules[parent.index()].owner, Some(Pid(1)));
    let shell = modules.iter().find(|module| *module.path == *b"/bin/sh").expect("a module");
    assert_eq!(shell.identity.build_id.map(|id| id.to_string()), Some("ab".to_owned()));
    assert!(timeline.kernel().lookup(Avma(0xffff_0010)).is_some());

    // Known names are those of the new table.
    timeline.map(&code_of(code(3, 0x1000, 0x2000, 0x500, "/bin/sh"), "ab"));
    timeline.map(&code(3, 0x5000, 0x1000, 0, "/bin/before"));
    assert_eq!(shape(&mut timeline, 3), ["1000-3000 /bin/sh+500", "5000-6000 /bin/before+0"]);
    assert_eq!(timeline.modules().len(), 6);
}

#[test]
fn names_of_threads_that_ended_are_forgotten() {
    let mut timeline = Timeline::new();
    timeline.comm(Pid(1), Tid(1), b"main", false);
    for (tid, name) in [(2, b"reader"), (3, b"writer"), (4, b"waiter")] {
        timeline.comm(Pid(1), Tid(tid), name, false);
    }
    timeline.exit(Pid(1), Tid(2));
    timeline.exit(Pid(1), Tid(3));
    let names = |timeline: &mut Timeline| {
        [1, 2, 3, 4].map(|tid| {
            let comm = timeline.comm_of(Pid(1), Tid(tid));
            String::from_utf8_lossy(timeline.comm_name(comm)).into_owned()
        })
    };
    assert_eq!(names(&mut timeline), ["main", "reader", "writer", "waiter"]);
    // The id is used again.
    timeline.comm(Pid(1), Tid(3), b"third", false);
    timeline.renew();
    assert_eq!(names(&mut timeline), ["main", "main", "third", "waiter"]);
}

#[test]
fn hints_stay() {
    let mut timeline = Timeline::new();
    let hint = Hint::parse("/lib/reported.so@1,0x10800,0x800,0x100").expect("a hint");
    timeline.hint(&hint, None, hint.offset.unwrap_or(FileOffset(0)));
    timeline.map(&code(1, 0x10000, 0x1000, 0, "/lib/file.so"));
    let before = shape(&mut timeline, 1);
    timeline.renew();
    assert_eq!(shape(&mut timeline, 1), before);
    timeline.map(&code(1, 0x10000, 0x2000, 0, "/lib/file.so"));
    let after = ["10000-10800 /lib/file.so+0", "10800-11000 /lib/reported.so+100"];
    assert_eq!(shape(&mut timeline, 1)[..2], after);
}

/// Dumps of two processes: one load at once, and one later. Lists those that are read.
#[derive(Debug, Default)]
struct Dumps(Arc<Mutex<Vec<i32>>>);

impl JitReader for Dumps {
    fn read(&self, _: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pid.0);
        let load = |time, start| JitLoad {
            time: Timestamp(time),
            start: Avma(start),
            len: 0x100,
            offset: FileOffset(0x40),
        };
        let loads = if pid.0 == 1 {
            vec![load(20, 0x9000)]
        } else {
            vec![load(20, 0x9000), load(90, 0x9800)]
        };
        Ok(Some(JitDump { begun: Timestamp(20), loads }))
    }
}

#[test]
fn code_of_dumps_stays_while_it_is_mapped_or_pending() {
    let mut timeline = Timeline::new();
    let dumps = Dumps::default();
    let read = Arc::clone(&dumps.0);
    timeline.read_jit_with(Box::new(dumps));
    timeline.advance(Timestamp(20));
    for pid in [1, 2] {
        let path = format!("/tmp/jit-{pid}.dump");
        timeline.map(&code(pid, 0x1000, 0x1000, 0, &path));
    }
    timeline.advance(Timestamp(30));
    // Both execute another program; a load of the second one is still to come.
    for pid in [1, 2] {
        timeline.comm(Pid(pid), Tid(pid), b"other", true);
    }
    timeline.renew();
    assert_eq!(paths(&timeline), ["/tmp/jit-2.dump"]);
    assert_eq!(timeline.jit_modules().count(), 1);
    timeline.advance(Timestamp(90));
    assert_eq!(shape(&mut timeline, 2), ["9800-9900 /tmp/jit-2.dump+40"]);
    timeline.renew();
    assert_eq!(shape(&mut timeline, 2), ["9800-9900 /tmp/jit-2.dump+40"]);
    // A known dump is not read again, a forgotten one is.
    timeline.map(&code(2, 0x1000, 0x1000, 0, "/tmp/jit-2.dump"));
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/tmp/jit-1.dump"));
    assert_eq!(*read.lock().unwrap_or_else(PoisonError::into_inner), [1, 2, 1]);
}
