//! Where the output goes: standard output, or a file that appears when it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use output::{Printer, Profile};

/// Prints the profile to `path`, or to standard output.
pub(crate) fn write(
    profile: &Profile,
    printer: &dyn Printer,
    path: Option<&Path>,
) -> anyhow::Result<()> {
    let Some(path) = path else {
        let mut out = io::stdout().lock();
        printer.print(profile, &mut out).context("cannot write to standard output")?;
        return out.flush().context("cannot write to standard output");
    };
    let failed = || format!("cannot write {}", path.display());
    // What is no regular file (a device, a FIFO) is written in place: there is nothing to rename over.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = File::options().write(true).open(path).with_context(failed)?;
        return printer.print(profile, &mut out).with_context(failed);
    }
    let temporary = Temporary::beside(path);
    let mut out = File::create(&temporary.path).with_context(failed)?;
    printer.print(profile, &mut out).with_context(failed)?;
    out.flush().with_context(failed)?;
    std::fs::rename(&temporary.path, path).with_context(failed)
}

/// A file that is removed unless it was renamed away.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(path: &Path) -> Self {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}", std::process::id()));
        Self { path: path.with_file_name(name) }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}
