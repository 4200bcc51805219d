//! `--probe`, with a script in place of perf that prints the kernel's list of probes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{PERF, folder, record};

const EVENTS: &str = "/sys/kernel/tracing/uprobe_events";

/// Returns a folder whose program has a name that no other test uses; `None` if this machine cannot set probes.
fn probed(name: &str) -> Option<(PathBuf, String)> {
    if fs::OpenOptions::new().append(true).open(EVENTS).is_err() {
        #[allow(clippy::print_stderr, reason = "says that the test was skipped")]
        {
            eprintln!("skipped: probes need root and tracefs");
        }
        return None;
    }
    let folder = folder(name);
    let program = format!("app_{}", std::process::id());
    fs::rename(folder.join("app"), folder.join(&program)).expect("a program");
    let listing = format!("{PERF}\n").replacen(
        "#!/bin/sh\n",
        &format!(
            "#!/bin/sh\ngrep {program} {EVENTS} > ${{0%/*}}/probes\necho \"$@\" > ${{0%/*}}/words\n"
        ),
        1,
    );
    fs::write(folder.join("perf"), listing).expect("a script");
    Some((folder, program))
}

fn lines(path: &Path, program: &str) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.contains(program)).map(str::to_owned).collect()
}

#[test]
fn probes_exist_only_during_the_recording() {
    let Some((folder, program)) = probed("record_probes") else { return };
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join(&program), mode).expect("executable");
    let command = format!("./{program}");
    for (options, status) in [(&["-q"][..], None), (&["-q", "-e", "nonsense"], Some(125))] {
        let all =
            [options, &["--probe", "known", "--probe", "known%return", "--", &command]].concat();
        let ran = record(&folder, &all);
        if let Some(status) = status {
            ran.expect_status(status);
        }
        let group = format!("probe_{program}");
        let probes = lines(&folder.join("probes"), &program);
        assert_eq!(probes.len(), 2, "{probes:?}");
        assert!(probes[0].starts_with(&format!("p:{group}/known ")), "{probes:?}");
        assert!(probes[1].starts_with(&format!("r:{group}/known__return ")), "{probes:?}");
        let words = fs::read_to_string(folder.join("words")).expect("the words of perf");
        assert!(words.contains(&format!("-e {group}:known -e {group}:known__return ")), "{words}");
        assert!(!words.contains(" -F "), "{words}");
        assert_eq!(lines(Path::new(EVENTS), &program), Vec::<String>::new());
    }
}

#[test]
fn unknown_functions_are_named() {
    let Some((folder, program)) = probed("record_unknown_probe") else { return };
    let command = format!("./{program}");
    let ran = record(&folder, &["--probe", "no_such_function", "--", &command]).expect_status(125);
    assert!(
        ran.stderr.contains("--probe no_such_function: no function no_such_function"),
        "{}",
        ran.stderr
    );
    let words = fs::read_to_string(folder.join("words")).expect("the words of perf");
    assert!(!words.starts_with("record "), "perf does not record: {words}");
}
