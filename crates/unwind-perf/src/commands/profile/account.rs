//! End of a run: its summary on standard error and its exit status.

use formats::StackWeight;
use pipeline::Analysis;

use crate::args::RunArgs;
use crate::terminal::{
    Completeness, Status, print_damage, print_not_kept, print_other_events, print_summary,
    timings_text,
};

/// Prints timings, summary and damage as the arguments ask, after the output, and returns the status of the run.
pub(super) fn print_account(
    mut analysis: Analysis,
    one_event: Option<StackWeight>,
    args: &RunArgs,
) -> anyhow::Result<Status> {
    analysis.timings.ended("print");
    if args.timings {
        eprint!("{}", timings_text(&analysis.timings, analysis.profile.locations.len()));
    }
    if !args.quiet {
        print_summary(&analysis, args.verbose)?;
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
