//! The program of a processor in its wheel, and the wheel.
//!
//! maturin makes zig link it against the oldest C library of `manylinux2014`, and refuses a program that needs more.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::settings::Settings;
use super::tools::{self, Maturin};
use crate::command;

/// Base of the wheels' tag; pip knows it as `manylinux_2_17` as well.
const COMPATIBLE: &str = "manylinux2014";

/// Names by which hotspot and pprof start the program. A wheel cannot contain links, so each is a script that becomes the
/// program. Installers replace the first line.
pub(super) const OTHER_NAMES: [&str; 2] = ["hotspot-perfparser", "perf_to_profile"];
const SCRIPT: &str = "#!python
import os, sys
from unwind_perf import program
os.execv(program(), [\"NAME\", *sys.argv[1:]])
";

/// Paths of the generated files in a wheel, below the environment that it is installed into.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("unwind-perf.1", "share/man/man1/unwind-perf.1"),
    ("unwind-perf.bash", "share/bash-completion/completions/unwind-perf"),
    ("unwind-perf.zsh", "share/zsh/site-functions/_unwind-perf"),
    ("unwind-perf.fish", "share/fish/vendor_completions.d/unwind-perf.fish"),
];

/// Builder of the programs of one processor.
pub(super) struct Builder<'a> {
    pub(super) maturin: &'a Maturin,
    /// Name of the processor in Rust and Linux.
    pub(super) processor: &'a str,
    pub(super) settings: &'a Settings,
}

impl Builder<'_> {
    /// Target triple in Rust.
    pub(super) fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.processor)
    }

    /// Builds the program; returns its folder.
    pub(super) fn program(&self, scratch: &Path) -> Result<PathBuf> {
        tools::standard_library(&self.triple());
        self.pack(scratch, None)?;
        Ok(command::target().join(self.triple()).join(self.settings.folder()))
    }

    /// Packs the wheel with the generated files and the bill of materials. maturin takes files that it does not build
    /// from a temporary folder beside the manifest.
    pub(super) fn wheel(&self, printed: &Path, bill: &Path, packages: &Path) -> Result<PathBuf> {
        let data = Data(folder().join("unwind_perf.data"));
        for (name, place) in SHARED {
            copy(&printed.join(name), &data.0.join("data").join(place))?;
        }
        let scripts = data.0.join("scripts");
        std::fs::create_dir_all(&scripts)?;
        for name in OTHER_NAMES {
            let script = scripts.join(name);
            std::fs::write(&script, SCRIPT.replace("NAME", name))?;
            std::fs::set_permissions(&script, Permissions::from_mode(0o755))?;
        }
        let folder = packages.join(self.processor);
        self.pack(&folder, Some(bill))?;
        drop(data);
        let packed = super::only(&folder, "whl")?;
        let wheel = packages.join(command::file_name(&packed));
        std::fs::rename(packed, &wheel)?;
        std::fs::remove_dir(folder)?;
        Ok(wheel)
    }

    fn pack(&self, out: &Path, bill: Option<&Path>) -> Result<()> {
        let mut build = self.maturin.build(&folder())?;
        build.args(["--locked", "--zig", "--profile", &self.settings.profile]);
        build.args(["--compatibility", COMPATIBLE, "--target", &self.triple(), "--out"]);
        build.arg(out);
        if let Some(bill) = bill {
            build.arg("--sbom-include").arg(bill);
        }
        command::run(self.settings.apply(&mut build))
    }
}

/// Returns the folder of the package that wheels are made of.
pub(super) fn folder() -> PathBuf {
    command::root().join("crates/unwind-perf")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to.parent().context("a folder")?)?;
    std::fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// A folder that is removed when dropped.
struct Data(PathBuf);

impl Drop for Data {
    fn drop(&mut self) {
        // If it cannot be removed, the next run writes into it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
