//! Checks of `record` before perf is started, with scripts in place of perf.

use std::fs;
use std::path::Path;

use super::targets::program;
use crate::support::run::{Ran, command, empty_folder, finish, listing};

/// Runs `record` of a program that leaves a file, with the folder's programs only.
fn record(folder: &Path, arguments: &[&str]) -> Ran {
    let all = [&["record", "--no-store"], arguments, &["--", "./program"]].concat();
    let mut command = command(folder, &all);
    finish(command.env("HOME", folder).env("PATH", folder).spawn().expect("the command starts"))
}

/// Runs `record` with a perf that answers `perf version` like this, and returns the only message.
fn refused(folder: &Path, answer: &str, arguments: &[&str]) -> String {
    let perf = format!(
        "case \"$1\" in\nversion) {answer} ;;\nrecord) [ \"$2\" = -h ] || echo > started ;;\nesac"
    );
    program(folder, "perf", &perf);
    let ran = record(folder, arguments).expect_status(125);
    assert_eq!(listing(folder), ["perf", "program"], "{}", ran.stderr);
    ran.stderr
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = empty_folder(name);
    program(&folder, "program", "echo > started");
    folder
}

#[test]
fn a_missing_perf_is_named_with_its_package() {
    let folder = folder("record-perf-missing");
    let ran = record(&folder, &[]).expect_status(125);
    let start = "unwind-perf: perf is not installed; run ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let start =
        format!("unwind-perf: perf is not installed for the kernel {}; run ", release.trim());
    for answer in [
        "echo 'WARNING: perf not found for kernel 5.4.0-121' >&2; exit 2",
        "echo 'E: linux-perf-5.10 is not installed.' >&2; exit 1",
    ] {
        let message = refused(&folder, answer, &[]);
        assert!(message.starts_with(&start), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn an_old_perf_is_not_started() {
    let folder = folder("record-perf-old");
    for (version, option, need) in [
        (
            "3.2.101",
            &[][..],
            "record needs 3.7 or later; install a newer one, or name it by --perf",
        ),
        (
            "4.2",
            &["--off-cpu"],
            "--off-cpu needs 4.3 or later; install a newer one, or omit --off-cpu",
        ),
        (
            "5.9.15",
            &["--unwind"],
            "--unwind needs 5.10 or later; install a newer one, or omit --unwind",
        ),
    ] {
        let numbers: Vec<&str> = version.split('.').collect();
        let expected =
            format!("unwind-perf: perf is version {}.{}, and {need}\n", numbers[0], numbers[1]);
        assert_eq!(refused(&folder, &format!("echo perf version {version}"), option), expected);
    }
    // An ability that a distribution added counts more than the version.
    let perf = "case \"$1 $2\" in\n'version ') echo perf version 4.18.0-553.el8 ;;\n'record -h') echo 'fifo:ctl-fifo' ;;\n\
                'version --build-options') ;;\n*) exit 129 ;;\nesac";
    program(&folder, "perf", perf);
    let ran = record(&folder, &["-q", "--unwind"]).expect_status(125);
    assert_eq!(ran.stderr, "unwind-perf: perf did not start to record (exit status: 129)\n");
}

#[test]
fn a_process_that_has_ended_is_named() {
    let folder = folder("record-no-process");
    let message = refused(&folder, "echo perf version 6.1", &["-p", "999999999"]);
    assert_eq!(message, "unwind-perf: -p: there is no process 999999999\n");
}

/// A trial precedes a recording only if this process lacks rights.
#[test]
fn a_failed_trial_is_explained() {
    let folder = folder("record-trial");
    let perf = "case \"$*\" in\n*/trial*) echo 'Permission error mapping pages.' >&2; exit 255 ;;\n\
                record*-o*) exit 129 ;;\nesac";
    program(&folder, "perf", perf);
    let ran = record(&folder, &["-q", "-m", "1G"]).expect_status(125);
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:\t"));
    let capabilities = u64::from_str_radix(capabilities.expect("capabilities"), 16).expect("hex");
    let is_limited = capabilities & (1 << 38 | 1 << 21) == 0 || status.contains("\nSeccomp:\t2\n");
    if is_limited {
        let start = "unwind-perf: the buffers exceed the memory that users may lock; run ";
        assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
        assert!(ran.stderr.ends_with(", or choose a smaller -m\n"), "{}", ran.stderr);
    } else {
        assert_eq!(ran.stderr, "unwind-perf: perf wrote no recording (exit status: 129)\n");
    }
}
