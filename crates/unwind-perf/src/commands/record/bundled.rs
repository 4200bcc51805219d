//! `record --bundle`: the recording is made in a folder beside the bundle, and finally exists in the bundle alone.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use host::ScratchDir;

use super::previous::{folder_of, move_to};
use super::{CompleteRecording, account, analyze, show};
use crate::args::{BundleArgs, FileArgs, InputArg, RecordArgs};
use crate::commands::bundle;

/// A temporary recording and the bundle that it goes into.
pub(super) struct BundledRecording {
    /// Removed together with the recording, after the bundle was written.
    _folder: ScratchDir,
    recording: PathBuf,
    bundle: PathBuf,
    /// Final path of the recording if it cannot be bundled.
    otherwise: PathBuf,
}

impl BundledRecording {
    /// Creates a folder for a recording. The bundle is named after `output`: `perf.data` becomes `perf.upb`.
    ///
    /// # Errors
    /// If the folder beside `output` cannot be created.
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

    /// Path of the recording.
    pub(super) fn recording(&self) -> &Path {
        &self.recording
    }

    /// Reports the quality of the recording, and bundles it. If that fails, the recording stays beside the bundle's
    /// path.
    pub(super) fn pack(
        &self,
        args: &RecordArgs,
        recorded: &CompleteRecording<'_>,
    ) -> anyhow::Result<()> {
        let analysis = analyze(&self.recording);
        let packed = analysis.and_then(|analysis| account(args, recorded, &analysis));
        let packed = packed.and_then(|()| {
            bundle::run(&BundleArgs {
                input: InputArg::of(self.recording.clone()),
                output: self.bundle.clone(),
                whole: false,
                no_files: false,
                no_stacks: false,
                with_arguments: false,
                anonymize: false,
                jobs: None,
                quiet: args.quiet,
                kallsyms: None,
                options_json: None,
                private: true,
                files: FileArgs::default(),
            })
        });
        match packed {
            // A message has already reported that it is not complete.
            Ok(_) => show(args, &self.bundle),
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
