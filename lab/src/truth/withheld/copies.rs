//! Copies of the files that a recording maps, without frame descriptions.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use xtask::command;

use crate::compared;

/// Name prefixes of glibc's and musl's files.
const C_LIBRARY: [&str; 6] = ["libc.so", "libc-", "libc.musl", "ld-", "ld.so", "libpthread"];

/// A copy of a file.
#[derive(Debug)]
pub(super) struct Copy {
    /// Path in the recording.
    recorded: String,
    /// Path of the copy.
    file: PathBuf,
}

impl Copy {
    /// Returns true for the C library or its dynamic linker.
    pub(super) fn is_c_library(&self) -> bool {
        let name = command::file_name(Path::new(&self.recorded));
        C_LIBRARY.iter().any(|start| name.starts_with(start))
    }

    /// Returns the option that replaces the original by the copy.
    pub(super) fn option(&self) -> [OsString; 2] {
        let mut value = OsString::from(&self.recorded);
        value.extend([OsStr::new("="), self.file.as_os_str()]);
        ["--module".into(), value]
    }
}

/// A mapping in the output of the command `maps`.
#[derive(Deserialize)]
struct Mapping {
    path: Option<String>,
    file: Option<PathBuf>,
    #[serde(default)]
    executable: bool,
    unwind: Option<String>,
}

/// Source of a mapping's call frame information if it has none.
const NO_FRAMES: &str = "none";

/// Copies the files that a recording maps as code, and hides their frame descriptions. Files without frame
/// descriptions, and paths of several files, have no copy.
pub(super) fn copies(
    ours: &Path,
    recording: &Path,
    options: &[OsString],
    folder: &Path,
) -> Result<Vec<Copy>> {
    std::fs::create_dir_all(folder)?;
    let mut files = BTreeMap::<String, Option<PathBuf>>::new();
    for mapping in mappings(ours, recording, options)? {
        let (Some(path), Some(file)) = (mapping.path, mapping.file) else { continue };
        if !path.starts_with('/') || path.contains('=') {
            continue;
        }
        let known = files.entry(path).or_insert_with(|| Some(file.clone()));
        if known.as_ref().is_some_and(|known| *known != file) {
            *known = None;
        }
    }
    let mut copies = Vec::new();
    for (recorded, file) in files {
        let Some(file) = file else {
            eprintln!("{recorded} stands for several files, and keeps its frames");
            continue;
        };
        let mut bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let withheld = synth::withhold_frames(&mut bytes)
            .map_err(|why| anyhow!("{}: {why}", file.display()))?;
        if withheld > 0 {
            // Same name, in a separate folder.
            let folder = folder.join(copies.len().to_string());
            std::fs::create_dir_all(&folder)?;
            let copy = folder.join(command::file_name(&file));
            std::fs::write(&copy, bytes).with_context(|| copy.display().to_string())?;
            copies.push(Copy { recorded, file: copy });
        }
    }
    Ok(copies)
}

/// Returns an error unless the command uses the copies, and finds no call frame information for them.
pub(super) fn proven(
    ours: &Path,
    recording: &Path,
    options: &[OsString],
    copies: &[&Copy],
) -> Result<()> {
    let mappings = mappings(ours, recording, options)?;
    for copy in copies {
        let of_path = |mapping: &&Mapping| mapping.path.as_ref() == Some(&copy.recorded);
        for mapping in mappings.iter().filter(of_path) {
            // Links to one file are one module, and share a copy.
            if !copies.iter().any(|copy| mapping.file.as_ref() == Some(&copy.file)) {
                bail!("{}: the copy {} is not used", copy.recorded, copy.file.display());
            }
            if mapping.unwind.as_deref() != Some(NO_FRAMES) {
                bail!("{}: frames are still described: {:?}", copy.recorded, mapping.unwind);
            }
        }
    }
    Ok(())
}

/// Returns the mappings of code.
fn mappings(ours: &Path, recording: &Path, options: &[OsString]) -> Result<Vec<Mapping>> {
    let mut command = Command::new(ours);
    command.args(["maps", "--json"]).args(options).arg(recording);
    let text = compared::read_output(&mut command, &[0, 1], |output| {
        Ok(std::io::read_to_string(output)?)
    })?;
    let mut found = Vec::new();
    for line in text.lines() {
        let mapping: Mapping = serde_json::from_str(line).with_context(|| line.to_owned())?;
        found.extend(mapping.executable.then_some(mapping));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_c_library_by_their_names() {
        let is = |recorded: &str| {
            Copy { recorded: recorded.to_owned(), file: PathBuf::new() }.is_c_library()
        };
        assert!(is("/usr/lib/x86_64-linux-gnu/libc.so.6") && is("/lib64/ld-linux-x86-64.so.2"));
        assert!(is("/lib/ld-musl-x86_64.so.1") && is("/lib/libc-2.31.so"));
        assert!(!is("/usr/lib/libcrypto.so.3") && !is("/usr/bin/ld"));
    }
}
