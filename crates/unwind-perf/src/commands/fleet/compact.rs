//! `unwind-perf compact`: the tables of a day become few large files. The crate `fleet` has the trees, `formats` the rows.

use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use fleet::{
    CompactedDay, Compactor, MergeFailure, MergeInput, MergedRows, MergedTree, PartFile,
    SourceTree, TableMerger,
};
use formats::{MergeError, TableBytes, TableFile, counted, merge_tables};
use host::{Content, HostError, Origin};

use crate::args::{CompactArgs, host};
use crate::commands::on_pool;
use crate::terminal::{Status, print_error, print_note, shown, size};

/// Merges the days that the arguments name.
pub(in crate::commands) fn run(args: &CompactArgs) -> anyhow::Result<Status> {
    on_pool(args.jobs.map_or(0, usize::from), || run_on_pool(args))
}

fn run_on_pool(args: &CompactArgs) -> anyhow::Result<Status> {
    let started = Instant::now();
    let source = SourceTree::open(&args.tree)?;
    let mut days = source.days()?;
    if let Some(day) = args.date.iter().find(|day| !days.contains(day)) {
        bail!("{} has no folder date={day}", args.tree.display());
    }
    days.retain(|day| args.date.is_empty() || args.date.contains(day));
    let merged = MergedTree::open(&args.out)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let compactor = Compactor::new(source, merged, version, args.redo)?;
    let (mut done, mut failed) = (Vec::new(), 0_usize);
    for day in &days {
        match compactor.compact(day, &Tables) {
            Ok(compacted) => {
                if !args.quiet {
                    print_note(&format!("{}: {}", shown(day), line_of(&compacted)));
                }
                done.push(compacted);
            }
            Err(error) if error.is_of_one_day() => {
                print_error(&format!("{}: {}", shown(day), shown(&error.to_string())));
                failed += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !args.quiet {
        print_note(&summary(&done, failed, started.elapsed().as_secs_f64()));
    }
    Ok(if failed == 0 { Status::Complete } else { Status::Damaged })
}

/// Rows of Parquet files.
struct Tables;

impl TableMerger for Tables {
    fn merge(
        &self,
        inputs: Vec<MergeInput>,
        create: &mut dyn FnMut() -> io::Result<PartFile>,
    ) -> Result<MergedRows, MergeFailure> {
        let file = |it: MergeInput| TableFile { path: it.path, constants: it.columns };
        let files: Vec<TableFile> = inputs.into_iter().map(file).collect();
        match merge_tables(&files, &open, create) {
            Ok(merged) => Ok(MergedRows {
                parts: merged.parts,
                inputs: merged.inputs,
                columns: merged.columns,
            }),
            Err(MergeError::Output(error)) => Err(MergeFailure::Output(error)),
            Err(error) => Err(MergeFailure::Input(error.to_string())),
        }
    }
}

/// The bytes of a file.
struct FileBytes(Content);

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn open(path: &Path) -> io::Result<TableBytes> {
    match host().open(path, Origin::User) {
        Ok(file) => Ok(Box::new(FileBytes(file.content))),
        Err(HostError::Io { source, .. }) => Err(source),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Returns the files, rows and bytes of a day.
fn line_of(day: &CompactedDay) -> String {
    if day.files_before == 0 {
        return "no rows".to_owned();
    }
    let counts = format!("{} {}", counted(day.rows, "row"), merged(day));
    if day.is_new { counts } else { format!("unchanged, {counts}") }
}

/// Returns the files and bytes before and after.
fn merged(day: &CompactedDay) -> String {
    let before = format!("{} ({})", counted(day.files_before, "file"), size(day.bytes_before));
    let after = format!("{} ({})", counted(day.files_after, "file"), size(day.bytes_after));
    format!("of {before} in {after}")
}

/// Returns the sums of all days.
fn summary(days: &[CompactedDay], failed: usize, seconds: f64) -> String {
    let sum = |value: fn(&CompactedDay) -> u64| days.iter().map(value).sum();
    let all = CompactedDay {
        is_new: true,
        files_before: sum(|day| day.files_before),
        bytes_before: sum(|day| day.bytes_before),
        files_after: sum(|day| day.files_after),
        bytes_after: sum(|day| day.bytes_after),
        rows: sum(|day| day.rows),
    };
    let unchanged = days.iter().filter(|day| !day.is_new).count();
    let failed = if failed > 0 { format!(", {failed} not merged") } else { String::new() };
    let count = counted(days.len() as u64, "day");
    format!(
        "{count} ({unchanged} unchanged{failed}): {} {}, {seconds:.1} s",
        counted(all.rows, "row"),
        merged(&all)
    )
}
