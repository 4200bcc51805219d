//! Partial outputs are removed if a signal ends the command.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::cases::Case;
use crate::support::run::{command, empty_folder, listing, run};

/// Waits until a folder has `entries` entries.
fn wait_for(folder: &Path, entries: usize) {
    let begun = Instant::now();
    while listing(folder).len() != entries {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", listing(folder));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns true if this process ignores a signal, which its children inherit. A shell's background jobs ignore SIGINT.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("hexadecimal") & (1 << (signal - 1)) != 0
}

/// Returns the files below a folder that a process has open, with the kernel's names for them.
fn open_files(process: u32, folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{process}/fd")).expect("its descriptors");
    let folder = folder.canonicalize().expect("a folder");
    let opened = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let below = opened.filter(|path| path.starts_with(&folder) && *path != folder);
    below.map(|path| path.display().to_string()).collect()
}

/// Starts a run that writes its stream while the recording arrives; the recording never ends.
fn unfinished(folder: &Path) -> (Child, ChildStdin) {
    let mut command = command(folder, &["-q", "-f", "hotspot", "-o", "out", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
    let mut input = child.stdin.take().expect("its input");
    let recording = Case::named("plt").bytes();
    input.write_all(&recording[..recording.len() / 2]).expect("taken");
    let begun = Instant::now();
    while open_files(child.id(), folder).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no output is open");
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, input)
}

/// Returns true if a folder supports files without names.
fn has_nameless(folder: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    openat(CWD, folder, OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR | Mode::WUSR).is_ok()
}

#[test]
fn temporary_files_are_removed() {
    let signals = [("TERM", 15), ("INT", 2), ("HUP", 1)];
    for (name, number) in signals.into_iter().filter(|&(_, number)| !is_ignored(number)) {
        let folder = empty_folder(&format!("signals-{name}"));
        let (mut child, _input) = unfinished(&folder);
        let killed = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
        assert!(killed.expect("kill starts").success());
        assert_eq!(child.wait().expect("its end").signal(), Some(number));
        wait_for(&folder, 0);
    }
}

/// A new output has no name until it is complete, so that even SIGKILL leaves no part of it; an old one stays.
#[test]
fn a_kill_leaves_no_part_of_an_output() {
    for (name, before) in [("new", &[][..]), ("old", &["out"])] {
        let folder = empty_folder(&format!("signals-kill-{name}"));
        if !has_nameless(&folder) {
            return;
        }
        before.iter().for_each(|name| std::fs::write(folder.join(name), "old").expect("written"));
        let (mut child, _input) = unfinished(&folder);
        assert_eq!(listing(&folder), before);
        child.kill().expect("killed");
        child.wait().expect("its end");
        assert_eq!(listing(&folder), before);
        assert!(before.is_empty() || std::fs::read(folder.join("out")).expect("old") == b"old");
    }
}

/// The next run that writes there removes leftovers of a killed process, and no other run does.
#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let folder = empty_folder("signals-leftovers");
    let node = rustix::system::uname().nodename().to_bytes().to_vec();
    let machine = node
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let names = [machine, machine ^ 1].map(|it| format!(".unwind-perf-{it:08x}-0123456789abcdef"));
    for name in &names {
        std::fs::write(folder.join(name), "half").expect("written");
    }
    std::fs::write(folder.join("perf.data"), Case::named("plt").bytes()).expect("written");
    run(&folder, &["-q", "-f", "folded", "perf.data"]);
    assert_eq!(listing(&folder).len(), 3);
    run(&folder, &["-q", "-f", "folded", "perf.data", "-o", "out"]);
    assert_eq!(listing(&folder), [names[1].as_str(), "out", "perf.data"]);
}
