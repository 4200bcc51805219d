//! `inject --convert-callchain`: a recording with callchains instead of stacks. A stream is converted as it arrives.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use host::Origin;
use pipeline::{NameOptions, Observer, Options, Unobserved};

use crate::args::{InjectArgs, host, pipeline, source, with_argument};
use crate::commands::callchains::{ChainForm, rewritten};
use crate::commands::record::{RecordingOutput, write_unwound};
use crate::terminal::{Inputs, OutputTarget, Status, print_note};

/// Unwinds the recording, and writes it with callchains.
pub(super) fn run(args: &InjectArgs) -> anyhow::Result<Status> {
    let names = NameOptions { look_up: false, ..NameOptions::default() };
    let options = Options { files: args.files.search()?, names, ..Options::default() };
    let inputs = Inputs::new(&args.input, &options, &args.files.map_file);
    let target = OutputTarget::regular_file(&args.output, &inputs)?;
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    if args.input == Path::new("-") {
        return run_stream(args, &options, &observer);
    }
    let analysis =
        pipeline().analyze(source(&args.input), &options, &observer).map_err(with_argument)?;
    if analysis.is_damaged {
        bail!("{} is damaged; repair or record it again", args.input.display());
    }
    let profile = &analysis.profile;
    let bytes =
        rewritten(&pipeline(), &args.input, profile, &options, &observer, ChainForm::Finished)?
            .bytes;
    target.write_all(&bytes)?;
    report(profile.samples.len() as u64, bytes.len() as u64);
    Ok(Status::Complete)
}

/// Converts standard input. The file is a recording of the samples so far at any time.
fn run_stream(
    args: &InjectArgs,
    options: &Options,
    observer: &Arc<dyn Observer>,
) -> anyhow::Result<Status> {
    let cannot_write = || format!("cannot write {}", args.output.display());
    let output = RecordingOutput::converted(&args.output).with_context(cannot_write)?;
    let account = write_unwound(&pipeline(), source(&args.input), output, options, observer);
    if let Some(error) = account.failed {
        bail!(error);
    }
    let (samples, omitted) = (account.samples, account.omitted);
    if omitted > 0 {
        print_note(&format!("{omitted} samples are damaged and not in the recording"));
    }
    let stat = host().stat(&args.output, Origin::User).with_context(cannot_write)?;
    report(samples, stat.stamp.size);
    Ok(if omitted > 0 { Status::Damaged } else { Status::Complete })
}

fn report(samples: u64, bytes: u64) {
    // A closed stderr is not an error.
    let _ = writeln!(
        std::io::stderr().lock(),
        "{samples} samples have callchains, {} bytes per sample",
        bytes / samples.max(1)
    );
}
