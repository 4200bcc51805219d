//! Check of a running program in a separate root: its file is visible through `/proc/PID/root`.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use xtask::command;

use super::{Bench, all_known, none_known};

/// Spins, then stays alive.
const PROGRAM: &str = r#"
#include <unistd.h>
#include "spin.h"
__attribute__((noinline)) static void inner(void) { spin(200000000); spin_sink++; }
__attribute__((noinline)) static void outer(void) { inner(); spin_sink++; }
int main(void)
{
    outer();
    sleep(100);
    return 0;
}
"#;

/// Runs the check.
pub(super) fn check(bench: &Bench) -> Result<String> {
    let root = bench.scratch.join("root");
    std::fs::create_dir_all(&root)?;
    let source = bench.scratch.join("stay.c");
    std::fs::write(&source, PROGRAM)?;
    let mut gcc = command::words("gcc -O2 -g -static");
    gcc.arg("-I").arg(command::root().join("testdata/programs")).arg(&source).arg("-o");
    command::run(gcc.arg(root.join("unwind-perf-stays")))?;

    let data = bench.scratch.join("perf.data");
    let mut perf = command::words("perf record --quiet --no-buildid-cache -e cpu-clock:u -F 499");
    // perf waits for the shell, which ends on request.
    let line = format!("chroot {} /unwind-perf-stays & wait", root.display());
    perf.args(["--call-graph", "dwarf,4096", "-o"]).arg(&data).args(["--", "sh", "-c", &line]);
    perf.stdin(Stdio::null()).stdout(Stdio::null());
    command::announce(&perf);
    let mut child = perf.spawn().context("perf")?;
    std::thread::sleep(Duration::from_secs(3));
    command::run(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
    child.wait()?;

    let line = command::quiet_output(bench.command(&data).args(["--format", "ndjson"]))?;
    let pid = line.split_once("\"pid\":").and_then(|(_, rest)| rest.split_once(','));
    let pid = pid.context("no sample")?.0.to_owned();
    let alive = bench.known(&data, &[]);
    command::run(Command::new("kill").args(["-KILL", &pid]))?;
    std::thread::sleep(Duration::from_millis(500));
    all_known(alive?, "while it runs")?;
    none_known(bench.known(&data, &[])?, "when it is gone")?;
    Ok("its file is found through its own root while it runs".to_owned())
}
