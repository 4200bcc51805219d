//! `cargo xtask map`: the list of crates and their rooms in `docs/ARCHITECTURE.md`, out of the first sentences of their
//! own documentation. `tidy` finds it where it is not the present one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::layers::crate_folders;
use super::rooms::{Source, crates};
use crate::args::Args;
use crate::command;

const PAGE: &str = "docs/ARCHITECTURE.md";
const BEGIN: &str = "<!-- map: begin, written by `cargo xtask map` -->\n";
const END: &str = "<!-- map: end -->";

/// Writes the list.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let root = command::root();
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| PAGE)?;
    std::fs::write(&path, with_map(&page, &map(&root, &super::files(&root)?)?)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the list is the present one.
pub(super) fn check(root: &Path, files: &[PathBuf]) -> Result<Option<String>> {
    let page = std::fs::read_to_string(root.join(PAGE)).with_context(|| PAGE)?;
    let is_present = with_map(&page, &map(root, files)?)? == page;
    Ok((!is_present).then(|| format!("{PAGE}: the list of rooms is old: cargo xtask map")))
}

/// The page with that list between its marks.
fn with_map(page: &str, map: &str) -> Result<String> {
    let Some((before, rest)) = page.split_once(BEGIN) else { bail!("{PAGE} has no {BEGIN}") };
    let Some((_, after)) = rest.split_once(END) else { bail!("{PAGE} has no {END}") };
    Ok(format!("{before}{BEGIN}{map}{END}{after}"))
}

/// A line for each crate, from the bottom up, and for each of its rooms.
fn map(root: &Path, files: &[PathBuf]) -> Result<String> {
    let mut text = String::new();
    let mut all = crates(files);
    for (name, folder) in crate_folders() {
        let Some(sources) = all.remove(name) else { continue };
        writeln!(text, "\n**{folder}**: {}", purpose(root, &sources, None)?)?;
        let mut rooms: Vec<&str> = sources.iter().filter_map(Source::room).collect();
        rooms.sort_unstable();
        rooms.dedup();
        // What only tests compile is no room.
        for room in rooms.into_iter().filter(|&room| room != "tests") {
            let is_folder = sources.iter().any(|source| source.is_in_folder(room));
            let mark = if is_folder { "/" } else { ".rs" };
            writeln!(text, "- `{room}{mark}`: {}", purpose(root, &sources, Some(room))?)?;
        }
    }
    if let Some(name) = all.keys().next() {
        bail!("{name} is not in the table of layers");
    }
    Ok(text.trim_start().to_owned())
}

/// The first sentence of a room's documentation, or of the crate's.
fn purpose(root: &Path, sources: &[Source], room: Option<&str>) -> Result<String> {
    // A crate that is a library and a program is described by `lib.rs`, which is before `main.rs`.
    let top = sources.iter().filter(|it| it.is_top_of(room)).min_by_key(|it| &it.path);
    let Some(top) = top else {
        bail!("{} has no file of its own", room.unwrap_or("a crate's root"));
    };
    let text = std::fs::read_to_string(root.join(&top.path))?;
    Ok(first_sentence(&text))
}

/// The first sentence of the `//!` text, as Markdown without links.
fn first_sentence(source: &str) -> String {
    let paragraph: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    let sentence = paragraph[..end].trim_end_matches('.').replace("[`", "`");
    // A link is its name, or its name and a path in parentheses.
    let mut parts = sentence.split("`]");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        text.push('`');
        text.push_str(target.map_or(part, |(_, after)| after));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, with_map};

    #[test]
    fn the_first_sentence_may_take_lines() {
        let source = "//! Reads [`Cursor`]s of\n//! bytes. And more.\n//!\n//! Else.\nuse a;\n";
        assert_eq!(first_sentence(source), "Reads `Cursor`s of bytes");
        assert_eq!(first_sentence("//! One.\n"), "One");
        assert_eq!(
            first_sentence("//! [`A`](b::A) in,\n//! `c` (d) out.\n"),
            "`A` in, `c` (d) out"
        );
    }

    #[test]
    fn what_is_around_the_marks_stays() {
        let page =
            "a\n<!-- map: begin, written by `cargo xtask map` -->\nold\n<!-- map: end -->\nb\n";
        assert_eq!(
            with_map(page, "new\n").unwrap(),
            "a\n<!-- map: begin, written by `cargo xtask map` -->\nnew\n<!-- map: end -->\nb\n"
        );
        assert!(with_map("a\n", "").is_err());
    }
}
