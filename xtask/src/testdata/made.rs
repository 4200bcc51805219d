//! The generated part of `case.toml`: the versions of the tools, and the digests of the files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::case::Case;
use crate::command;
use crate::machine::cpu_model;

/// Returns the text below `[made]` for a case that perf recorded. `mapped` are the recorded paths of the files in the
/// sysroot.
pub(super) fn by_perf(
    case: &Case,
    samples: usize,
    data: &Path,
    mapped: &[PathBuf],
) -> Result<String> {
    let mut text = String::new();
    let mut line = |key: &str, value: String| writeln!(text, "{key} = {value}");
    line("compiler", quoted(&compiler(case)))?;
    if let Some(linker) = linker(case) {
        line("linker", quoted(&linker))?;
    }
    line("perf", quoted(&command::version_of("perf --version")))?;
    line("kernel", quoted(&command::version_of("uname -r")))?;
    line("cpu", quoted(&cpu_model()))?;
    line("samples", samples.to_string())?;
    line("mapped", list(mapped.iter().map(|path| quoted(&path.display().to_string()))))?;
    text.push_str("\n[sha256]\n");
    writeln!(text, "\"perf.data\" = {}", quoted(&digest(data)?))?;
    for path in mapped {
        writeln!(text, "{} = {}", quoted(&path.display().to_string()), quoted(&digest(path)?))?;
    }
    Ok(text)
}

/// Returns the text below `[made]` for a case that was recorded under emulation, in that folder.
pub(super) fn by_emulator(
    case: &Case,
    processor: &str,
    samples: usize,
    folder: &Path,
) -> Result<String> {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| writeln!(text, "{key} = {}", quoted(value));
    line("compiler", &compiler(case))?;
    line("emulator", &command::version_of(&format!("qemu-{processor} --version")))?;
    line("debugger", &command::version_of("gdb-multiarch --version"))?;
    writeln!(text, "samples = {samples}\n\n[sha256]")?;
    for name in ["perf.data", "backtraces"] {
        writeln!(text, "\"{name}\" = {}", quoted(&digest(&folder.join(name))?))?;
    }
    Ok(text)
}

fn compiler(case: &Case) -> String {
    let program = case.build.last().and_then(|line| line.split(' ').next()).unwrap_or_default();
    command::version_of(&format!("{program} --version"))
}

fn linker(case: &Case) -> Option<String> {
    let line = case.build.last()?;
    let named = line.split(' ').find_map(|word| word.strip_prefix("-fuse-ld="));
    match named {
        Some("mold") => Some(command::version_of("mold --version")),
        Some(name) => Some(command::version_of(&format!("ld.{name} --version"))),
        None if line.starts_with("rustc") => None,
        None => Some(command::version_of("ld --version")),
    }
}

fn digest(path: &Path) -> Result<String> {
    let text = command::quiet_output(Command::new("sha256sum").arg("--").arg(path))?;
    Ok(text.split(' ').next().with_context(|| format!("sha256sum {}", path.display()))?.to_owned())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("  {item},\n")).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[\n{}]", items.concat()) }
}

#[cfg(test)]
mod tests {
    use super::{list, quoted};

    #[test]
    fn strings_and_lists_are_toml() {
        assert_eq!(quoted(r#"a "b" \c"#), r#""a \"b\" \\c""#);
        assert_eq!(list(std::iter::empty()), "[]");
        assert_eq!(list(["\"a\"".to_owned()].into_iter()), "[\n  \"a\",\n]");
    }
}
