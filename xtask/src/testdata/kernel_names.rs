//! The part of `/proc/kallsyms` that a case's kernel frames need, so that its names do not depend on the machine that
//! replays it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command;

/// Symbols that are always included: bounds of the kernel's image.
const MARKS: &[&str] = &["_text", "_stext", "_etext"];

/// Returns the lines for the recording's kernel frames, or `None` if it has no such frames.
pub(super) fn needed(data: &Path) -> Result<Option<String>> {
    let listing =
        command::output(Command::new("perf").args(["script", "-F", "ip", "-i"]).arg(data))?;
    let addresses: BTreeSet<u64> = listing
        .lines()
        .filter_map(|line| u64::from_str_radix(line.trim(), 16).ok())
        .filter(|address| (1 << 63..u64::MAX).contains(address))
        .collect();
    if addresses.is_empty() {
        return Ok(None);
    }
    Ok(Some(lines_around(&std::fs::read_to_string("/proc/kallsyms")?, &addresses)))
}

/// Returns for each address the symbols at the nearest start at or before it, and those at the next start, which ends
/// its function.
fn lines_around(kallsyms: &str, addresses: &BTreeSet<u64>) -> String {
    let mut lines: Vec<(u64, &str)> = kallsyms
        .lines()
        .filter_map(|line| Some((u64::from_str_radix(line.split(' ').next()?, 16).ok()?, line)))
        .collect();
    lines.sort_by_key(|&(start, _)| start); // stable: aliases keep their order
    let starts: BTreeSet<u64> = lines.iter().map(|&(start, _)| start).collect();
    let mut kept: BTreeSet<u64> = BTreeSet::new();
    for &address in addresses {
        kept.extend(starts.range(..=address).next_back());
        kept.extend(starts.range(address.saturating_add(1)..).next());
    }
    let marked = |line: &str| line.split(' ').nth(2).is_some_and(|name| MARKS.contains(&name));
    let wanted = lines.iter().filter(|(start, line)| kept.contains(start) || marked(line));
    wanted.map(|(_, line)| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::lines_around;

    #[test]
    fn functions_that_were_hit_and_their_ends_are_kept() {
        let kallsyms =
            "f000 T _text\nf010 t a\nf020 t b\nf020 T b_alias\nf030 t c\nf040 t d\nf050 T _etext\n";
        let kept = lines_around(kallsyms, &[0xf025].into());
        assert_eq!(kept, "f000 T _text\nf020 t b\nf020 T b_alias\nf030 t c\nf050 T _etext\n");
    }
}
