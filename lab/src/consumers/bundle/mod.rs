//! Check of bundles of a C++, a Rust, a Python and a Node.js program. They are read in an empty root without network
//! and under another host name, by perf and hotspot after unpacking, and in anonymized form.

mod peers;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::command;

use super::{Bench, Missing};

const CPP: &str = r#"
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
__attribute__((noinline)) unsigned long mixed(std::vector<unsigned long>& v, unsigned long key) {
    std::sort(v.begin(), v.end(), [&](auto a, auto b) { return (a ^ key) < (b ^ key); });
    return v[v.size() / 2];
}
__attribute__((noinline)) long counted(int n) {
    std::map<std::string, long> words;
    for (int i = 0; i < n; i++) words[std::to_string(i * 7919 % 10007)] += i;
    return words.size();
}
int main() {
    std::vector<unsigned long> v(20000);
    for (size_t i = 0; i < v.size(); i++) v[i] = i * 2654435761u;
    unsigned long sum = 0;
    for (int key = 0; key < 400; key++) sum += mixed(v, key) + counted(4000);
    printf("%lu\n", sum);
}
"#;

const RUST: &str = r#"
use std::collections::BTreeMap;
#[inline(never)]
fn mixed(v: &mut [u64], key: u64) -> u64 {
    v.sort_by_key(|it| it ^ key);
    v[v.len() / 2]
}
#[inline(never)]
fn counted(n: u64) -> u64 {
    let mut words: BTreeMap<String, u64> = BTreeMap::new();
    for i in 0..n {
        *words.entry((i * 7919 % 10007).to_string()).or_default() += i;
    }
    words.len() as u64
}
fn main() {
    let mut v: Vec<u64> = (0..20000u64).map(|i| i * 2654435761 % 4294967296).collect();
    let sum: u64 = (0..400).map(|key| mixed(&mut v, key) + counted(4000)).sum();
    println!("{sum}");
}
"#;

const PYTHON: &str = r#"
import json, random, re
rows = [{"a": i, "b": str(i) * 3} for i in range(3000)]
for _ in range(25):
    json.loads(json.dumps(rows))
    re.findall(r"(\w+)\s", "foo bar baz " * 9000)
    sorted(random.random() for _ in range(60000))
"#;

const NODE: &str = r#"
function mixed(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + (i ^ s)) | 0; return s; }
const words = n => { const m = new Map(); for (let i = 0; i < n; i++) m.set("w" + i * 7919 % 10007, i); return m.size; };
let sum = 0;
for (let k = 0; k < 150; k++) sum += mixed(2000000) + words(20000) + JSON.stringify([...Array(5000).keys()]).length;
console.log(sum);
"#;

/// A program: its name, source, build command and run command.
struct Program {
    name: &'static str,
    file: (&'static str, &'static str),
    build: &'static str,
    run: &'static str,
    /// A function that perf names as well.
    function: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "C++",
        file: ("a.cpp", CPP),
        build: "g++ -O2 -g a.cpp -o a",
        run: "./a",
        function: "counted",
    },
    Program {
        name: "Rust",
        file: ("a.rs", RUST),
        build: "rustc -O -g a.rs -o a",
        run: "./a",
        function: "counted",
    },
    Program {
        name: "Python",
        file: ("a.py", PYTHON),
        build: "python3 --version",
        run: "python3 a.py",
        function: "Py",
    },
    Program {
        name: "Node.js",
        file: ("a.js", NODE),
        build: "node --version",
        run: "node --perf-basic-prof a.js",
        function: "mixed",
    },
];

/// Records the programs, bundles them, and reads the bundles in another root.
pub(super) fn check(bench: &Bench<'_>) -> Result<String> {
    let mut reports = Vec::new();
    for program in PROGRAMS {
        let folder = bench.scratch.join("bundle").join(program.name);
        fs::create_dir_all(&folder)?;
        match recorded(program, &folder) {
            Ok(()) => {
                reports.push(format!("{}: {}", program.name, bundled(bench, program, &folder)?))
            }
            Err(error) if error.is::<Missing>() => {
                reports.push(format!("{}: skipped: {error:#}", program.name))
            }
            Err(error) => return Err(error),
        }
    }
    Ok(reports.join("; "))
}

fn recorded(program: &Program, folder: &Path) -> Result<()> {
    let missing = |error: anyhow::Error| Missing(format!("{error:#}"));
    fs::write(folder.join(program.file.0), program.file.1)?;
    command::quiet_output(command::words(program.build).current_dir(folder)).map_err(missing)?;
    let record = format!(
        "perf record --quiet -e cpu-clock -F 499 --call-graph dwarf -o perf.data -- {}",
        program.run
    );
    command::quiet_output(command::words(&record).current_dir(folder)).map_err(missing)?;
    Ok(())
}

/// Bundles the recording in a folder, reads it in another root, and reports the sizes.
fn bundled(bench: &Bench<'_>, program: &Program, folder: &Path) -> Result<String> {
    let ours = bench.ours;
    let run = |arguments: &[&str]| {
        command::quiet_output(Command::new(ours).args(arguments).current_dir(folder))
    };
    let here = run(&["--quiet", "--format", "json", "perf.data"])?;
    run(&["bundle", "--quiet", "perf.data", "-o", "a.upb"])?;
    run(&["bundle", "--quiet", "--whole", "perf.data", "-o", "whole.upb"])?;
    let machine = machine(ours, folder)?;
    for jobs in ["1", "16"] {
        let there = elsewhere(&machine, jobs)?;
        ensure!(there == here, "--jobs {jobs} in the empty machine gives another result");
    }
    let unpacked = unpacked(folder)?;
    let files: u64 = sizes(&unpacked)?.values().sum();
    let mut script = Command::new("perf");
    script.arg("--buildid-dir").arg(&unpacked).args(["script", "--no-inline", "-i"]);
    let text = command::quiet_output(script.arg(unpacked.join("perf.data")))?;
    ensure!(
        text.contains(program.function),
        "perf names no {} of the unpacked bundle",
        program.function
    );
    let peers = peers::check(bench, folder, &unpacked)?;
    let anonymous = anonymous(ours, program, folder)?;
    let size = |name: &str| fs::metadata(folder.join(name)).map(|file| file.len());
    let recording = size("perf.data")?;
    let archive = command::quiet_output(
        Command::new("perf").args(["archive", "perf.data"]).current_dir(folder),
    );
    let archive = archive.ok().and_then(|_| size("perf.data.tar.bz2").ok());
    let archive = archive.map_or("none".to_owned(), mb);
    Ok(format!(
        "the same result in an empty machine; {peers}; recording {}, with its files {}, bundle {}, with whole files {}, \
         perf archive {archive}, without names {anonymous}",
        mb(recording),
        mb(files),
        mb(size("a.upb")?),
        mb(size("whole.upb")?),
    ))
}

/// Returns the size of the anonymized bundle. It must contain the program's functions, but neither the folder, nor the
/// program, nor the source, nor the user.
fn anonymous(ours: &Path, program: &Program, folder: &Path) -> Result<String> {
    let mut bundle = Command::new(ours);
    bundle.args(["bundle", "--quiet", "--anonymize", "perf.data", "-o", "anonymous.upb"]);
    // The status is 1 if memory was reused for other code, which a list of functions cannot express.
    let status = bundle.current_dir(folder).status()?;
    ensure!(matches!(status.code(), Some(0 | 1)), "--anonymize failed");
    let mut unpack = Command::new("zstd");
    unpack.args(["--decompress", "--stdout", "anonymous.upb"]).current_dir(folder);
    let bytes = unpack.output().context("zstd")?.stdout;
    let source = program.file.0;
    let home = std::env::var("HOME").unwrap_or_default();
    for name in [&*folder.to_string_lossy(), source, &*home] {
        let has = name.len() > 5 && holds(&bytes, name.as_bytes());
        ensure!(!has, "the anonymous bundle has the name {name}");
    }
    let mut folded = Command::new(ours);
    folded.args(["--quiet", "--format", "folded", "anonymous.upb"]).current_dir(folder);
    let folded = command::quiet_output(&mut folded)?;
    ensure!(folded.contains(program.function), "it has no function {}", program.function);
    let size = fs::metadata(folder.join("anonymous.upb"))?.len();
    Ok(format!("{:.0} kB", size as f64 / 1e3))
}

fn holds(bytes: &[u8], name: &[u8]) -> bool {
    bytes.windows(name.len()).any(|window| window == name)
}

/// Creates a root folder with only our program, its libraries and the bundle.
fn machine(ours: &Path, folder: &Path) -> Result<PathBuf> {
    let machine = folder.join("machine");
    fs::create_dir_all(&machine)?;
    fs::copy(folder.join("a.upb"), machine.join("a.upb"))?;
    let program = machine.join("unwind-perf");
    fs::copy(ours, &program)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let linked = command::quiet_output(Command::new("ldd").arg(ours))?;
    for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = machine.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().context("a folder")?)?;
        fs::copy(library, copy)?;
    }
    Ok(machine)
}

/// Returns the output of our program with that folder as its root.
fn elsewhere(machine: &Path, jobs: &str) -> Result<String> {
    let inside = format!(
        "hostname elsewhere && exec chroot '{}' /unwind-perf --quiet --jobs {jobs} --format json a.upb",
        machine.display()
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--net", "--uts", "sh", "-c", &inside]);
    command::quiet_output(unshare.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"))
}

/// Unpacks the files of the bundle with tar, as other readers do.
fn unpacked(folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    let mut tar = Command::new("tar");
    tar.args(["--zstd", "-xf"]).arg(folder.join("a.upb")).arg("-C").arg(&unpacked);
    command::quiet_output(&mut tar)?;
    Ok(unpacked)
}

/// Returns the sizes of all files in and below a folder, including their holes, by inode: files have several names.
fn sizes(folder: &Path) -> Result<BTreeMap<u64, u64>> {
    let mut sizes = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let (path, metadata) = entry.and_then(|it| Ok((it.path(), it.metadata()?)))?;
        if metadata.is_dir() {
            sizes.extend(self::sizes(&path)?);
        } else {
            sizes.insert(metadata.ino(), metadata.len());
        }
    }
    Ok(sizes)
}

fn mb(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
