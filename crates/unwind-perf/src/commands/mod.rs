//! The commands, each a function of its arguments.

mod analyzed;
mod annotate;
mod bundle;
mod cache;
mod callchains;
mod diff;
mod extensions;
#[cfg(feature = "parquet")]
mod fleet;
mod inject;
mod inspect;
#[cfg(feature = "service")]
mod live;
#[cfg(feature = "mcp")]
mod mcp;
mod no_samples;
mod options_json;
mod package_files;
mod page;
mod profile;
mod record;
#[cfg(feature = "service")]
mod serve;
mod sources;
#[cfg(feature = "tui")]
mod tui;
mod values;

use crate::args::{Cli, Command};
use crate::terminal::Status;

pub(crate) use profile::on_pool;

/// Runs the command that the arguments name.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<Status> {
    if cli.licenses {
        return package_files::licenses();
    }
    match &cli.command {
        Some(Command::Info(args)) => inspect::info(args),
        Some(Command::Dump(args)) => inspect::dump(args),
        Some(Command::BuildIdList(args)) => inspect::buildid_list(args),
        Some(Command::Maps(args)) => inspect::maps(args),
        Some(Command::Inject(args)) => inject::run(args),
        #[cfg(feature = "parquet")]
        Some(Command::Symbolize(args)) => fleet::symbolize(args),
        Some(Command::Bundle(args)) => bundle::run(args),
        #[cfg(feature = "parquet")]
        Some(Command::Convert(args)) => fleet::convert(args),
        #[cfg(feature = "parquet")]
        Some(Command::Compact(args)) => fleet::compact(args),
        #[cfg(feature = "parquet")]
        Some(Command::ConvertRecording(args)) => fleet::convert_recording(args),
        Some(Command::Cache(args)) => cache::run(args),
        #[cfg(feature = "flamegraph")]
        Some(Command::Flamegraph(args)) => profile::flamegraph(args),
        Some(Command::Record(args)) => record::run(args),
        Some(Command::StartProgram(args)) => Ok(record::start_program(&args.gate, &args.command)),
        Some(Command::UnwindRecording) => record::unwind_recording(),
        Some(Command::Top(args)) => profile::top(args),
        Some(Command::Spans(args)) => profile::spans(args),
        Some(Command::Tree(args)) => profile::tree(args),
        #[cfg(feature = "tui")]
        Some(Command::Tui(args)) => tui::run(args),
        Some(Command::Annotate(args)) => annotate::run(args),
        Some(Command::Values(args)) => values::run(args),
        Some(Command::Report(args)) => profile::report(args),
        Some(Command::Diff(args)) => diff::run(args),
        #[cfg(feature = "service")]
        Some(Command::Serve(args)) => serve::run(args),
        #[cfg(feature = "service")]
        Some(Command::Live(args)) => live::run(args),
        #[cfg(feature = "mcp")]
        Some(Command::Mcp(args)) => mcp::run(args),
        #[cfg(feature = "service")]
        Some(Command::Worker) => serve::work(),
        Some(Command::OptionsJson) => options_json::run(),
        Some(Command::Man) => package_files::man(),
        Some(Command::Completions(args)) => package_files::completions(args),
        None => profile::main(&cli.main),
    }
}
