//! With `--sysroot`, no command accesses a path outside of it that no option names, according to strace. Without
//! strace, the test is skipped.

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::service::traced::{can_trace, recording, targets};
use crate::support::cases::{self, Case};
use crate::support::run::empty_folder;

/// Paths that a run may open besides the sysroot, its recording and its output: the program, the loader with its
/// libraries, and the kernel's files about this process and its processors.
const ALLOWED: &[&str] = &[
    env!("CARGO_BIN_EXE_unwind-perf"),
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/proc/meminfo",
    "/proc/self",
    // The C library reads it before it gives back memory.
    "/proc/sys/vm/overcommit_memory",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
];

/// Folders of the loader's libraries.
const LIBRARIES: &[&str] = &["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Returns the sysroot without `..`, as in the kernel's names of opened files.
fn sysroot() -> PathBuf {
    cases::sysroot().canonicalize().expect("a folder")
}

/// Commands with the arguments that they need; the recording follows.
const COMMANDS: &[&[&str]] = &[
    &["-f", "json"],
    &["-f", "ndjson"],
    &["-f", "perf-script"],
    &["-f", "folded"],
    &["-f", "pprof"],
    &["-f", "hotspot"],
    &["-f", "report"],
    &["top"],
    &["tree"],
    &["annotate", "main"],
    &["diff", "perf.data"],
    &["maps"],
    &["inject", "-o", "injected.data"],
    &["bundle", "-o", "bundle.upb"],
    &["flamegraph", "-o", "flame.svg"],
    &["report", "--embed-sources", "-o", "report.html"],
];

#[test]
fn with_a_sysroot_nothing_outside_is_opened() {
    if !can_trace() {
        return;
    }
    let folder = empty_folder("confined");
    let home = empty_folder("confined-home");
    // Files that would be found: the default stores hold a file for the build-id of each mapping.
    for store in [".debug", ".cache/unwind-perf/files"] {
        let entry = home.join(store).join(".build-id/ab").join("ab".repeat(19));
        std::fs::create_dir_all(&entry).unwrap();
        std::fs::write(entry.join("elf"), b"\x7fELF").unwrap();
    }
    let hostile = recording(&targets(&home));
    for bytes in [Case::named("spin-lld").bytes(), hostile] {
        std::fs::write(folder.join("perf.data"), bytes).unwrap();
        for words in COMMANDS {
            check(&folder, &home, words);
        }
    }
}

/// Traces one command, and checks every path in the trace.
fn check(folder: &Path, home: &Path, words: &[&str]) {
    let log = home.join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file,connect,socket", "-o"]);
    command.arg(&log).arg(env!("CARGO_BIN_EXE_unwind-perf")).args(words);
    command.arg("perf.data").arg("--sysroot").arg(sysroot());
    command.current_dir(folder).env_clear().env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().expect("strace runs");
    let status = output.status.code();
    let message = String::from_utf8_lossy(&output.stderr);
    // A recording without stacks has nothing to annotate; these are the only documented statuses.
    assert!(matches!(status, Some(0..=2)), "{words:?}: {status:?} {message}");
    assert!(!message.contains("error: unexpected argument"), "{words:?}: {message}");
    let trace = std::fs::read_to_string(&log).expect("a trace");
    assert!(trace.contains("perf.data"), "strace saw nothing");
    let outside: Vec<&str> = trace.lines().filter(|line| !is_inside(line, folder)).collect();
    assert_eq!(outside, Vec::<&str>::new(), "{words:?}");
}

/// Returns true if a line of the trace has only allowed paths: the requested one, and the one that was opened.
fn is_inside(line: &str, folder: &Path) -> bool {
    if line.contains("socket(") || line.contains("connect(") {
        return false;
    }
    let opened = line.rsplit_once(" = ").and_then(|(_, result)| {
        let path = result.split_once('<')?.1.split(">").next()?;
        // The kernel's name of the requesting process.
        let own = format!("/proc/{}/", line.split(' ').next()?);
        let path = path.replacen(&own, "/proc/self/", 1);
        path.starts_with('/').then(|| PathBuf::from(path))
    });
    // The kernel resolves the path below the folder: the result is the opened path.
    let in_root = line.contains("RESOLVE_IN_ROOT");
    let asked = asked(line).filter(|_| !in_root);
    let root =
        line.split_once('<').and_then(|(_, rest)| Some(PathBuf::from(rest.split('>').next()?)));
    let root = root.filter(|_| in_root);
    opened.into_iter().chain(asked).chain(root).all(|path| is_allowed(&path, folder))
}

/// Returns the path argument of a call, joined to the folder of its descriptor.
fn asked(line: &str) -> Option<PathBuf> {
    let (before, rest) = line.split_once('"')?;
    let path = Path::new(rest.split('"').next()?);
    if path.as_os_str().is_empty() {
        return None;
    }
    let at = before.split_once('<').and_then(|(_, rest)| rest.split('>').next()).unwrap_or("");
    Some(Path::new(at).join(path))
}

fn is_allowed(path: &Path, folder: &Path) -> bool {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let is_library = LIBRARIES.iter().any(|dir| plain.starts_with(dir))
        && plain.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"));
    plain.is_relative()
        || plain.starts_with(folder)
        || plain.starts_with(sysroot())
        || ALLOWED.iter().any(|allowed| plain.starts_with(allowed))
        || is_library
}
