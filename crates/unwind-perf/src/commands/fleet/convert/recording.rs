//! `convert-recording`: the child process of `convert` that reads one recording and writes its rows.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use fleet::{Account, FindingCount, ModuleFrames};
use formats::{PlainRows, RowStatistics};
use host::{default_memory_limit, limit_memory};
use options::Options;
use pipeline::{Analysis, Error, Observer};
use profile::Profile;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::args::{ConvertRecordingArgs, options_of_json, pipeline, source, usable, with_argument};
use crate::commands::no_samples::no_samples_advice;
use crate::commands::on_pool;
use crate::commands::profile::choose_freed_memory;
use crate::terminal::{Progress, Status, print_damage};

/// Writes the rows of a recording, and prints an account of them as a line of JSON.
pub(in crate::commands) fn convert_recording(
    args: &ConvertRecordingArgs,
) -> anyhow::Result<Status> {
    // Nobody would use the rows after the end of the parent.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let options = options_of_json(Path::new("-"))?;
    limit_memory(options.limits.memory.or_usual(default_memory_limit()));
    let options = Options { files: usable(&options.files)?, ..options };
    choose_freed_memory(&args.recording);
    on_pool(options.limits.threads(), || write(args, &options))
}

fn write(args: &ConvertRecordingArgs, options: &Options) -> anyhow::Result<Status> {
    let observer: Arc<dyn Observer> = Arc::new(Progress::new(true, false));
    let rows = PlainRows { inlines: options.names.inlines };
    let analysis = match pipeline().analyze(source(&args.recording), options, &observer) {
        Ok(analysis) => analysis,
        // One of several events can be missing by mistake, but the others have samples.
        Err(error @ Error::UnknownEvent { .. }) if options.samples.events.len() == 1 => {
            return without_samples(args, rows, &with_argument(error));
        }
        Err(error) => return Err(with_argument(error)),
    };
    if let Some(nothing) = no_samples_advice(&analysis, &options.samples) {
        return without_samples(args, rows, &nothing.into());
    }
    let statistics = write_part(args, rows, &analysis.profile)?;
    print_account(&account_of(&analysis, statistics))?;
    let is_damaged = analysis.is_damaged;
    if is_damaged {
        print_damage(&analysis);
    }
    // The process ends here. Dropping the tables would take as long as printing some of them.
    std::mem::forget(analysis);
    Ok(if is_damaged { Status::Damaged } else { Status::Complete })
}

/// Writes a file without rows for a recording that has no wanted sample.
fn without_samples(
    args: &ConvertRecordingArgs,
    rows: PlainRows,
    reason: &anyhow::Error,
) -> anyhow::Result<Status> {
    write_part(args, rows, &Profile::default())?;
    print_account(&Account { message: format!("{reason:#}"), ..Account::default() })?;
    Ok(Status::Complete)
}

#[allow(clippy::disallowed_methods, reason = "the parent chose the path in its tree")]
fn write_part(
    args: &ConvertRecordingArgs,
    rows: PlainRows,
    profile: &Profile,
) -> anyhow::Result<RowStatistics> {
    let write = || -> io::Result<RowStatistics> {
        let mut out = BufWriter::new(File::create(&args.part)?);
        let statistics = rows.write(profile, &mut out)?;
        out.flush()?;
        Ok(statistics)
    };
    Ok(write().map_err(|source| fleet::Error::Output { path: args.part.clone(), source })?)
}

fn account_of(analysis: &Analysis, statistics: RowStatistics) -> Account {
    let RowStatistics { samples, complete, modules, start_utc_ns } = statistics;
    let finding = |row: &profile::FindingRow| FindingCount {
        kind: row.kind.to_string(),
        count: row.count,
        message: row.text().into_owned(),
    };
    let module = |it: formats::ModuleFrames| ModuleFrames {
        path: it.path,
        build_id: it.build_id,
        frames: it.frames,
    };
    Account {
        message: String::new(),
        samples,
        complete_share: if samples == 0 { 0.0 } else { complete as f64 / samples as f64 },
        findings: analysis.profile.summary.findings.iter().map(finding).collect(),
        modules: modules.into_iter().map(module).collect(),
        start_utc_ns,
    }
}

fn print_account(account: &Account) -> anyhow::Result<()> {
    let line = serde_json::to_string(account)?;
    writeln!(io::stdout(), "{line}").context("cannot write the account of the run")
}
