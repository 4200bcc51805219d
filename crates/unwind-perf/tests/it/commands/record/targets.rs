//! `record --cgroup` and `--container`, with scripts in place of perf and of the container runtimes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::folder;
use crate::support::run::{Ran, command, finish};

/// Runs `record` with the folder's programs only.
fn record(folder: &Path, arguments: &[&str]) -> Ran {
    let all = [&["record", "--perf", "./perf", "--no-store", "-o", "r.data"], arguments].concat();
    let mut command = command(folder, &all);
    finish(command.env("HOME", folder).env("PATH", folder).spawn().expect("the command starts"))
}

pub(super) fn program(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), format!("#!/bin/sh\n{text}\n")).expect("a script");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join(name), mode).expect("executable");
}

#[test]
fn the_answers_of_all_runtimes_are_in_the_error() {
    let folder = folder("record-container-none");
    let message = |name: &str| record(&folder, &["--container", name]).expect_status(125).stderr;
    assert_eq!(
        message("web"),
        "unwind-perf: --container web: none of docker, podman, nerdctl, crictl, machinectl is installed; use --cgroup \
         NAME\n"
    );
    program(&folder, "docker", r#"echo; echo "Error: No such container: $6" >&2; exit 1"#);
    program(&folder, "podman", "echo c0ffee 0");
    program(&folder, "machinectl", "exit 3");
    assert_eq!(
        message("--web"),
        "unwind-perf: --container --web: no runtime runs it; docker: Error: No such container: --web; podman: it is \
         stopped; machinectl: no process id (exit status: 3); not installed: nerdctl, crictl\n"
    );
    program(
        &folder,
        "docker",
        r#"[ "$*" = "container inspect --format {{.Id}} {{.State.Pid}} -- web" ] && echo c0ffee 999999999"#,
    );
    assert_eq!(
        message("web"),
        "unwind-perf: --container web: its first process 999999999 is not on this machine; record on that of the runtime\n"
    );
}

#[test]
fn crictl_finds_a_name() {
    let folder = folder("record-container-crictl");
    let inspect = "inspect --output go-template --template {{.status.id}} {{.info.pid}} --";
    let crictl = |ids: &str| {
        let text = format!(
            "case \"$*\" in\n'ps --quiet --name=^web$') printf '{ids}' ;;\n'{inspect} 5f') echo 5f 999999999 ;;\n\
             *) echo no such id >&2; exit 1 ;;\nesac"
        );
        program(&folder, "crictl", &text);
    };
    let message = |name: &str| record(&folder, &["--container", name]).expect_status(125).stderr;
    crictl("5f\\n");
    assert_eq!(
        message("web"),
        "unwind-perf: --container web: its first process 999999999 is not on this machine; record on that of the runtime\n"
    );
    let missing = "not installed: docker, podman, nerdctl, machinectl";
    let unknown = |reason: &str| {
        format!("unwind-perf: --container web: no runtime runs it; crictl: {reason}; {missing}\n")
    };
    crictl("5f\\n6a\\n");
    assert_eq!(message("web"), unknown("the name of 5f, 6a"));
    crictl("");
    assert_eq!(message("web"), unknown("no such id"));
    assert_eq!(message(".*"), unknown("no such id").replace("web", ".*"));
}

/// Control groups cannot be created everywhere; the group of a process is a real one if it is not the root.
#[test]
fn the_group_of_the_first_process_is_recorded() {
    let folder = folder("record-container-group");
    program(&folder, "docker", "echo $PPID");
    let ran = record(&folder, &["--container", "web", "--", "/bin/true"]);
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let is = |line: &str, kind: &str| line.split(' ').nth(2) == Some(kind);
    let of_perf = |line: &str| is(line, "cgroup") && line.contains("perf_event");
    let is_v1 = mounts.lines().any(of_perf);
    let groups = fs::read_to_string("/proc/self/cgroup").expect("groups");
    let is_used =
        |line: &&str| if is_v1 { line.contains("perf_event") } else { line.starts_with("0:") };
    let group = groups.lines().find(is_used).and_then(|line| line.splitn(3, ':').nth(2));
    match group {
        Some(group) if ran.status == 0 => {
            assert!(group != "/", "{}", ran.stderr);
            let words = format!(" -a -G {} -o r.data -- /bin/true\n", &group[1..]);
            assert!(ran.stderr.contains(&words), "{}", ran.stderr);
            let started = "docker runs web; its first process is ";
            assert!(ran.stderr.starts_with(started), "{}", ran.stderr);
            let group = ["--cgroup", group, "--", "/bin/true"];
            let ran = record(&folder, &group).expect_status(0);
            assert!(ran.stderr.contains(&words), "{}", ran.stderr);
        }
        Some("/") if mounts.lines().any(|line| of_perf(line) || is(line, "cgroup2")) => {
            let message = "it has no control group of its own here; record its processes (-p PID)";
            assert!(ran.expect_status(125).stderr.contains(message));
        }
        // There is none, or not below the mount, as in a container.
        _ => assert_eq!(ran.status, 125, "{}", ran.stderr),
    }
}

#[test]
fn a_missing_group_is_an_error_before_perf() {
    let folder = folder("record-cgroup-missing");
    let ran = record(&folder, &["--cgroup", "no-such/group", "--", "/bin/true"]).expect_status(125);
    let start = "unwind-perf: --cgroup no-such/group: no ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(!folder.join("r.data").exists());
}
