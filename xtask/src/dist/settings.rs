//! Settings of builds whose packages are equal in every folder: the profile, and an environment without paths of the
//! machine and with the time of the commit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;

/// Settings of a build.
pub(crate) struct Settings {
    /// Profile of cargo.
    pub(super) profile: String,
    /// Time of the commit, in seconds since 1970.
    pub(super) time: u64,
    /// True if the image of the recorder is made too.
    pub(super) has_recorder: bool,
    /// Folders, and the paths that stand for them in programs.
    folders: Vec<(PathBuf, &'static str)>,
}

impl Settings {
    /// Reads the time of the commit and the folders of this machine.
    pub(crate) fn new(profile: String) -> Result<Self> {
        let root = command::root();
        let mut git = command::words("git log -1 --format=%ct");
        let time =
            command::quiet_output(git.current_dir(&root)).context("the time of the commit")?;
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let cargo =
            std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
        let sysroot = command::quiet_output(&mut command::words("rustc --print sysroot"))?;
        // If several fit a path, the compiler uses the last.
        let mut folders = vec![
            (cargo.clone(), "/cargo"),
            (PathBuf::from(sysroot.trim()), "/rust"),
            (command::target(), "/target"),
            (root, "/unwind-perf"),
        ];
        // The name of a registry's folder is a hash of its address.
        for entry in std::fs::read_dir(cargo.join("registry/src")).into_iter().flatten() {
            folders.push((entry?.path(), "/registry"));
        }
        let time = time.trim().parse().context("the time of the commit")?;
        Ok(Self { profile, time, has_recorder: false, folders })
    }

    /// Returns settings of a time, without folders.
    #[cfg(test)]
    pub(crate) fn of_time(time: u64) -> Self {
        Self { profile: "dev".to_owned(), time, has_recorder: false, folders: Vec::new() }
    }

    /// Returns the time as text.
    pub(super) fn epoch(&self) -> String {
        self.time.to_string()
    }

    /// Returns the name of the profile's folder in the target folder.
    pub(super) fn folder(&self) -> &str {
        if self.profile == "dev" { "debug" } else { &self.profile }
    }

    /// Returns tar for entries of a folder: in order, owned by root, with the time of the commit.
    pub(super) fn tar(&self, archive: &Path, folder: &Path) -> Command {
        let mut tar = command::words(
            "tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime",
        );
        tar.arg(format!("@{}", self.epoch())).arg("--file").arg(archive);
        tar.arg("--directory").arg(folder);
        tar
    }

    /// Gives a build these settings, for compilers of Rust and C and for packers.
    pub(super) fn apply<'c>(&self, build: &'c mut Command) -> &'c mut Command {
        let (rust, c) = flags(&self.folders);
        build.env("CARGO_ENCODED_RUSTFLAGS", rust).env("CFLAGS", c);
        build.env("SOURCE_DATE_EPOCH", self.epoch()).env("CARGO_INCREMENTAL", "0")
    }
}

/// Returns flags that replace folders: those of rustc, separated by a control character as cargo expects, and those of
/// C compilers.
fn flags(folders: &[(PathBuf, &str)]) -> (OsString, OsString) {
    let (mut rust, mut c) = (OsString::new(), OsString::new());
    for (from, to) in folders {
        let flag = |start: &str, separator: &str, out: &mut OsString| {
            if !out.is_empty() {
                out.push(separator);
            }
            out.push(start);
            out.push(from.as_os_str());
            out.push("=");
            out.push(to);
        };
        flag("--remap-path-prefix=", "\x1f", &mut rust);
        // Flags in a variable are separated by spaces.
        if !has_space(from) {
            flag("-ffile-prefix-map=", " ", &mut c);
        }
    }
    (rust, c)
}

fn has_space(path: &Path) -> bool {
    path.to_string_lossy().contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_replaced() {
        let folders = [(PathBuf::from("/a b"), "/x"), (PathBuf::from("/c"), "/y")];
        let (rust, c) = flags(&folders);
        assert_eq!(rust, "--remap-path-prefix=/a b=/x\x1f--remap-path-prefix=/c=/y");
        assert_eq!(c, "-ffile-prefix-map=/c=/y");
    }
}
