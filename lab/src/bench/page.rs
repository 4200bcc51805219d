//! Measured parts of docs/BENCHMARKING.md: each lies between two marks; people write the rest.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::command;

/// The text between the marks of a name.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) text: String,
}

impl Part {
    /// Returns the part of that name in the page, empty if the page has none.
    pub(super) fn read(name: &'static str, page: &str) -> Self {
        let (_, text, _) = split(page, name);
        Self { name, text: text.to_owned() }
    }

    /// Writes the part into the page, over its old text, or at the end of a page without such marks.
    pub(super) fn write(&self) -> Result<()> {
        let path = path();
        let page = read(&path)?;
        std::fs::write(&path, self.placed(&page)).with_context(|| path.display().to_string())?;
        println!("written to {}", path.display());
        Ok(())
    }

    /// Returns the page with this part in its position.
    pub(super) fn placed(&self, page: &str) -> String {
        let (front, _, back) = split(page, self.name);
        let [begin, end] = marks(self.name);
        format!("{}\n\n{begin}\n{}\n{end}\n{}", front.trim_end(), self.text.trim_end(), back)
    }
}

/// Returns the current page.
pub(super) fn current() -> Result<String> {
    read(&path())
}

fn path() -> PathBuf {
    command::root().join("docs/BENCHMARKING.md")
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn marks(name: &str) -> [String; 2] {
    ["begin", "end"].map(|word| format!("<!-- {name}: {word} -->"))
}

/// Returns the text before the marks, between them and after them.
fn split<'p>(page: &'p str, name: &str) -> (&'p str, &'p str, &'p str) {
    let [begin, end] = marks(name);
    let (front, rest) = page.split_once(&begin).unwrap_or((page, ""));
    let (text, back) = rest.split_once(&end).unwrap_or_default();
    (front, text.trim(), back.strip_prefix('\n').unwrap_or(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_the_place_of_the_one_before() {
        let page = "# Title\n\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter\n";
        let part = Part { name: "a", text: "new\n".to_owned() };
        assert_eq!(Part::read("a", page).text, "old");
        assert_eq!(
            part.placed(page),
            "# Title\n\n<!-- a: begin -->\nnew\n<!-- a: end -->\nafter\n"
        );
        let other = Part { name: "b", text: "x".to_owned() };
        assert_eq!(
            other.placed(page),
            format!("{}\n\n<!-- b: begin -->\nx\n<!-- b: end -->\n", page.trim_end())
        );
    }
}
