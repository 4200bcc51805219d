//! The user interface on a terminal: targets of output, messages and progress on standard error, and the exit status.

mod color;
mod error_line;
mod findings;
mod incomplete;
mod packages;
mod picture_file;
mod progress;
mod shown;
mod size;
mod status;
mod summary;
mod target;
mod timings;

#[cfg(feature = "tui")]
pub(crate) use color::has_colors;
pub(crate) use color::{choose_colors, console_look, to_width};
pub(crate) use error_line::{print_failure, print_wrong_call};
pub(crate) use findings::{
    print_damage, print_error, print_findings, print_not_kept, print_note, status_of,
};
pub(crate) use incomplete::Completeness;
pub(crate) use picture_file::{PictureFile, to_terminal};
pub(crate) use progress::{Progress, WaitLines};
pub(crate) use shown::{shown, shown_json};
pub(crate) use size::size;
pub(crate) use status::{NO_OUTPUT, NOT_RECORDED, Status, exit_code, is_closed_pipe};
pub(crate) use summary::{print_other_events, print_summary, summary_text};
pub(crate) use target::{
    Inputs, Out, OutputTarget, is_plain, output_path, print_profile, print_to,
};
pub(crate) use timings::timings_text;
