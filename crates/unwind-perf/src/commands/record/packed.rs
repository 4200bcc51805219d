//! `record --bundle`: the recording is made in a folder beside the bundle, and is in the bundle alone afterwards.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use host::ScratchDir;

use super::previous::{folder_of, move_to};
use super::{account, analyze, next};
use crate::args::{BundleArgs, FileArgs, InputArg, RecordArgs};
use crate::commands::bundle;

/// A recording for a bundle.
pub(super) struct Packed {
    /// Removed with the recording, once that is in the bundle.
    _folder: ScratchDir,
    recording: PathBuf,
    bundle: PathBuf,
    /// The place of the recording if it cannot be bundled.
    otherwise: PathBuf,
}

impl Packed {
    /// A place for a recording whose bundle is named after `output`: `perf.data` becomes `perf.upb`.
    ///
    /// # Errors
    /// If nothing can be written beside it.
    pub(super) fn new(output: &Path) -> anyhow::Result<Self> {
        let bundle = output.with_extension("upb");
        let otherwise =
            if bundle == output { output.with_extension("data") } else { output.to_owned() };
        let folder = ScratchDir::for_recordings(folder_of(output))
            .with_context(|| format!("cannot write beside {}", output.display()))?;
        let name = otherwise.file_name().context("-o names no file")?;
        let recording = folder.path().join(name);
        Ok(Self { _folder: folder, recording, bundle, otherwise })
    }

    /// The place of the recording.
    pub(super) fn recording(&self) -> &Path {
        &self.recording
    }

    /// Says how good the recording is, and bundles it. If that fails, the recording stays beside the place of the bundle.
    pub(super) fn pack(&self, args: &RecordArgs) -> anyhow::Result<()> {
        let packed = analyze(&self.recording).and_then(|analysis| account(args, &analysis));
        let packed = packed.and_then(|()| {
            bundle::run(&BundleArgs {
                input: InputArg::of(self.recording.clone()),
                output: self.bundle.clone(),
                whole: false,
                no_stacks: false,
                anonymize: false,
                jobs: None,
                quiet: args.quiet,
                kallsyms: None,
                private: true,
                files: FileArgs::default(),
            })
        });
        match packed {
            // A line has said already that it is not whole.
            Ok(_) => {
                if !args.quiet {
                    next(args, &self.bundle);
                }
                Ok(())
            }
            Err(error) => {
                let place = self.otherwise.display();
                let moved = move_to(&self.recording, &self.otherwise)
                    .with_context(|| format!("the recording cannot be moved to {place}"));
                moved.and_then(|()| {
                    Err(error.context(format!("cannot be bundled; the recording is in {place}")))
                })
            }
        }
    }
}
