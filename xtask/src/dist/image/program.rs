//! The layers of the image without perf: a user with a folder for temporary files, and the static program.

use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};

use super::USER;
use super::layout::Layer;
use crate::command;
use crate::dist::settings::Settings;
use crate::dist::tarball::FILES;
use crate::dist::wheel::OTHER_NAMES;

/// Returns the layer of a user and `/tmp`.
pub(super) fn base(settings: &Settings, scratch: &Path) -> Result<Layer> {
    let root = scratch.join("base");
    let etc = root.join("etc");
    std::fs::create_dir_all(root.join("tmp"))?;
    std::fs::create_dir_all(&etc)?;
    let (name, shell) = ("unwind-perf", "/usr/sbin/nologin");
    let users = format!("root:x:0:0::/:{shell}\n{name}:x:{USER}:{USER}::/tmp:{shell}\n");
    std::fs::write(etc.join("passwd"), users)?;
    std::fs::write(etc.join("group"), format!("root:x:0:\n{name}:x:{USER}:\n"))?;
    let archive = scratch.join("base.tar");
    let mut tar = settings.tar(&archive, &root);
    command::run(tar.args(["--create", "--mode=u=rwX,go=rX", "etc"]))?;
    let mut tar = settings.tar(&archive, &root);
    command::run(tar.args(["--append", "--mode=1777", "tmp"]))?;
    Layer::compress(&archive)
}

/// Returns the layer of a static program, its other names and its licences.
pub(super) fn program(settings: &Settings, program: &Path, scratch: &Path) -> Result<Layer> {
    let root = scratch.join("program");
    let (programs, documents) = (root.join("usr/bin"), root.join("usr/share/doc/unwind-perf"));
    std::fs::create_dir_all(&programs)?;
    std::fs::create_dir_all(&documents)?;
    let copy = |from: &Path, folder: &Path| {
        std::fs::copy(from, folder.join(command::file_name(from)))
            .with_context(|| from.display().to_string())
    };
    copy(program, &programs)?;
    for name in OTHER_NAMES {
        symlink("unwind-perf", programs.join(name))?;
    }
    for file in FILES {
        copy(&command::root().join(file), &documents)?;
    }
    let archive = scratch.join("program.tar");
    let mut tar = settings.tar(&archive, &root);
    command::run(tar.args(["--create", "--mode=u=rwX,go=rX", "usr"]))?;
    Layer::compress(&archive)
}
