//! Input designed to be expensive, one kind for each reader. Each run takes at most 5 s of processor time and 512 MiB,
//! ends with status 0, 1 or 2, and obeys `--max-memory`.

mod bundles;
mod debug;
mod elf;
mod go;
mod jit;
mod names;
mod program;
mod recordings;
mod texts;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::run::{Ran, empty_folder, finish};

/// Limits of a run.
const SECONDS: u32 = 5;
const MEMORY: u64 = 512 << 20;
/// A memory limit, and the memory that a run may take in addition: mapped input, stacks of threads, the allocator's
/// own.
const LIMITED: &str = "100M";
const LIMIT: u64 = 100 << 20;
const BESIDE: u64 = 60 << 20;

/// Files by name, and the arguments of a command.
pub(super) struct Input {
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) arguments: Vec<String>,
}

impl Input {
    /// A recording of a program at `/opt/a`, the only file of its root.
    pub(super) fn program(recording: Vec<u8>, program: Vec<u8>) -> Self {
        Self::folded(recording).file("root/opt/a", program)
    }

    /// A recording with a root that is empty except for added files.
    pub(super) fn folded(recording: Vec<u8>) -> Self {
        Self::new(&["-q", "-f", "folded", "--sysroot", "root", "perf.data"])
            .file("perf.data", recording)
    }

    pub(super) fn new(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        Self { files: Vec::new(), arguments }
    }

    pub(super) fn file(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.files.push((name.to_owned(), bytes));
        self
    }

    /// Runs the command on it without and with a memory limit. Returns the first run.
    #[track_caller]
    pub(super) fn withstand(self, name: &str) -> Ran {
        let folder = empty_folder(&format!("hostile-{name}"));
        std::fs::create_dir(folder.join("root")).expect("a folder");
        let mut bytes = 0;
        for (file, content) in &self.files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, content).expect("a file");
            bytes += content.len() as u64;
        }
        let (ran, peak) = bounded(&folder, &self.arguments);
        assert!((0..=2).contains(&ran.status), "{}: {}", ran.status, ran.stderr);
        assert!(peak <= MEMORY, "{} MiB", peak >> 20);
        let mut limited = self.arguments;
        limited.extend(["--max-memory".to_owned(), LIMITED.to_owned()]);
        let (second, peak) = bounded(&folder, &limited);
        assert!((0..=2).contains(&second.status), "{}: {}", second.status, second.stderr);
        assert!(peak <= LIMIT + BESIDE + bytes, "{} MiB of {LIMITED}", peak >> 20);
        if second.status == 2 {
            assert_eq!(second.stderr.lines().count(), 1, "{}", second.stderr);
        }
        // The folders of some are tens of megabytes.
        std::fs::remove_dir_all(&folder).expect("it is there");
        ran
    }
}

/// Runs the command within its processor time. Returns its peak memory as well.
#[track_caller]
fn bounded(folder: &Path, arguments: &[String]) -> (Ran, u64) {
    let limit = format!("ulimit -t {SECONDS}; exec \"$0\" \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &limit, env!("CARGO_BIN_EXE_unwind-perf")]).args(arguments);
    command.current_dir(folder).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child: Child = command.spawn().expect("the command starts");
    let status = format!("/proc/{}/status", child.id());
    std::thread::scope(|scope| {
        // A process that has ended has no memory.
        let watch = scope.spawn(|| {
            let mut peak = 0;
            while let Some(bytes) = high_water(&status) {
                peak = peak.max(bytes);
                std::thread::sleep(Duration::from_millis(2));
            }
            peak
        });
        (finish(child), watch.join().expect("no panic"))
    })
}

/// Returns the peak resident set of the process, in bytes.
///
/// Source: proc(5), `VmHWM`.
fn high_water(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}
