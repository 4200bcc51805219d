//! `cargo xtask prose`: patterns that make a sentence need two readings, counted in comments, documents and messages.
//!
//! `cargo xtask tidy` holds each file and the sum to the limits. A pattern stands where a noun or "if" would be clearer.

mod counts;
mod paragraphs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use self::counts::Counts;
use self::paragraphs::{Paragraph, paragraphs};
use crate::args::Args;
use crate::command;
use crate::repository::files;

/// Counts the files that are named, or all; `-v` shows each hit, `--in` counts another repository.
/// `--messages` lists the texts of the program instead.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let shows_hits = args.flag("-v");
    let lists_messages = args.flag("--messages");
    let root = args.value("--in")?.map_or_else(command::root, PathBuf::from);
    let named: Vec<PathBuf> = args.names()?.into_iter().map(PathBuf::from).collect();
    if let Some(missing) = named.iter().find(|path| !root.join(path).exists()) {
        bail!("{} does not exist below {}", missing.display(), root.display());
    }
    let mut total = Counts::default();
    for path in files(&root)? {
        let is_wanted = named.is_empty() || named.iter().any(|named| path.starts_with(named));
        if !is_wanted || !is_prose(&path) {
            continue;
        }
        if lists_messages {
            list_messages(&root, &path)?;
            continue;
        }
        let counts = count(&root, &path, shows_hits)?;
        if counts.hits() > 0 {
            println!("{}: {counts}", path.display());
        }
        total.add(&counts);
    }
    if !lists_messages {
        println!("total: {total}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The files and the sum that are over the limits, a line each.
pub(super) fn check(root: &Path, files: &[PathBuf], found: &mut Vec<String>) -> Result<()> {
    let mut total = Counts::default();
    for path in files.iter().filter(|path| is_prose(path)) {
        let counts = count(root, path, false)?;
        let over = counts.over_limits();
        found.extend(over.into_iter().map(|over| format!("{}: {over}", path.display())));
        total.add(&counts);
    }
    found.extend(total.over_limits().into_iter().map(|over| format!("all files: {over}")));
    Ok(())
}

/// Whether a file is read by people: sources and documents, not recorded cases.
fn is_prose(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str());
    matches!(extension, Some("rs" | "md" | "js" | "mjs" | "py"))
        && !path.starts_with("testdata/cases")
        && !path.starts_with("fuzz/seeds")
}

fn read(root: &Path, path: &Path) -> Result<Vec<Paragraph>> {
    let bytes = std::fs::read(root.join(path)).with_context(|| path.display().to_string())?;
    Ok(paragraphs(path, &String::from_utf8_lossy(&bytes)))
}

/// Prints the messages of a file, with their lines.
fn list_messages(root: &Path, path: &Path) -> Result<()> {
    for paragraph in read(root, path)?.iter().filter(|it| it.is_message) {
        println!("{}:{}: {}", path.display(), paragraph.line, paragraph.text);
    }
    Ok(())
}

fn count(root: &Path, path: &Path, shows_hits: bool) -> Result<Counts> {
    let mut counts = Counts::default();
    for paragraph in read(root, path)? {
        let before = counts.hits();
        counts.take_in(&paragraph.text);
        if shows_hits && counts.hits() > before {
            println!("{}:{}: {}", path.display(), paragraph.line, paragraph.text);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::counts::Pattern;
    use super::*;

    #[test]
    fn patterns_of_a_source_and_of_a_document_are_counted() {
        let source = "//! What it is.\n\n/// `what` is code.\nfn f() {\n    \
                      // Where so many\n    // are.\n    print(\"no file where it was expected to be\");\n}\n";
        let counted = |name: &str, text: &str| {
            let mut counts = Counts::default();
            paragraphs(Path::new(name), text).iter().for_each(|it| counts.take_in(&it.text));
            counts
        };
        let counts = counted("crates/a/src/b.rs", source);
        assert_eq!(counts.of(Pattern::What), 1);
        assert_eq!(counts.of(Pattern::Where), 2);
        assert_eq!(counts.of(Pattern::Phrase), 1);
        let counts =
            counted("a.md", "What is\n[what](what.md)\n```\nwhat\n```\n| what | where |\n");
        assert_eq!((counts.of(Pattern::What), counts.of(Pattern::Where)), (3, 1));
    }
}
