//! End of a run: its summary on standard error and its exit status.

use std::io;

use formats::StackWeight;
use pipeline::Analysis;

use crate::args::RunArgs;
use crate::terminal::{
    Completeness, Status, print_damage, print_not_kept, print_other_events, print_summary,
    summary_text, timings_text,
};

/// The summary of a run, if the arguments ask for one.
pub(super) struct Summary(Option<Vec<u8>>);

impl Summary {
    /// Makes the summary.
    pub(super) fn new(analysis: &Analysis, args: &RunArgs) -> io::Result<Self> {
        let text = (!args.quiet).then(|| summary_text(analysis, args.verbose));
        text.transpose().map(Self)
    }
}

/// Prints timings, summary and damage as the arguments ask, after the output, and returns the status of the run.
pub(super) fn print_account(
    mut analysis: Analysis,
    Summary(summary): Summary,
    one_event: Option<StackWeight>,
    args: &RunArgs,
) -> anyhow::Result<Status> {
    analysis.timings.ended("print");
    if args.timings {
        eprint!("{}", timings_text(&analysis.timings, analysis.profile.locations.len()));
    }
    if let Some(summary) = summary {
        print_summary(&summary);
        print_not_kept(&analysis);
        if let Some(weight) = one_event {
            print_other_events(&analysis.profile, weight);
        }
    } else if analysis.is_damaged {
        print_damage(&analysis);
    }
    let status = if analysis.is_damaged { Status::Damaged } else { Status::Complete };
    let completeness = Completeness::of(&analysis.profile);
    let status = completeness.judge(args.fail_if_incomplete.as_ref(), status);
    // The process ends here. Dropping the tables would take as long as printing some of them.
    std::mem::forget(analysis);
    Ok(status)
}
