//! `unwind-perf man` and `unwind-perf completions`: what packages install beside the command, made of its own arguments.

use std::io::Write as _;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Cli, CompletionArgs};
use crate::terminal::Status;

/// Prints the completion of a shell.
pub(crate) fn completions(args: &CompletionArgs) -> anyhow::Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "unwind-perf", &mut text);
    print(&text)
}

/// Prints the manual page: the command, then each of its jobs.
pub(crate) fn man() -> anyhow::Result<Status> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for job in command.get_subcommands().filter(|job| job.get_name() != "help") {
        let page = clap_mangen::Man::new(job.clone());
        writeln!(text, ".SH \"COMMAND {}\"", job.get_name().to_uppercase())?;
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    print(&text)
}

fn print(text: &[u8]) -> anyhow::Result<Status> {
    std::io::stdout().write_all(text).context("cannot write to standard output")?;
    Ok(Status::Complete)
}
