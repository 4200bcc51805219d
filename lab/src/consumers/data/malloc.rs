//! Bytes of `malloc` by call site, beside a library that counts them in its place.
//!
//! A C++ program allocates in functions whose names begin with `site_`, the same bytes in every run. One run has a probe
//! on the C library's `malloc` with every call recorded, the other one the preloaded counter. The innermost such function
//! of a stack is the call site in both; the counter unwinds with the compiler's own library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use super::probe::Probe;
use crate::consumers::{Bench, Missing};

const PROGRAM: &str = include_str!("malloc_sites.cpp");
const COUNTER: &str = include_str!("malloc_count.c");
const PROBE: &str = "unwind_malloc=malloc bytes=%di";
const EVENT: &str = "probe_libc:unwind_malloc";
/// Beginning of the names of call sites.
const SITE: &str = "site_";

/// Records every call. The buffer of a processor holds all samples, so none is lost on a busy machine.
const RECORD: &str = "perf record --quiet -c 1 --call-graph dwarf,4096 -m 32M -e";

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let folder = bench.scratch.join("malloc");
    std::fs::create_dir_all(&folder)?;
    let program = compiled(&folder, "g++ -O2 -g -rdynamic -pthread", "sites.cpp", PROGRAM)?;
    let counter = compiled(&folder, "gcc -O2 -shared -fPIC", "count.c", COUNTER)?;
    let probe = Probe::add(&c_library(&program)?, EVENT, PROBE)?;
    let recording = folder.join("malloc.data");
    let mut record = command::words(RECORD);
    command::quiet_output(record.arg(EVENT).arg("-o").arg(&recording).arg(&program))?;
    drop(probe);
    let counted = command::quiet_output(Command::new(&program).env("LD_PRELOAD", &counter))?;
    let mut run = Command::new(bench.ours);
    run.args(["--quiet", "-f", "folded", "--weight", "bytes"]).arg(&recording);
    let (ours, theirs) = (sums(&command::quiet_output(&mut run)?)?, sums(&counted)?);
    if ours != theirs || ours.is_empty() {
        bail!("by --weight bytes {ours:?}, by the counter {theirs:?}");
    }
    let bytes: u64 = ours.values().sum();
    Ok(format!("{bytes} bytes of {} call sites, all equal", ours.len()))
}

/// Compiles a program or library, and returns its path.
fn compiled(folder: &Path, compiler: &str, name: &str, source: &str) -> Result<PathBuf> {
    let (source_path, path) = (folder.join(name), folder.join(format!("{name}.out")));
    std::fs::write(&source_path, source)?;
    let mut compile = command::words(compiler);
    compile.arg("-o").arg(&path).arg(&source_path);
    match command::quiet_output(&mut compile) {
        Ok(_) => Ok(path),
        Err(error) => Err(Missing(format!("{error:#}")).into()),
    }
}

/// Returns the path of the C library that a program loads.
fn c_library(program: &Path) -> Result<PathBuf> {
    let loaded = command::quiet_output(Command::new("ldd").arg(program))?;
    let line = loaded.lines().find(|line| line.trim_start().starts_with("libc.so"));
    let path = line.and_then(|line| line.split_whitespace().nth(2));
    path.map(PathBuf::from).context("ldd names no C library")
}

/// Returns the bytes of each call site, of lines that end with bytes: folded stacks, or names.
fn sums(lines: &str) -> Result<BTreeMap<String, u64>> {
    let mut sums = BTreeMap::new();
    for line in lines.lines() {
        let (stack, bytes) = line.rsplit_once(' ').context("a line without bytes")?;
        if let Some(site) = stack.rsplit(';').find(|name| name.starts_with(SITE)) {
            *sums.entry(site.to_owned()).or_default() += bytes.parse::<u64>()?;
        }
    }
    Ok(sums)
}
