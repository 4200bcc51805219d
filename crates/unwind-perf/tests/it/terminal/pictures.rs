//! Pages and flame graphs go to files, and the progress bar is gone before output.

use std::path::Path;

use crate::support::cases::{Case, sysroot};
use crate::support::pty::{OnTerminal, on_terminal};
use crate::support::run::{empty_folder, listing};

/// Runs the command for a case in another folder.
fn in_folder(folder: &Path, case: &str, arguments: &[&str], with_messages: bool) -> OnTerminal {
    let recording = Case::named(case).folder.join("perf.data");
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8"), "--no-open"];
    let recording = [recording.to_str().expect("UTF-8")];
    on_terminal(folder, &[arguments, &recording, &files].concat(), 80, with_messages)
}

#[test]
fn pages_and_flame_graphs_go_to_new_files() {
    let folder = empty_folder("terminal-pictures");
    let run = |arguments: &[&str]| {
        let ran = in_folder(&folder, "plt", arguments, false);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        ran.text
    };
    let size = |name: &str| std::fs::metadata(folder.join(name)).expect("the file").len() as f64;
    let text = run(&["report", "-q"]);
    let kilobytes = size("perf.data.html") / 1e3;
    assert_eq!(text, format!("Wrote perf.data.html ({kilobytes:.1} kB).\n"));
    let first = std::fs::read(folder.join("perf.data.html")).expect("the page");
    assert!(first.starts_with(b"<!DOCTYPE html>"));
    let text = run(&["-q", "-f", "report"]);
    assert!(text.starts_with("Wrote perf.data.2.html ("), "{text}");
    assert_eq!(std::fs::read(folder.join("perf.data.html")).expect("the page"), first);
    std::os::unix::fs::symlink("nowhere", folder.join("perf.data.svg")).expect("a link");
    let text = run(&["flamegraph", "-q"]);
    let kilobytes = size("perf.data.2.svg") / 1e3;
    assert_eq!(text, format!("Wrote perf.data.2.svg ({kilobytes:.1} kB).\n"));
    let expected = ["perf.data.2.html", "perf.data.2.svg", "perf.data.html", "perf.data.svg"];
    assert_eq!(listing(&folder), expected);
    // The summary follows, and a named file is written without a message.
    let ran = in_folder(&folder, "plt", &["report"], false);
    assert!(ran.stderr.starts_with("19 samples, "), "{}", ran.stderr);
    assert_eq!(run(&["report", "-q", "-o", "named.html"]), "");
}

#[test]
fn a_folder_without_room_is_reported() {
    let folder = empty_folder("pictures-nowhere");
    let gone = folder.join("gone");
    std::fs::create_dir(&gone).expect("a folder");
    std::fs::set_permissions(&gone, std::os::unix::fs::PermissionsExt::from_mode(0o500))
        .expect("set");
    let ran = in_folder(&gone, "plt", &["report", "-q"], false);
    // Root writes anywhere.
    if ran.status == Some(2) {
        let expected = "unwind-perf: cannot write perf.data.html in this directory; name another file with -o FILE: \
                        Permission denied (os error 13)\n";
        assert_eq!(ran.stderr, expected);
    }
    let ran = in_folder(&folder, "plt", &["-q", "-f", "json"], false);
    let expected = "unwind-perf: --no-open has no effect on the format json\n";
    assert_eq!((ran.stderr.as_str(), ran.status), (expected, Some(2)));
}

/// The bar is drawn on the same terminal.
#[test]
fn the_bar_is_cleared_before_output() {
    let folder = empty_folder("bar");
    let recording = Case::named("plt").folder.join("perf.data");
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8"), recording.to_str().expect("UTF-8")];
    for (arguments, first) in [
        (&["--color", "never"][..], "19 samples of"),
        (&["top", "--color", "never"], "19 samples of"),
        (&["tree", "--color", "never"], "19 samples of"),
        (&["-f", "folded"], "plt;"),
    ] {
        let ran = on_terminal(&folder, &[arguments, &files].concat(), 80, true);
        let (before, output) = ran.text.split_once(first).expect("the output");
        assert!(before.contains("reading 0s"), "{before:?}");
        assert!(before.ends_with("\r\x1b[2K"), "{before:?}");
        assert!(!ran.text.contains("writing"), "{before:?}");
        assert!(!output.contains("\x1b[2K"), "{output:?}");
        assert!(output.contains("19 of 19 stacks") || output.contains("All 19 stacks"), "{output}");
    }
    let ran = on_terminal(&folder, &[&["-o", "x.json"], &files[..]].concat(), 80, true);
    assert!(ran.text.contains("writing 0s"), "{}", ran.text);
}
