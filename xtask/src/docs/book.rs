//! The source of the book: the documents at their places in the repository, with every file that they link to.
//!
//! The chapters are those of `docs/SUMMARY.md`, and the documents outside of `docs` that chapters link to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::links::{links, target};

/// The settings of the book.
const SETTINGS: &str = "\
[book]
title = \"unwind-perf\"
language = \"en\"
src = \"pages\"

[output.html]
no-section-label = true
";

/// The list of the chapters and the first of them, which lie at the root of the book.
const AT_ROOT: [&str; 2] = ["SUMMARY.md", "index.md"];

/// Writes the book's source into a folder.
pub(super) fn stage(root: &Path, files: &[PathBuf], folder: &Path) -> Result<()> {
    let pages = folder.join("pages");
    std::fs::create_dir_all(&pages)?;
    std::fs::write(folder.join("book.toml"), SETTINGS)?;
    let mut linked = BTreeSet::new();
    let chapters = files
        .iter()
        .filter(|path| path.starts_with("docs") && path.extension().is_some_and(|it| it == "md"));
    let mut waiting: Vec<PathBuf> = chapters.cloned().collect();
    while let Some(path) = waiting.pop() {
        if !linked.insert(path.clone()) || path.extension().is_none_or(|it| it != "md") {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&path))
            .with_context(|| path.display().to_string())?;
        waiting.extend(links(&text).iter().map(|link| target(&path, link.file)));
    }
    for path in linked.iter().filter(|path| root.join(path).is_file()) {
        let copy = pages.join(path);
        if let Some(folder) = copy.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::copy(root.join(path), &copy).with_context(|| path.display().to_string())?;
    }
    for name in AT_ROOT {
        let document = Path::new("docs").join(name);
        let text = std::fs::read_to_string(root.join(&document))
            .with_context(|| document.display().to_string())?;
        let mut text = from_root(&text);
        if name == AT_ROOT[0] {
            text.push_str(&further_chapters(&linked));
        }
        std::fs::write(pages.join(name), text)?;
        std::fs::remove_file(pages.join(&document))?;
    }
    Ok(())
}

/// A document of `docs` whose links lead from the root.
fn from_root(text: &str) -> String {
    text.replace("](", "](docs/").replace("](docs/index.md)", "](index.md)")
}

/// Chapters of the linked documents outside of `docs`.
fn further_chapters(linked: &BTreeSet<PathBuf>) -> String {
    let further = linked
        .iter()
        .filter(|path| !path.starts_with("docs") && path.extension().is_some_and(|it| it == "md"));
    further.map(|path| format!("- [{0}]({0})\n", path.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_documents_become_chapters() {
        let linked = ["docs/a.md", "b.md", "c.json"].map(PathBuf::from).into();
        assert_eq!(further_chapters(&linked), "- [b.md](b.md)\n");
        let summary = "[U](index.md)\n- [A](guide/a.md)\n";
        assert_eq!(from_root(summary), "[U](index.md)\n- [A](docs/guide/a.md)\n");
    }
}
