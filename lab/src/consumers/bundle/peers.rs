//! Check that perf and hotspot show the same for a recording with only the unpacked bundle as with the files of this
//! machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use xtask::command;

use crate::consumers::profilers::hotspot;
use crate::consumers::{Bench, Missing};

/// Compares both for the recording in the folder; returns the description of the comparison.
pub(super) fn check(bench: &Bench<'_>, folder: &Path, unpacked: &Path) -> Result<String> {
    let root = unpacked.join("root");
    let with_files = script(folder, |_| ())?;
    let with_bundle = script(unpacked, |perf| {
        perf.arg("--symfs").arg(&root);
        let list = root.join("proc/kallsyms");
        if list.is_file() {
            perf.arg("--kallsyms").arg(list);
        }
    })?;
    same("perf --symfs", &with_files, &with_bundle)?;
    let samples = with_files.split("\n\n").filter(|it| !it.trim().is_empty()).count() as u64;
    let hotspot = match in_hotspot(bench, folder, unpacked, samples) {
        Err(error) if error.is::<Missing>() => format!("hotspot skipped: {error:#}"),
        compared => compared.map(|()| "as perf and hotspot show it with all files".to_owned())?,
    };
    Ok(format!("{samples} samples from the unpacked bundle, {hotspot}"))
}

/// Returns perf's output for the recording in a folder.
fn script(folder: &Path, options: impl FnOnce(&mut Command)) -> Result<String> {
    let mut perf = Command::new("perf");
    perf.args(["script", "--no-inline", "-i"]).arg(folder.join("perf.data"));
    options(&mut perf);
    Ok(without_frames_of_vdso(&command::quiet_output(&mut perf)?))
}

/// Removes the vDSO's frames and those outside of them. perf takes the vDSO from any place, or not at all, and then
/// neither names its code nor unwinds it.
fn without_frames_of_vdso(text: &str) -> String {
    let mut is_left_out = false;
    let is_kept = |line: &&str| {
        is_left_out = !line.is_empty() && (is_left_out || line.ends_with(" ([vdso])"));
        !is_left_out
    };
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

fn in_hotspot(bench: &Bench<'_>, folder: &Path, unpacked: &Path, samples: u64) -> Result<()> {
    hotspot::need(bench)?;
    let mut with_files = hotspot::program(&folder.join("perf.data"), None);
    let with_files = hotspot::printed(&mut with_files, samples)?;
    let root = unpacked.join("root");
    let mut with_bundle = hotspot::program(&unpacked.join("perf.data"), Some(&root));
    // A build-id cache of this user would take precedence over the sysroot.
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    with_bundle.env("HOME", home);
    // The maps of run-time compilers are read there.
    let maps = root.join("tmp");
    if maps.is_dir() {
        with_bundle.env("TMPDIR", maps);
    }
    same("hotspot --sysroot", &with_files, &hotspot::printed(&mut with_bundle, samples)?)
}

fn same(who: &str, with_files: &str, with_bundle: &str) -> Result<()> {
    let mut lines = with_files.lines().zip(with_bundle.lines());
    let first = lines.find(|(one, other)| one != other);
    ensure!(
        with_files == with_bundle,
        "{who} shows another result of the unpacked bundle than of the files: {first:?}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_vdso_and_outside_of_it_do_not_count() {
        let head = "a 1 2.3: 1 cpu-clock:\n\t  1234 f (/bin/a)\n";
        let next = "\na 1 2.4: 1 cpu-clock:\n\t  1234 f (/bin/a)\n";
        let vdso = "\t  b6a __vdso_clock_gettime+0x7a ([vdso])\n\t  1230 main (/bin/a)\n";
        let whole = format!("{head}{vdso}{next}");
        assert_eq!(without_frames_of_vdso(&whole), format!("{head}{next}"));
        let lost = format!("{head}\t  b6a [unknown] ([vdso])\n{next}");
        assert_eq!(without_frames_of_vdso(&lost), without_frames_of_vdso(&whole));
    }
}
