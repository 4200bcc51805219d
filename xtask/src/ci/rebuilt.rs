//! README's loop: record, change the program, rebuild it, record, compare. Also other causes of a recording without its
//! programs: an upgraded library, a removed container.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Bench, Outcome, ensure, succeeds};
use crate::command;

/// Two functions, one of them in a library; a constant sets their cost.
const LIBRARY: &str = "__attribute__((noinline)) unsigned long shared(unsigned long s) {
    for (long i = 0; i < N * 1000; i++) s = s * 7 + (s >> 9);
    return s;
}
";
const PROGRAM: &str = "unsigned long shared(unsigned long);
__attribute__((noinline)) unsigned long own(unsigned long s) {
    for (long i = 0; i < N * 1000; i++) s = s * 3 + (s >> 5);
    return s;
}
int main(void) {
    unsigned long s = 1;
    for (int i = 0; i < ROUNDS; i++) s = shared(own(s));
    return s == 0;
}
";

/// A program with its library in a separate folder, recorded with a separate home.
struct Loop<'b> {
    bench: &'b Bench,
    folder: PathBuf,
}

impl Loop<'_> {
    /// Builds both, each with its constant.
    fn build(&self, program: u32, library: u32) -> Result<()> {
        for (name, text) in [("shared.c", LIBRARY), ("program.c", PROGRAM)] {
            std::fs::write(self.folder.join(name), text)?;
        }
        let cc = |constant: u32, line: &str| {
            let mut cc = command::words("cc -g -O2 -Wl,--build-id");
            cc.args([&format!("-DN={constant}"), "-DROUNDS=300"])
                .args(line.split(' '))
                .current_dir(&self.folder);
            command::run(&mut cc)
        };
        cc(library, "-shared -fPIC -o libshared.so shared.c")?;
        cc(program, "-o program program.c -L. -lshared -Wl,-rpath,$ORIGIN")
    }

    fn ours(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.bench.ours);
        command.args(arguments).current_dir(&self.folder);
        command.env("HOME", &self.folder).env_remove("XDG_CACHE_HOME");
        command
    }

    /// Builds both, each with its constant, and records them.
    fn record(&self, program: u32, library: u32, name: &str) -> Result<()> {
        self.build(program, library)?;
        command::run(&mut self.ours(&["record", "-q", "-o", name, "--", "./program"]))
    }

    /// Compares two recordings of an equal amount of work.
    fn diff(&self, after: &str) -> Result<String> {
        let words = ["diff", "-q", "--normalize", "A=1,B=1", "before.data", after];
        command::quiet_output(&mut self.ours(&words))
    }

    /// Checks that both functions have their names in a recording, and that its stacks are complete.
    fn is_whole(&self, recording: &str) -> Result<Outcome> {
        let mut top = self.ours(&["-q", "-f", "folded", "--fail-if-incomplete", "1", recording]);
        let stacks = command::quiet_output(&mut top).context(recording.to_owned())?;
        let all = ["main;own", "main;shared"].iter().all(|names| stacks.contains(names));
        ensure(all && !stacks.contains("program+0x"), format!("{recording} lost names:\n{stacks}"))
    }
}

/// Runs the loop.
pub(super) fn programs(bench: &Bench) -> Result<Outcome> {
    let probe = bench.scratch.join("probe.data");
    let mut record = command::words("perf record -q -e cpu-clock -o");
    if !succeeds(record.arg(&probe).args(["--", "true"])) {
        return Ok(Outcome::Skipped("perf cannot record here".to_owned()));
    }
    let folder = bench.scratch.join("rebuilt");
    std::fs::create_dir_all(&folder)?;
    let it = Loop { bench, folder };
    unchanged(&it)?;
    // Only the library is upgraded, and costs twice as much.
    it.record(300, 600, "upgraded.data")?;
    it.is_whole("before.data")?;
    let compared = it.diff("upgraded.data")?;
    let rows = compared.lines().skip_while(|line| !line.starts_with("own cost: "));
    let first = rows.skip(2).find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_first = first.contains("shared [libshared.so]");
    ensure(is_first, format!("the library's function is not the first of:\n{compared}"))?;
    container(&it)
}

/// Checks that another constant with an equal amount of work compares both functions and marks neither. One comparison
/// in twenty may have a mark by chance, so there are two.
fn unchanged(it: &Loop<'_>) -> Result<Outcome> {
    let mut compared = String::new();
    for _ in 0..2 {
        it.record(300, 300, "before.data")?;
        it.record(301, 301, "after.data")?;
        it.is_whole("before.data")?;
        compared = it.diff("after.data")?;
        // A function without any change has no row.
        let both = compared.contains(" of 2 functions changed");
        ensure(both, format!("both functions are on both sides of:\n{compared}"))?;
        if compared.contains("\nown cost: none of ") {
            return Ok(Outcome::Passed);
        }
    }
    bail!("marked though nothing changed:\n{compared}")
}

/// Checks a container: another root on a separate file system, which is gone after the recording.
fn container(it: &Loop<'_>) -> Result<Outcome> {
    if !succeeds(&mut command::words("unshare -m true")) {
        return Ok(Outcome::Passed);
    }
    let root = it.folder.join("root");
    std::fs::create_dir_all(&root)?;
    let mut cc =
        command::words("cc -g -O2 -static -Wl,--build-id -DN=300 -DROUNDS=1000000 -o inside");
    cc.args(["program.c", "shared.c"]);
    if !succeeds(cc.current_dir(&it.folder)) {
        return Ok(Outcome::Passed);
    }
    let script = "mount -t tmpfs none root && cp inside root && exec chroot root /inside";
    let mut inside = command::words("unshare -m sh -c");
    let mut inside = inside.arg(script).current_dir(&it.folder).spawn()?;
    let pid = inside.id().to_string();
    let recorded = wait_for_program(&pid).and_then(|()| {
        let words = ["record", "-q", "-o", "inside.data", "-p", &pid, "--", "sleep", "0.5"];
        command::run(&mut it.ours(&words))
    });
    inside.kill()?;
    inside.wait()?;
    recorded?;
    it.is_whole("inside.data")
}

/// Waits until a process executes the program in the container.
fn wait_for_program(pid: &str) -> Result<()> {
    let exe = Path::new("/proc").join(pid).join("exe");
    for _ in 0..500 {
        if std::fs::read_link(&exe).is_ok_and(|path| path.ends_with("inside")) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    bail!("no container begins")
}
