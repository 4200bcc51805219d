//! The file of notices: a list of packages, then each text once with the packages that it applies to.

use crate::packages::Package;

/// A text and the packages that it applies to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Name of the licence, or of the file.
    pub(super) title: String,
    pub(super) text: String,
    /// Names with versions.
    pub(super) used_by: Vec<String>,
}

/// Line above and below the list of packages.
const LIST: &str = "----- packages -----";
/// Line above the title of each text.
const RULE: &str =
    "================================================================================";

const INTRODUCTION: &str = "\
Licences of the libraries in unwind-perf

The program contains the libraries below, unchanged. Each row has the name, the version, the licence as its authors
state it, and the address of the source. The source of a library is also the package of that name and version in the
registry of Rust. If several licences are offered, the text of one of them follows.

inferno is under the Common Development and Distribution License 1.0: its source is available at its address.
`cargo install unwind-perf --no-default-features` builds without it.
";

/// Returns the row of a package.
pub(super) fn row(package: &Package) -> String {
    let license = package.license.as_deref().unwrap_or("see its text");
    let address = package.repository.as_deref().unwrap_or("-");
    format!("{} {} | {license} | {address}", package.name, package.version)
}

/// Returns the rows of a file of notices.
pub(super) fn rows(text: &str) -> Vec<&str> {
    let rows = text.lines().skip_while(|line| *line != LIST).skip(1);
    rows.take_while(|line| *line != LIST).collect()
}

/// Returns the file of notices.
pub(super) fn render(packages: &[Package], licenses: &[Text], further: &[Text]) -> String {
    let mut out = format!("{INTRODUCTION}\n{LIST}\n");
    for package in packages {
        out.push_str(&row(package));
        out.push('\n');
    }
    out.push_str(LIST);
    out.push('\n');
    for text in licenses.iter().chain(further) {
        push(&mut out, text);
    }
    out
}

/// Appends a text under its title. Ends of lines are those of Unix, without spaces before them.
fn push(out: &mut String, text: &Text) {
    out.push_str(&format!("\n{RULE}\n{}\n", text.title));
    for name in &text.used_by {
        out.push_str(&format!("  {name}\n"));
    }
    out.push_str(&format!("{RULE}\n\n"));
    for line in text.text.trim_matches(['\n', '\r', '\u{feff}']).lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_what_is_written() {
        let text = Text {
            title: "MIT".to_owned(),
            text: "\nCopyright A \r\nPermission\n\n".to_owned(),
            used_by: vec!["a 1.0.0".to_owned()],
        };
        let mut out = format!("{INTRODUCTION}\n{LIST}\na 1.0.0 | MIT | -\n{LIST}\n");
        push(&mut out, &text);
        assert_eq!(rows(&out), ["a 1.0.0 | MIT | -"]);
        let end = format!("{RULE}\nMIT\n  a 1.0.0\n{RULE}\n\nCopyright A\nPermission\n");
        assert!(out.ends_with(&end), "{out}");
    }
}
