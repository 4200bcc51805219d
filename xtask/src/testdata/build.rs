//! Compiling a case and recording it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::case::Case;
use crate::command;

/// Builds the case's program in `work`, from copies of its sources, so that debug information names the neutral folder.
pub(super) fn compile(case: &Case, programs: &Path, work: &Path) -> Result<()> {
    for source in &case.sources {
        std::fs::copy(programs.join(source), work.join(source)).with_context(|| source.clone())?;
    }
    for line in &case.build {
        command::run(command::words(line).current_dir(work))?;
    }
    Ok(())
}

/// Records the program with these options of `perf record`. Returns the number of samples, which must be small and not
/// zero.
pub(super) fn record(case: &Case, options: &str, work: &Path) -> Result<usize> {
    let data = work.join("perf.data");
    let program = work.join(&case.name);
    let line = format!(
        "perf record --quiet --no-buildid-cache {} -o {} {}",
        options,
        data.display(),
        program.display()
    );
    let inner = format!("hostname testbox && exec env -i /usr/bin/{line}");
    let root = command::quiet_output(&mut command::words("id -u"))?.trim() == "0";
    let namespaces: &[&str] =
        if root { &["--uts"] } else { &["--user", "--map-root-user", "--uts"] };
    let mut isolated = Command::new("unshare");
    isolated.args(namespaces).args(["sh", "-c", &inner]).current_dir(work);
    command::run(&mut isolated)?;

    let listing =
        command::output(Command::new("perf").args(["script", "-F", "tid", "-G", "-i"]).arg(&data))?;
    let samples = listing.lines().filter(|line| !line.trim().is_empty()).count();
    if !(15..=200).contains(&samples) {
        bail!("{samples} samples: change the case's frequency");
    }
    Ok(samples)
}

/// Returns the regular ELF files and jitdumps that were mapped executable, in the order of their first mapping.
pub(super) fn mapped_files(data: &Path) -> Result<Vec<PathBuf>> {
    let listing = command::output(
        Command::new("perf").args(["script", "--show-mmap-events", "-i"]).arg(data),
    )?;
    let mut files = Vec::new();
    for line in listing.lines() {
        let Some(path) = executable_mapping(line) else { continue };
        let path = PathBuf::from(path);
        if !files.contains(&path)
            && std::fs::read(&path)
                .is_ok_and(|bytes| bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"DTiJ"))
        {
            files.push(path);
        }
    }
    Ok(files)
}

/// Returns the output of `perf script` for a recording, with inlined functions.
pub(super) fn perf_script(data: &Path, sysroot: &Path) -> Result<String> {
    let fields = "comm,pid,tid,time,period,event,ip,sym,symoff,dso";
    let mut perf = Command::new("perf");
    command::output(perf.args(["script", "-F", fields, "-i"]).arg(data).arg("--symfs").arg(sysroot))
}

/// Returns the path in `… PERF_RECORD_MMAP2 1/1: [0x…(0x…) @ 0 …]: r-xp /path`.
fn executable_mapping(line: &str) -> Option<&str> {
    let rest = line.split_once("PERF_RECORD_MMAP2")?.1;
    let rest = rest.split_once("]: ")?.1;
    let (flags, path) = rest.split_once(' ')?;
    (flags.as_bytes().get(2) == Some(&b'x') && path.starts_with('/') && !path.starts_with("//"))
        .then_some(path.trim())
}

#[cfg(test)]
mod tests {
    use super::executable_mapping;

    #[test]
    fn only_executable_file_mappings_count() {
        let line = |tail: &str| {
            format!("x 1/1 0.1: PERF_RECORD_MMAP2 1/1: [0x10(0x20) @ 0 fe:00 1 2]: {tail}")
        };
        assert_eq!(executable_mapping(&line("r-xp /usr/lib/x.so")), Some("/usr/lib/x.so"));
        assert_eq!(executable_mapping(&line("r--p /usr/lib/x.so")), None);
        assert_eq!(executable_mapping(&line("r-xp //anon")), None);
        assert_eq!(executable_mapping(&line("r-xp [vdso]")), None);
    }
}
