//! `inject --convert-callchain`: a recording with callchains instead of stacks.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::bail;
use pipeline::{NameOptions, Observer, Options, Unobserved};

use crate::args::{InjectArgs, pipeline, source, with_argument};
use crate::commands::callchains::{ChainForm, rewritten};
use crate::terminal::{Inputs, OutputTarget, Status};

/// Unwinds the recording, and writes it with callchains.
pub(super) fn run(args: &InjectArgs) -> anyhow::Result<Status> {
    let names = NameOptions { look_up: false, ..NameOptions::default() };
    let options = Options { files: args.files.search()?, names, ..Options::default() };
    let inputs = Inputs::new(&args.input, &options, &args.files.map_file);
    let target = OutputTarget::regular_file(&args.output, &inputs)?;
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let analysis =
        pipeline().analyze(source(&args.input), &options, &observer).map_err(with_argument)?;
    if analysis.is_damaged {
        bail!("{} is damaged; repair or record it again", args.input.display());
    }
    let profile = &analysis.profile;
    let bytes = rewritten(&args.input, profile, &options, &observer, ChainForm::Finished)?.bytes;
    target.write_all(&bytes)?;
    let (samples, per_sample) = (profile.samples.len(), bytes.len() / profile.samples.len().max(1));
    // A closed stderr is not an error.
    let _ = writeln!(
        std::io::stderr().lock(),
        "{samples} samples have callchains, {per_sample} bytes per sample"
    );
    Ok(Status::Complete)
}
