//! The recording with callchains instead of stacks, which replaces the recording in a bundle that is passed on.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use host::{Host, NewFile, OpenedFileHost, Origin};
use pipeline::{Observer, ResolvedSource};
use profile::Profile;
use rustix::fs::{Timespec, Timestamps, futimens};

use crate::args::{host, source, with_argument};
use crate::commands::callchains::{ChainForm, changed, rewritten};
use crate::terminal::print_note;

/// A host on which the recording has no stacks.
pub(super) struct Stripped {
    /// The host.
    pub(super) host: Arc<dyn Host>,
    /// Profile of the recording with its stacks.
    pub(super) profile: Profile,
    /// The rewritten recording, which is removed with this value.
    _file: NewFile,
}

impl Stripped {
    /// Unwinds the recording, and writes it with callchains beside `place`, on a file system with enough space.
    ///
    /// # Errors
    /// If it cannot be read or written, or has a form that cannot be rewritten.
    pub(super) fn new(
        packed: &ResolvedSource,
        place: &Path,
        with_arguments: bool,
        observer: &Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        let (input, options) = (packed.source.name(), &packed.options);
        let analysis = packed.pipeline.analyze(source(input), options, observer);
        let analysis = analysis.map_err(with_argument)?;
        let form = ChainForm::Own { names: None, with_arguments };
        let bytes =
            rewritten(&packed.pipeline, input, &analysis.profile, options, observer, form)?.bytes;
        let failed = || format!("cannot write beside {}", place.display());
        let mut file = NewFile::create(place).with_context(failed)?;
        file.write_all(&bytes).with_context(failed)?;
        // The file's time is compared with other files' times to detect changes after the recording.
        let written = analysis.written.unwrap_or_default();
        let time = Timespec {
            tv_sec: i64::try_from(written.div_euclid(1_000_000_000))?,
            tv_nsec: i64::try_from(written.rem_euclid(1_000_000_000))?,
        };
        futimens(&file, &Timestamps { last_access: time, last_modification: time })?;
        let opened = host().descriptor(&file.path(), Origin::User)?;
        let host: Arc<dyn Host> =
            Arc::new(OpenedFileHost::new(packed.host().clone(), input, opened)?);
        Ok(Self { host, profile: analysis.profile, _file: file })
    }
}

/// Prints the number of callchains that changed.
pub(super) fn print_changed(before: &Profile, after: &Profile, quiet: bool) {
    let (changed, all) = (changed(before, after), before.samples.len());
    if changed > 0 {
        print_note(&format!(
            "{changed} of {all} samples have other frames than with their stacks, despite their written callchains"
        ));
    } else if !quiet {
        print_note(
            "stacks are omitted; each sample has its own frames as a callchain, without frames of other samples",
        );
    }
}
