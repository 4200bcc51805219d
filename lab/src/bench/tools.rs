//! The timed programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use xtask::command;

use crate::compared;

/// A program with its options.
pub(super) struct Tool {
    /// True if it only states the cost of the input.
    pub(super) is_unit: bool,
    /// Its row in the table.
    pub(super) name: String,
    /// Name of the peer in `compare`, if it is one; `perf:PATH` for another perf than the installed one.
    pub(super) peer: Option<String>,
    /// True if it runs once before all others, since it may exceed the time limit.
    pub(super) first: bool,
    /// Program and words around the recording.
    program: PathBuf,
    before: Vec<String>,
    after: Vec<String>,
    /// Accepted exit codes.
    pub(super) good: &'static [i32],
}

impl Tool {
    /// Returns the command for a recording.
    pub(super) fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before).arg(file).args(&self.after);
        // Each run is a first one.
        command.env("UNWIND_PERF_CACHE", "off");
        command
    }
}

/// Name of the row that states the cost of the input alone.
const UNIT: &str = "floor";

/// Returns this program as a release build: the measuring code must not be slower than the measured one.
fn unit() -> Result<PathBuf> {
    if !cfg!(debug_assertions) {
        return Ok(std::env::current_exe()?);
    }
    let mut build = command::words("cargo build --quiet --release --package lab");
    command::run(build.current_dir(command::root()))?;
    Ok(std::path::absolute(command::target().join("release/lab"))?)
}

/// Returns all available tools, and reports missing ones.
pub(super) fn all(ours: &Path, perfs: &[String], data: &Path) -> Result<Vec<Tool>> {
    let mut tools = Vec::new();
    let mut add = |name: &str, program: &Path, before: &str| {
        let before = before.split_whitespace().map(str::to_owned).collect();
        let (name, program, after) = (name.to_owned(), program.to_owned(), Vec::new());
        let is_unit = name == UNIT;
        let (peer, first) = (None, false);
        tools.push(Tool { is_unit, name, peer, first, program, before, after, good: &[0, 1] });
    };
    let unit = unit()?;
    add(UNIT, &unit, "floor");
    add("unwind-perf (JSON)", ours, "--quiet --format json");
    add("unwind-perf, folded", ours, "--quiet --format folded");
    add("unwind-perf, NDJSON", ours, "--quiet --format ndjson");
    add("unwind-perf --no-symbols", ours, "--quiet --format json --no-symbols");
    add("unwind-perf --jobs 1", ours, "--quiet --format json --jobs 1");
    for perf in perfs {
        tools.extend(perf_script(perf));
    }
    match compared::hotspot() {
        Ok(program) => tools.push(Tool {
            is_unit: false,
            name: "hotspot-perfparser".to_owned(),
            peer: Some("hotspot".to_owned()),
            first: true,
            program,
            before: ["--max-frames", "1024", "--input"].map(str::to_owned).to_vec(),
            after: Vec::new(),
            good: &[0],
        }),
        Err(error) => eprintln!("left out: {error:#}"),
    }
    match samply(data) {
        Ok(program) => {
            let out = data.join("samply.json.gz").display().to_string();
            let after = ["--save-only", "--unstable-presymbolicate", "-o", &out];
            tools.push(Tool {
                is_unit: false,
                name: "samply import".to_owned(),
                peer: None,
                first: false,
                program,
                before: vec!["import".to_owned()],
                after: after.map(str::to_owned).to_vec(),
                good: &[0],
            });
        }
        Err(error) => eprintln!("left out: samply: {error:#}"),
    }
    Ok(tools)
}

/// Returns `perf script` without and with inlined functions.
fn perf_script(perf: &str) -> [Tool; 2] {
    let version = command::version_of(&format!("{perf} --version"));
    let version = version.strip_prefix("perf version ").unwrap_or(&version).to_owned();
    ["script --no-inline", "script"].map(|words| {
        let fields = "-F comm,pid,tid,time,event,ip,sym,symoff,dso -i";
        let inlines = if words == "script" { " (inlines)" } else { " --no-inline" };
        Tool {
            is_unit: false,
            name: format!("perf {version} script{inlines}"),
            peer: Some(if perf == "perf" { perf.to_owned() } else { format!("perf:{perf}") }),
            first: true,
            program: PathBuf::from(perf),
            before: format!("{words} {fields}").split(' ').map(str::to_owned).collect(),
            after: Vec::new(),
            good: &[0],
        }
    })
}

/// Returns the installed samply, or one built into `bench-data`.
fn samply(data: &Path) -> Result<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let here = data.join("samply/bin/samply");
    let mut places =
        std::env::split_paths(&search).map(|dir| dir.join("samply")).chain([here.clone()]);
    if let Some(found) = places.find(|path| path.is_file()) {
        return Ok(found);
    }
    command::run(command::words("cargo install samply --locked --root").arg(data.join("samply")))?;
    Ok(here)
}
