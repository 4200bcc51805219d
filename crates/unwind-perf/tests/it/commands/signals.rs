//! What is half done does not stay behind where a signal ends the command.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::cases::Case;
use crate::support::run::{command, empty_folder, listing};

/// Waits until a folder has so many entries.
fn wait_for(folder: &Path, entries: usize) {
    let begun = Instant::now();
    while listing(folder).len() != entries {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", listing(folder));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether this process ignores a signal, as what a shell starts in the background ignores SIGINT: its children do, too.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("hexadecimal") & (1 << (signal - 1)) != 0
}

#[test]
fn temporary_files_are_removed() {
    let signals = [("TERM", 15), ("INT", 2), ("HUP", 1)];
    for (name, number) in signals.into_iter().filter(|&(_, number)| !is_ignored(number)) {
        let folder = empty_folder(&format!("signals-{name}"));
        // The stream is written while the recording comes, of which the end never does.
        let mut command = command(&folder, &["-q", "-f", "hotspot", "-o", "out", "-"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
        let mut input = child.stdin.take().expect("its input");
        let recording = Case::named("plt").bytes();
        input.write_all(&recording[..recording.len() / 2]).expect("taken");
        wait_for(&folder, 1);
        let killed = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
        assert!(killed.expect("kill starts").success());
        assert_eq!(child.wait().expect("its end").signal(), Some(number));
        wait_for(&folder, 0);
    }
}
