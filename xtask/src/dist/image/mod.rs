//! Images for containers, as archives of OCI image layouts.
//!
//! ```text
//!   unwind-perf           one user, /tmp                  | static program, licences
//!   unwind-perf-recorder  Debian with perf, by mmdebstrap | the same layer
//! ```
//!
//! skopeo, podman and containerd read them; docker does with its store of containerd.

mod check;
mod debian;
mod layout;
mod program;

use std::path::Path;

use anyhow::Result;

use super::wheel::Builder;
use super::{emptied, version};
use crate::command;
use layout::{Image, Layer};

/// User and group of the image without perf. Distroless images use this number for the same purpose.
const USER: u32 = 65_532;

/// Writes the image of a static program and starts it; the recorder's image as well if the settings want it.
pub(super) fn build(builder: &Builder<'_>, program: &Path, packages: &Path) -> Result<()> {
    let (settings, processor) = (builder.settings, builder.processor);
    let scratch = std::path::absolute(command::target().join("dist/image").join(processor))?;
    emptied(&scratch)?;
    let base = program::base(settings, &scratch)?;
    let program = program::program(settings, program, &scratch)?;
    let path = packages.join(format!("unwind-perf-{}-{processor}.oci.tar", version()?));
    let image = Image {
        title: "unwind-perf",
        user: format!("{USER}:{USER}"),
        processor,
        layers: &[&base, &program],
    };
    image.write(settings, &scratch, &path)?;
    check::program(&path, processor, &scratch)?;
    if settings.has_recorder {
        recorder(builder, &program, packages, &scratch)?;
    }
    Ok(std::fs::remove_dir_all(scratch)?)
}

/// Writes the image of the recorder and records with it. Prints a line if Debian's packages or mmdebstrap are missing.
fn recorder(builder: &Builder<'_>, program: &Layer, packages: &Path, scratch: &Path) -> Result<()> {
    let (settings, processor) = (builder.settings, builder.processor);
    let Some(debian) = debian::layer(settings, processor, scratch)? else { return Ok(()) };
    let path = packages.join(format!("unwind-perf-recorder-{}-{processor}.oci.tar", version()?));
    let image = Image {
        title: "unwind-perf-recorder",
        user: "0:0".to_owned(),
        processor,
        layers: &[&debian, program],
    };
    image.write(settings, scratch, &path)?;
    check::recorder(&path, processor, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::Settings;

    #[test]
    fn equal_settings_make_equal_images() -> Result<()> {
        let scratch = std::env::temp_dir().join(format!("xtask-image-{}", std::process::id()));
        let settings = Settings::of_time(1_764_547_200);
        let write = |name: &str| {
            let folder = scratch.join(name);
            emptied(&folder)?;
            let base = program::base(&settings, &folder)?;
            let (title, user) = ("unwind-perf", "1:2".to_owned());
            let image = Image { title, user, processor: "aarch64", layers: &[&base] };
            let archive = folder.join("image.oci.tar");
            image.write(&settings, &folder, &archive)?;
            Ok::<_, anyhow::Error>(archive)
        };
        let (first, second) = (write("first")?, write("second")?);
        assert_eq!(std::fs::read(&first)?, std::fs::read(second)?);

        let unpacked = check::unpack(&first, &scratch.join("unpacked"))?;
        let users = std::fs::read_to_string(unpacked.root.join("etc/passwd"))?;
        assert_eq!(
            users,
            "root:x:0:0::/:/usr/sbin/nologin\n\
             unwind-perf:x:65532:65532::/tmp:/usr/sbin/nologin\n"
        );
        assert_eq!(unpacked.user, "1:2");
        assert_eq!(unpacked.entrypoint, ["/usr/bin/unwind-perf"]);
        let mut stat = command::words("stat --format=%a:%Y");
        let tmp = command::quiet_output(stat.arg(unpacked.root.join("tmp")))?;
        assert_eq!(tmp, "1777:1764547200\n");
        Ok(std::fs::remove_dir_all(scratch)?)
    }
}
