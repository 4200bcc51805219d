//! Check of packages: installs them into an empty folder, and runs their programs as a user would.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::wheel::{OTHER_NAMES, SHARED};
use super::{emptied, portable, sbom};
use crate::command;

/// Cases with an expected output of the main job; cases with kernel samples have their own kernel names.
pub(super) const CASES: &[&str] = &["spin-lld", "inlines-gcc", "syscalls"];

/// Installs the Debian package below a folder, by dpkg itself if that is permitted.
pub(super) fn deb(package: &Path, root: &Path) -> Result<()> {
    emptied(root)?;
    let as_root = command::quiet_output(&mut command::words("id -u"))?.trim() == "0";
    if as_root {
        let admin = root.join("var/lib/dpkg");
        for folder in ["info", "updates", "triggers"] {
            std::fs::create_dir_all(admin.join(folder))?;
        }
        std::fs::write(admin.join("status"), "")?;
        // Its dependencies are on the system, not below that folder.
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
        "usr/share/doc/unwind-perf/THIRD-PARTY-LICENSES.txt",
        "usr/share/doc/unwind-perf/OUTPUT.md",
    ] {
        there(&root.join(file))?;
    }
    let programs = Programs {
        main: &root.join("usr/bin/unwind-perf"),
        pprof: &root.join("usr/bin/perf_to_profile"),
        hotspot: &root.join("usr/libexec/unwind-perf/hotspot-perfparser"),
        emulator: Vec::new(),
    };
    programs.work(root)
}

/// Checks the properties that the wheel's tag promises. Installs the wheel into a separate environment if it is for
/// this processor, and runs its programs; those of another processor by qemu's user emulation, if that is installed.
pub(super) fn wheel(package: &Path, processor: &str, root: &Path) -> Result<()> {
    emptied(root)?;
    let name = command::file_name(package);
    let tag = format!("manylinux_2_17_{processor}");
    let platforms = name.strip_suffix(".whl").and_then(|name| name.rsplit_once("-py3-none-"));
    if !platforms.is_some_and(|(_, platforms)| platforms.split('.').any(|it| it == tag)) {
        bail!("{name} is not tagged py3-none-{tag}");
    }
    let here = processor == std::env::consts::ARCH;
    let (programs, shared) = if here {
        command::run(command::words("python3 -m venv").arg(root))?;
        let mut pip = Command::new(root.join("bin/pip"));
        pip.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
        command::run(pip.arg(package))?;
        (root.join("bin"), root.to_owned())
    } else {
        unzipped(package, root)?
    };
    for (_, file) in SHARED {
        there(&shared.join(file))?;
    }
    let contents = command::quiet_output(command::words("python3 -m zipfile -l").arg(package))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt", sbom::NAME] {
        ensure!(contents.contains(&format!("/{file} ")), "no {file} in {name}:\n{contents}");
    }
    let programs = Programs {
        main: &programs.join("unwind-perf"),
        pprof: &programs.join("perf_to_profile"),
        hotspot: &programs.join("hotspot-perfparser"),
        emulator: if here { Vec::new() } else { emulator(processor) },
    };
    let needs = portable::check(programs.main, processor)?;
    println!("{}: glibc {}.{}", programs.main.display(), needs.glibc.0, needs.glibc.1);
    if !here && programs.emulator.is_empty() {
        println!(
            "skipped: no qemu-{processor}, or no C library of that processor, to run the programs with"
        );
        return Ok(());
    }
    programs.work(root)
}

/// Runs the programs of an unpacked archive, which are static and need no C library; those of another processor by
/// qemu's user emulation, if that is installed.
pub(super) fn archive(folder: &Path, processor: &str, scratch: &Path) -> Result<()> {
    let here = processor == std::env::consts::ARCH;
    let emulator = if here { Vec::new() } else { emulator(processor) };
    if !here && emulator.is_empty() {
        println!("skipped: no qemu-{processor} to run {} with", folder.display());
        return Ok(());
    }
    emptied(scratch)?;
    let programs = Programs {
        main: &folder.join("unwind-perf"),
        pprof: &folder.join("perf_to_profile"),
        hotspot: &folder.join("hotspot-perfparser"),
        emulator,
    };
    programs.work(scratch)
}

/// Unpacks a wheel for another processor as an installer does; returns its folders of programs and of shared files.
fn unzipped(package: &Path, root: &Path) -> Result<(PathBuf, PathBuf)> {
    command::run(command::words("python3 -m zipfile -e").arg(package).arg(root))?;
    let data = folder_of_data(root)?;
    let programs = data.join("scripts");
    // `zipfile` drops the execute permission.
    for program in std::fs::read_dir(&programs)? {
        std::fs::set_permissions(program?.path(), Permissions::from_mode(0o755))?;
    }
    // Instead of the scripts, whose first lines only installers write.
    for name in OTHER_NAMES {
        std::fs::remove_file(programs.join(name))?;
        std::os::unix::fs::symlink("unwind-perf", programs.join(name))?;
    }
    Ok((programs, data.join("data")))
}

/// Returns the folder of a wheel's programs and shared files in the unpacked archive.
fn folder_of_data(root: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "data") {
            return Ok(path);
        }
    }
    bail!("{} has no folder of data", root.display())
}

/// Returns the command that runs programs of another processor: qemu with the C library of Debian's `libc6-ARCH-cross`.
/// It is empty if one of them is missing.
fn emulator(processor: &str) -> Vec<OsString> {
    let libraries = PathBuf::from(format!("/usr/{processor}-linux-gnu"));
    let names = [format!("qemu-{processor}-static"), format!("qemu-{processor}")];
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&search)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .filter(|path| path.is_file());
    match found.next() {
        Some(qemu) if libraries.is_dir() => vec![qemu.into(), "-L".into(), libraries.into()],
        _ => Vec::new(),
    }
}

/// Programs of an installation.
struct Programs<'a> {
    main: &'a Path,
    pprof: &'a Path,
    hotspot: &'a Path,
    /// Command that runs them, with its arguments; empty if this machine runs them.
    emulator: Vec<OsString>,
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

        let mut backend = self.command(self.hotspot);
        backend.arg("--sysroot").arg(testdata.join("sysroot")).arg("--max-frames=1024");
        let printed = bytes(backend.arg("--input").arg(&recording))?;
        same("the stream of hotspot", &self.print(&folder, "hotspot")?, &printed)?;

        // pprof passes no options: names of the test data's programs are not found, and not needed.
        let profile = scratch.join("profile.pb.gz");
        bytes(self.command(self.pprof).arg("-i").arg(&recording).arg("-o").arg(&profile))?;
        let mut plain = self.command(self.main);
        let plain = bytes(plain.args(["--quiet", "--format", "pprof"]).arg(&recording))?;
        same("the profile of pprof", &plain, &std::fs::read(&profile)?)
    }

    fn command(&self, program: &Path) -> Command {
        match self.emulator.split_first() {
            Some((emulator, arguments)) => {
                let mut command = Command::new(emulator);
                command.args(arguments).arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// Returns the output of the main job for a case.
    fn print(&self, folder: &Path, format: &str) -> Result<Vec<u8>> {
        let mut main = self.command(self.main);
        main.args(["perf.data", "--sysroot", "../../sysroot", "--quiet", "--format", format]);
        if folder.join("kallsyms").is_file() {
            main.args(["--kallsyms", "kallsyms"]);
        }
        bytes(main.current_dir(folder))
    }
}

/// Returns the output of a program without environment, and so without anybody's cache.
pub(super) fn bytes(run: &mut Command) -> Result<Vec<u8>> {
    command::announce(run);
    let output = run.env_clear().output().with_context(|| command::show(run))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}\n{reported}", output.status, command::show(run));
    }
    Ok(output.stdout)
}

/// Checks that an output is the expected one, which is not empty.
pub(super) fn same(what: &str, expected: &[u8], found: &[u8]) -> Result<()> {
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
