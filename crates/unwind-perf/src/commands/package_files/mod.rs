//! The texts that packages install: manual page and completions, generated from the arguments, and licences.

mod licenses;

use std::io::Write as _;

use anyhow::Context as _;
use clap::CommandFactory as _;

pub(super) use self::licenses::licenses;
use crate::args::{Cli, CompletionArgs, ENVIRONMENT, EXAMPLES, EXIT_STATUS, FILES};
use crate::terminal::Status;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionArgs) -> anyhow::Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "unwind-perf", &mut text);
    print(&text)
}

/// Prints the manual page: the command, then each subcommand. It is a single page without references to others.
pub(crate) fn man() -> anyhow::Result<Status> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    let page = clap_mangen::Man::new(command.clone());
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    let jobs = || command.get_subcommands().filter(|job| job.get_name() != "help");
    let abouts = jobs().map(|job| {
        (job.get_name().to_owned(), job.get_about().map(ToString::to_string).unwrap_or_default())
    });
    list(&mut text, "COMMANDS", abouts)?;
    for job in jobs() {
        let page = clap_mangen::Man::new(job.clone());
        writeln!(text, ".SH \"COMMAND {}\"", job.get_name().to_uppercase())?;
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    for (title, rows) in [
        ("EXAMPLES", EXAMPLES),
        ("EXIT STATUS", EXIT_STATUS),
        ("ENVIRONMENT", ENVIRONMENT),
        ("FILES", FILES),
    ] {
        list(&mut text, title, rows.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())))?;
    }
    writeln!(text, ".SH \"SEE ALSO\"\n\\fBperf\\-record\\fR(1), \\fBperf\\-script\\fR(1)")?;
    print(&text)
}

/// Writes a section of terms and their meanings.
fn list(
    text: &mut Vec<u8>,
    title: &str,
    rows: impl Iterator<Item = (String, String)>,
) -> std::io::Result<()> {
    let escaped = |it: &str| it.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    writeln!(text, ".SH \"{title}\"")?;
    for (term, meaning) in rows {
        writeln!(text, ".TP\n\\fB{}\\fR\n{}", escaped(&term), escaped(&meaning))?;
    }
    Ok(())
}

fn print(text: &[u8]) -> anyhow::Result<Status> {
    std::io::stdout().write_all(text).context("cannot write to standard output")?;
    Ok(Status::Complete)
}
