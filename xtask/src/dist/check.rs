//! Packages installed into an empty place, and their programs run as a user would.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command;

/// Cases whose expected output the main job has to print; cases with kernel samples have their own names of the kernel.
const CASES: &[&str] = &["spin-lld", "inlines-gcc", "syscalls"];

/// Installs the Debian package below a folder, by dpkg itself where that is allowed.
pub(super) fn deb(package: &Path, root: &Path) -> Result<()> {
    empty(root)?;
    let as_root = command::quiet_output(&mut command::words("id -u"))?.trim() == "0";
    if as_root {
        let admin = root.join("var/lib/dpkg");
        for folder in ["info", "updates", "triggers"] {
            std::fs::create_dir_all(admin.join(folder))?;
        }
        std::fs::write(admin.join("status"), "")?;
        // What it depends on is not below that folder, but around it.
        let mut dpkg = command::words("dpkg --force-depends --log=/dev/null --root");
        command::run(dpkg.arg(root).arg("--install").arg(package))?;
    } else {
        command::run(command::words("dpkg-deb --extract").arg(package).arg(root))?;
    }
    for file in [
        "usr/share/man/man1/unwind-perf.1.gz",
        "usr/share/bash-completion/completions/unwind-perf",
        "usr/share/zsh/vendor-completions/_unwind-perf",
        "usr/share/fish/vendor_completions.d/unwind-perf.fish",
        "usr/share/doc/unwind-perf/copyright",
        "usr/share/doc/unwind-perf/OUTPUT.md",
    ] {
        there(&root.join(file))?;
    }
    let programs = Programs {
        main: &root.join("usr/bin/unwind-perf"),
        pprof: &root.join("usr/bin/perf_to_profile"),
        hotspot: &root.join("usr/libexec/unwind-perf/hotspot-perfparser"),
    };
    programs.work(root)
}

/// Installs the wheel into an environment of its own.
pub(super) fn wheel(package: &Path, root: &Path) -> Result<()> {
    empty(root)?;
    command::run(command::words("python3 -m venv").arg(root))?;
    let mut pip = Command::new(root.join("bin/pip"));
    pip.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    command::run(pip.arg(package))?;
    for (_, file) in super::IN_WHEEL {
        there(&root.join(file))?;
    }
    let programs = Programs {
        main: &root.join("bin/unwind-perf"),
        pprof: &root.join("bin/perf_to_profile"),
        hotspot: &root.join("bin/hotspot-perfparser"),
    };
    programs.work(root)
}

/// The programs of an installation.
struct Programs<'a> {
    main: &'a Path,
    pprof: &'a Path,
    hotspot: &'a Path,
}

impl Programs<'_> {
    /// Runs each of them.
    fn work(&self, scratch: &Path) -> Result<()> {
        let testdata = command::root().join("testdata");
        for case in CASES {
            let folder = testdata.join("cases").join(case);
            let expected = std::fs::read(folder.join("expected.ndjson"))?;
            same(case, &expected, &self.print(&folder, "ndjson")?)?;
        }
        let folder = testdata.join("cases").join("spin-lld");
        let recording = folder.join("perf.data");

        let mut backend = Command::new(self.hotspot);
        backend.arg("--sysroot").arg(testdata.join("sysroot")).arg("--max-frames=1024");
        let printed = bytes(backend.arg("--input").arg(&recording))?;
        same("the stream of hotspot", &self.print(&folder, "hotspot")?, &printed)?;

        // pprof gives no options: names of the test data's programs are not found, and need not be.
        let profile = scratch.join("profile.pb.gz");
        bytes(Command::new(self.pprof).arg("-i").arg(&recording).arg("-o").arg(&profile))?;
        let mut plain = Command::new(self.main);
        let plain = bytes(plain.args(["--quiet", "--format", "pprof"]).arg(&recording))?;
        same("the profile of pprof", &plain, &std::fs::read(&profile)?)
    }

    /// What the main job prints of a case.
    fn print(&self, folder: &Path, format: &str) -> Result<Vec<u8>> {
        let mut main = Command::new(self.main);
        main.args(["perf.data", "--sysroot", "../../sysroot", "--quiet", "--format", format]);
        if folder.join("kallsyms").is_file() {
            main.args(["--kallsyms", "kallsyms"]);
        }
        bytes(main.current_dir(folder))
    }
}

/// What a program prints that knows of no cache of somebody's.
fn bytes(run: &mut Command) -> Result<Vec<u8>> {
    command::announce(run);
    let output = run.env_clear().output().with_context(|| command::show(run))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}\n{reported}", output.status, command::show(run));
    }
    Ok(output.stdout)
}

fn same(what: &str, expected: &[u8], found: &[u8]) -> Result<()> {
    if expected.is_empty() || expected != found {
        bail!("{what}: {} bytes are not the {} expected ones", found.len(), expected.len());
    }
    Ok(())
}

fn there(file: &Path) -> Result<()> {
    let length = file.metadata().with_context(|| file.display().to_string())?.len();
    if length == 0 {
        bail!("{} is empty", file.display());
    }
    Ok(())
}

/// An empty folder.
fn empty(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(std::fs::create_dir_all(folder)?),
    }
}
