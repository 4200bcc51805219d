//! Files that the server opens, according to strace. Without strace, the test is skipped.

use std::process::Command;

use serde_json::json;

use super::client::Client;
use crate::support::cases::{Case, sysroot};
use crate::support::run::empty_folder;

/// Returns true if strace works.
fn can_trace() -> bool {
    let mut attempt = Command::new("strace");
    attempt.args(["-qq", "-o", "/dev/null", "true"]).stderr(std::process::Stdio::null());
    attempt.status().is_ok_and(|status| status.success())
}

#[test]
fn nothing_outside_the_recordings_is_opened() {
    if !can_trace() {
        return;
    }
    let folder = empty_folder("mcp-traced");
    for (case, name) in [("inlines-gcc", "named.data"), ("recursion-rs", "other.data")] {
        std::fs::copy(Case::named(case).folder.join("perf.data"), folder.join(name)).unwrap();
    }
    let log = folder.join("log");
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-qq", "-s", "4096", "-e", "trace=%file,connect,execve", "-o"]);
    command.arg(&log).arg(env!("CARGO_BIN_EXE_unwind-perf"));
    command.args(["mcp", "named.data", "--sysroot"]).arg(sysroot());
    command.current_dir(&folder).env_clear();
    let client = Client::started(command);
    for path in ["other.data", "../mcp-traced/other.data", "/etc/passwd"] {
        client.refused("top", &json!({ "recording": path }));
        client.refused("source", &json!({ "function": path }));
        client.refused("diff", &json!({ "before": "named.data", "after": path }));
    }
    for tool in ["recordings", "top", "tree", "quality"] {
        client.answer(tool, &json!({}));
    }
    client.answer("source", &json!({ "function": "main", "instructions": true }));
    client.answer("callers", &json!({ "function": "main" }));
    client.end().expect_status(0);
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("\"named.data\""), "strace saw nothing");
    for word in ["other.data", "/passwd", "connect("] {
        let seen: Vec<&str> = log.lines().filter(|line| line.contains(word)).collect();
        assert_eq!(seen, Vec::<&str>::new(), "{word}");
    }
    let started = log.lines().filter(|line| line.contains("execve(")).count();
    assert_eq!(started, 1, "{log}");
    // Every opened file is the recording, below the sysroot, or of the system's loader and kernel.
    let root = sysroot().to_str().unwrap().to_owned();
    let opened = log.lines().filter(|line| line.contains("open") && !line.contains("ENOENT"));
    let usual = [
        "\"named.data\"",
        &root,
        "RESOLVE_IN_ROOT",
        "/etc/ld.so.",
        "/lib/",
        "/lib64/",
        "/proc/",
        "/sys/",
        "/dev/",
    ];
    let others: Vec<&str> = opened
        .filter(|line| line.contains('"') && !usual.iter().any(|it| line.contains(it)))
        .collect();
    assert_eq!(others, Vec::<&str>::new());
}
