//! Stored result of a recording: the tables of the page, and the account of the run.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use formats::Page;
use hashbrown::HashSet;
use host::{Host, Origin};
use pipeline::Analysis;
use serde::Serialize;

use super::about::{About, about};
use super::answer::{Answer, answer, not_written};
use crate::problem::Problem;
use crate::protocol::RunOptions;
use crate::store::UsedFile;

/// Metadata that the front stores with the tables.
#[derive(Debug, Serialize)]
struct TablesMetadata {
    about: About,
    used: Vec<UsedFile>,
}

/// Writes the tables of a profile; the answer is the account of its run.
pub(super) fn write(
    analysis: &Analysis,
    options: &RunOptions,
    output: File,
    host: &dyn Host,
) -> Result<Answer, Problem> {
    let profile = &analysis.profile;
    let page = Page::new(options.usual.inlines, None);
    let mut output = BufWriter::new(output);
    page.print_tables(profile, &mut output)
        .and_then(|()| output.flush())
        .map_err(|error| not_written(&error))?;
    answer(&TablesMetadata {
        about: about(profile, analysis.is_damaged),
        used: used(analysis, host),
    })
}

/// Returns the files that were opened for modules, in their current state.
fn used(analysis: &Analysis, host: &dyn Host) -> Vec<UsedFile> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for (path, id) in analysis.opened_files() {
        if !seen.insert(path) {
            continue;
        }
        // A folder that the operator named may be relative to the working directory of the service, which the worker
        // shares.
        let Ok(path) = std::path::absolute(path) else { continue };
        // A module that is derived from other files, or lies in memory, has no file of its own.
        if let Ok(stat) = host.stat(&path, Origin::Stored { root: Path::new("/") })
            && let Some(path) = path.to_str()
        {
            files.push(UsedFile::new(path, &stat.stamp, id.map(|id| id.to_string())));
        }
    }
    files
}
