//! The layer of Debian with perf, by mmdebstrap.

use std::path::Path;

use anyhow::Result;

use super::layout::Layer;
use crate::command;
use crate::dist::settings::Settings;

/// The release of Debian, with perf 6.12.
const SUITE: &str = "trixie";

/// Returns the layer. Prints a line and returns `None` if mmdebstrap or the packages are missing.
pub(super) fn layer(settings: &Settings, processor: &str, scratch: &Path) -> Result<Option<Layer>> {
    if command::quiet_output(&mut command::words("mmdebstrap --version")).is_err() {
        println!("skipped: mmdebstrap is not installed, to make the image of the recorder");
        return Ok(None);
    }
    let architecture = super::layout::architecture(processor);
    let archive = scratch.join("debian.tar");
    // Runtimes of containers make their own /dev. Licences stay.
    let mut mmdebstrap = command::words(
        "mmdebstrap --variant=essential --include=linux-perf --skip=output/dev --quiet
         --dpkgopt=path-exclude=/usr/share/man/*
         --dpkgopt=path-exclude=/usr/share/locale/*
         --dpkgopt=path-exclude=/usr/share/doc/*
         --dpkgopt=path-include=/usr/share/doc/*/copyright",
    );
    mmdebstrap.arg(format!("--architectures={architecture}")).arg(SUITE).arg(&archive);
    mmdebstrap.env("SOURCE_DATE_EPOCH", settings.epoch());
    if let Err(error) = command::run(&mut mmdebstrap) {
        println!("skipped: {error:#}, for the image of the recorder");
        return Ok(None);
    }
    Layer::compress(&archive).map(Some)
}
