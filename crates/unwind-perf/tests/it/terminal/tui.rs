//! The interactive view on a pseudo-terminal: keys, signals, streams, and the terminal afterwards.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord};

use crate::support::cases::{Case, sysroot};
use crate::support::run::command;

use super::screen::picture;

const PATIENCE: Duration = Duration::from_secs(60);
/// Ends the alternate screen.
const LEAVE: &[u8] = b"\x1b[?1049l";

/// A view on a terminal of 80 columns and 24 lines.
struct View {
    child: Child,
    keys: File,
    theirs: File,
    before: Termios,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl View {
    /// Starts the command in the folder of a case; `input` is its standard input.
    fn start(case: &Case, arguments: &[&str], input: Stdio) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal");
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("a size");
        let name = ptsname(&ours, Vec::new()).expect("its name");
        let name = name.to_str().expect("UTF-8");
        let theirs = File::options().read(true).write(true).open(name).expect("open");
        let before = tcgetattr(&theirs).expect("its state");
        let mut started = command(&case.folder, &[&["tui"], arguments].concat());
        started.env("TERM", "xterm").stdin(input);
        started.stdout(Stdio::from(theirs.try_clone().expect("a terminal")));
        let child = started.spawn().expect("the command starts");
        let ours = File::from(ours);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, text) = (ours.try_clone().expect("a terminal"), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                text.lock().expect("no panic").extend_from_slice(&bytes[..read]);
            }
        });
        Self { child, keys: ours, theirs, before, shown }
    }

    /// Returns all that the terminal was sent.
    fn sent(&self) -> Vec<u8> {
        self.shown.lock().expect("no panic").clone()
    }

    /// Waits until the terminal shows a text. Returns its lines.
    fn wait(&self, expected: &str) -> Vec<String> {
        let begin = Instant::now();
        loop {
            let lines = picture(&self.sent());
            if lines.iter().any(|line| line.contains(expected)) {
                return lines;
            }
            assert!(begin.elapsed() < PATIENCE, "{expected}: {lines:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Waits for the end, and checks that the terminal is as before. Returns the messages.
    fn end(mut self) -> (ExitStatus, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                break status;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not end: {:#?}", picture(&self.sent()));
            std::thread::sleep(Duration::from_millis(5));
        };
        // The last bytes may still be on their way.
        while !self.sent().ends_with(LEAVE) {
            assert!(begin.elapsed() < PATIENCE, "{:?}", String::from_utf8_lossy(&self.sent()));
            std::thread::sleep(Duration::from_millis(5));
        }
        let after = tcgetattr(&self.theirs).expect("its state");
        assert_eq!(format!("{after:?}"), format!("{:?}", self.before));
        let mut messages = String::new();
        let mut stderr = self.child.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut messages).expect("messages");
        (status, messages)
    }
}

/// Starts the view of a case and waits for its table.
fn view_of(case: &str) -> View {
    let files = ["perf.data", "--sysroot", "../../sysroot"];
    let view = View::start(&Case::named(case), &files, Stdio::null());
    view.wait("samples of cpu-clock");
    view
}

#[test]
fn keys_browse_and_quit() {
    let mut view = view_of("recursion-rs");
    let lines = view.wait("1 Functions");
    let expected = [
        " 1 Functions  2 Tree  3 Bottom-up  4 Callers  5 Source                perf.data",
        " no filter; m opens the menu of a function",
        "▼   own   incl.      samples        function",
        " 43.9 %  43.9 %           18 ██████ <u64 as core::c…artialOrd>::lt  recursion-rs",
    ];
    assert_eq!(lines[..expected.len()], expected);
    view.press("2");
    view.wait("- ");
    view.press("h");
    view.wait("As in perf report:");
    view.press("q");
    let size = Winsize { ws_row: 12, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&view.keys, size).expect("a size");
    kill_process(pid(&view), Signal::WINCH).expect("a signal");
    let begin = Instant::now();
    while !picture(&view.sent())[11].ends_with("h help") {
        assert!(begin.elapsed() < PATIENCE, "{:#?}", picture(&view.sent()));
    }
    view.press("q");
    let (status, messages) = view.end();
    assert_eq!((status.code(), messages.as_str()), (Some(0), ""));
}

fn pid(view: &View) -> Pid {
    Pid::from_child(&view.child)
}

/// Returns true if this process ignores a signal, and its children with it.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("a mask") >> (signal - 1) & 1 == 1
}

#[test]
fn signals_and_control_c_restore_the_terminal() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2), (Signal::HUP, 1)] {
        // Under `nohup`, programs ignore SIGHUP on purpose.
        if is_ignored(number) {
            continue;
        }
        let view = view_of("recursion-rs");
        kill_process(pid(&view), signal).expect("a signal");
        let (status, messages) = view.end();
        assert_eq!((status.signal(), messages.as_str()), (i32::try_from(number).ok(), ""));
    }
    let mut view = view_of("recursion-rs");
    view.press("/\x03");
    assert_eq!(view.end().0.code(), Some(0));
}

#[test]
fn colours_are_those_of_the_option() {
    let files = ["perf.data", "--sysroot", "../../sysroot", "--color"];
    for (choice, has_colors) in [("never", false), ("always", true), ("auto", true)] {
        let arguments = [&files[..], &[choice]].concat();
        let mut view = View::start(&Case::named("recursion-rs"), &arguments, Stdio::null());
        view.wait("samples of cpu-clock");
        view.press("q");
        let text = String::from_utf8_lossy(&view.sent()).into_owned();
        assert_eq!(
            text.contains("\x1b[38;5;") || text.contains("\x1b[36m"),
            has_colors,
            "{text:?}"
        );
        view.end();
    }
}

/// Returns the start of a recorder's stream and its rounds of one sample each.
fn stream(samples: u64) -> Vec<u8> {
    let mut recording = PerfDataBuilder::new(Endian::Little);
    recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    recording.describe_events();
    for number in 0..samples {
        recording.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20 + number * 100_000_000));
        recording.user_record(&UserRecord::FinishedRound);
    }
    recording.build_pipe(&PipeLayout::default())
}

fn feed(input: &mut ChildStdin, bytes: &[u8]) {
    input.write_all(bytes).and_then(|()| input.flush()).expect("read");
}

/// Returns the number of samples in the line of state.
fn samples(lines: &[String]) -> u64 {
    let number = lines.last().and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn a_stream_is_followed_and_left() {
    let mut view = View::start(&Case::named("plt"), &["-"], Stdio::piped());
    let mut input = view.child.stdin.take().expect("a pipe");
    let (first, all) = (stream(8), stream(40));
    assert!(all.starts_with(&first));
    feed(&mut input, &first);
    // The last round waits for the next one.
    let state = "samples of cycles:u; 0.0 % of stacks complete; reading, 0 MB";
    let before = samples(&view.wait(state));
    assert!((2..=8).contains(&before), "{before}");
    feed(&mut input, &all[first.len()..]);
    let begin = Instant::now();
    while samples(&picture(&view.sent())) <= 8 {
        assert!(begin.elapsed() < PATIENCE, "{:#?}", picture(&view.sent()));
        std::thread::sleep(Duration::from_millis(5));
    }
    view.press("a");
    view.press("s");
    view.wait("No instructions: the start of this function is unknown.");
    // The stream is still open.
    view.press("qq");
    let (status, messages) = view.end();
    assert_eq!((status.code(), messages.as_str()), (Some(0), ""));
}

#[test]
fn a_stream_that_ends_stays_shown() {
    let mut view = View::start(&Case::named("plt"), &["-"], Stdio::piped());
    let mut input = view.child.stdin.take().expect("a pipe");
    feed(&mut input, &stream(3));
    drop(input);
    view.wait(" 3 samples of cycles:u; 0.0 % of stacks complete     ");
    view.press("i");
    view.wait("3 samples, 3 frames.");
    view.press("qq");
    assert_eq!(view.end().0.code(), Some(0));
}

#[test]
fn what_is_no_terminal_is_refused() {
    let sysroot = sysroot();
    let files = ["perf.data", "--sysroot", sysroot.to_str().expect("UTF-8")];
    let case = Case::named("recursion-rs");
    let refused = |arguments: &[&str]| {
        let arguments = [&["tui"], &files[..], arguments].concat();
        crate::support::run::run(&case.folder, &arguments).expect_status(2).stderr
    };
    assert_eq!(
        refused(&[]),
        "unwind-perf: standard output is not a terminal; use unwind-perf top or unwind-perf tree\n"
    );
    assert_eq!(
        refused(&["-o", "x"]),
        "unwind-perf: tui writes no file; use unwind-perf top or unwind-perf tree with -o FILE\n"
    );
}
