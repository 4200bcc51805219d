//! End of a run: its summary on standard error and its exit status.

use formats::StackWeight;
use pipeline::{Analysis, Finished};

use crate::args::{RunArgs, host};
use crate::terminal::{
    Completeness, Status, print_damage, print_not_kept, print_other_events, print_profile_summary,
    print_summary, timings_text,
};

/// Prints timings, summary and damage as the arguments ask, and returns the status of the run.
pub(super) fn print_account(
    analysis: Analysis,
    one_event: Option<StackWeight>,
    args: &RunArgs,
) -> anyhow::Result<Status> {
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

/// The same for a run that may have found the profile of an earlier one.
pub(super) fn print_finished_account(
    finished: Finished,
    one_event: Option<StackWeight>,
    args: &RunArgs,
) -> anyhow::Result<Status> {
    let (profile, is_of_this_machine) = match finished {
        Finished::Analyzed(mut analysis) => {
            analysis.timings.ended("print");
            return print_account(*analysis, one_event, args);
        }
        // It had no damage.
        Finished::Recalled { profile, is_of_this_machine } => (profile, is_of_this_machine),
    };
    if !args.quiet {
        let host = host();
        let machine = is_of_this_machine.then_some(&*host);
        print_profile_summary(&profile, machine, args.verbose)?;
        if let Some(weight) = one_event {
            print_other_events(&profile, weight);
        }
    }
    let completeness = Completeness::of(&profile);
    let status = completeness.judge(args.fail_if_incomplete.as_ref(), Status::Complete);
    std::mem::forget(profile);
    Ok(status)
}
