//! The programs that are timed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command;

/// A program with its options.
pub(super) struct Tool {
    /// Its row in the table.
    pub(super) name: &'static str,
    /// Runs fewer times.
    pub(super) slow: bool,
    /// Everything but the recording.
    program: PathBuf,
    before: Vec<String>,
    after: Vec<String>,
    /// Exit codes that are fine.
    pub(super) good: &'static [i32],
}

impl Tool {
    /// The command for a recording.
    pub(super) fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before).arg(file).args(&self.after);
        command
    }
}

/// All tools that are there; what is missing is told.
pub(super) fn all(ours: &Path, data: &Path) -> Result<Vec<Tool>> {
    let mut tools = Vec::new();
    let mut add = |name, slow, program: &Path, before: &str, after: Vec<String>, good| {
        let before = before.split_whitespace().map(str::to_owned).collect();
        tools.push(Tool { name, slow, program: program.to_owned(), before, after, good });
    };
    let either: &[i32] = &[0, 1];
    add("unwind-perf (JSON)", false, ours, "--quiet --format json", Vec::new(), either);
    add("unwind-perf, folded", false, ours, "--quiet --format folded", Vec::new(), either);
    add("unwind-perf, NDJSON", false, ours, "--quiet --format ndjson", Vec::new(), either);
    add(
        "unwind-perf --no-symbols",
        false,
        ours,
        "--quiet --format json --no-symbols",
        Vec::new(),
        either,
    );
    add("unwind-perf --jobs 1", false, ours, "--quiet --format json --jobs 1", Vec::new(), either);
    let perf = Path::new("perf");
    let fields = "-F comm,pid,tid,time,event,ip,sym,symoff,dso -i";
    add(
        "perf script --no-inline",
        true,
        perf,
        &format!("script --no-inline {fields}"),
        Vec::new(),
        &[0],
    );
    add("perf script (inlines)", true, perf, &format!("script {fields}"), Vec::new(), &[0]);
    match command::hotspot() {
        Ok(program) => {
            add("hotspot-perfparser", true, &program, "--max-frames 1024 --input", Vec::new(), &[0])
        }
        Err(error) => eprintln!("left out: {error:#}"),
    }
    match samply(data) {
        Ok(program) => {
            let out = data.join("samply.json.gz").display().to_string();
            let after = ["--save-only", "--unstable-presymbolicate", "-o", &out]
                .map(str::to_owned)
                .to_vec();
            add("samply import", false, &program, "import", after, &[0]);
        }
        Err(error) => eprintln!("left out: samply: {error:#}"),
    }
    Ok(tools)
}

/// The installed samply, or one built into `bench-data`.
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
