//! Contents of a page in addition to its tables: source files and instructions.

mod code;
mod own_sources;

use std::path::Path;

use formats::Page;
use pipeline::{Analysis, Options};

use super::sources::{Sources, not_found, sources};
use crate::args::host;
pub(super) use code::page_code;
use own_sources::own_sources;

/// The texts to embed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Embedded {
    pub(super) sources: EmbeddedSources,
    /// True to embed the instructions of functions.
    pub(super) code: bool,
}

/// The source files to embed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EmbeddedSources {
    #[default]
    None,
    /// The user's own, for a recording of this user and host.
    Own,
    /// All that are found.
    All,
}

/// Builds the page of a recording with its embedded sources and code.
/// Returns a message as well if sources were requested and none was found, or if they were not requested and are in the
/// page.
pub(super) fn page(
    analysis: &Analysis,
    input: &Path,
    options: &Options,
    inlines: bool,
    embedded: Embedded,
) -> (Page, Option<String>) {
    let written = analysis.written.and_then(|at| i64::try_from(at / 1_000_000).ok());
    let files = &options.files;
    let mut page = Page::new(inlines, written);
    let mut message = None;
    match embedded.sources {
        EmbeddedSources::None => {}
        EmbeddedSources::Own => {
            page.sources = own_sources(analysis, files, input);
            message = included(page.sources.len());
        }
        EmbeddedSources::All => {
            let local = host();
            let Sources { found, missing } =
                sources(&analysis.profile, &analysis.source_files(files, &*local));
            message = missing.filter(|_| found.is_empty()).map(|name| not_found(&name));
            page.sources = found;
        }
    }
    if embedded.code {
        let demangle = options.names.demangle.unwrap_or_default();
        let code = || page_code(analysis, demangle);
        (page.code, ()) = rayon::join(code, || page.prepare(&analysis.profile));
    }
    (page, message)
}

/// Returns the message about source files that nobody asked for.
fn included(n_files: usize) -> Option<String> {
    match n_files {
        0 => None,
        1 => Some("1 source file is in the page; --no-sources leaves it out".to_owned()),
        n => Some(format!("{n} source files are in the page; --no-sources leaves them out")),
    }
}
