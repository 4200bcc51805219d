//! `convert --watch`: the recordings of a folder, as they are finished.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::Fleet;
use crate::support::cases::{Case, sysroot};
use crate::support::run::{command, finish};

struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(fleet: &Fleet, arguments: &[&str]) -> Self {
        let files = sysroot();
        let words = ["convert", "--out", "out", "--watch", "in", "--sysroot"];
        let words = [&words[..], &[files.to_str().expect("UTF-8")], arguments].concat();
        let mut child = command(&fleet.folder, &words).spawn().expect("the command starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, lines }
    }

    /// Returns the next manifest; `None` at the end of the output.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("a line");
        (read > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a process");
    }
}

#[test]
fn finished_recordings_are_converted_until_a_signal() {
    let fleet = Fleet::new("watch");
    let folder = fleet.folder.join("in");
    std::fs::create_dir(&folder).expect("a folder");
    let samples = |manifest: Option<Value>| manifest.expect("a line")["samples"].as_u64();
    fleet.add("inlines-gcc", "in/first.data");
    fleet.add("inlines-gcc", "in/.hidden.data");
    // Its writer has not closed it.
    let bytes = Case::named("two-events").bytes();
    let mut open = std::fs::File::create(folder.join("open.data")).expect("a file");
    open.write_all(&bytes[..bytes.len() / 2]).expect("written");
    let mut watching = Watching::start(&fleet, &[]);
    assert_eq!(samples(watching.next()), Some(35));
    fleet.add("syscalls", "moved.data");
    std::fs::rename(fleet.folder.join("moved.data"), folder.join("moved.data")).expect("renamed");
    assert_eq!(samples(watching.next()), Some(48));
    open.write_all(&bytes[bytes.len() / 2..]).expect("written");
    drop(open);
    assert_eq!(samples(watching.next()), Some(52));
    watching.signal(Signal::TERM);
    assert_eq!(watching.next(), None);
    let ran = finish(watching.child).expect_status(0);
    assert!(ran.stderr.contains("3 recordings: 3 ok, "), "{}", ran.stderr);
    // The next watch finds recordings that arrived meanwhile, and knows the converted ones.
    fleet.add("plt", "in/later.data");
    let mut watching = Watching::start(&fleet, &["-q", "--at-once", "1"]);
    let all: Vec<_> = (0..4).map(|_| samples(watching.next()).expect("a number")).collect();
    assert_eq!(all, [35, 19, 48, 52]);
    watching.signal(Signal::INT);
    assert_eq!(finish(watching.child).expect_status(0).stderr, "");
    assert_eq!(fleet.files().len(), 8);
}

#[test]
fn a_signal_finishes_the_recording_in_progress() {
    let fleet = Fleet::new("signal");
    std::fs::create_dir(fleet.folder.join("in")).expect("a folder");
    fleet.add("inlines-gcc", "in/a.data");
    fleet.add("two-events", "in/b.data");
    let script = fleet
        .script("echo > started; while [ ! -e go ]; do sleep 0.01; done; exec \"$REAL\" \"$@\"");
    let mut watching = Watching::start(&fleet, &["--program", &script, "--at-once", "1"]);
    while !fleet.folder.join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    watching.signal(Signal::TERM);
    let mut stderr = BufReader::new(watching.child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("a line");
    assert_eq!(line, "finishing the recordings in progress; a second signal ends them\n");
    std::fs::write(fleet.folder.join("go"), "").expect("written");
    assert_eq!(watching.next().expect("a line")["samples"], 35);
    assert_eq!(watching.next(), None);
    finish(watching.child).expect_status(0);
    assert_eq!(fleet.files().len(), 2);
}
