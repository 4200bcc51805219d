//! `cargo xtask licenses`: the notices of the libraries in the program, in `crates/unwind-perf/THIRD-PARTY-LICENSES.txt`.
//!
//! `cargo about` selects the licences and finds their texts. The check, which needs only cargo, compares the list at the
//! start of the file with the locked packages.

mod about;
mod further;
mod notice;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{command, packages};

/// The notices, below the root of the repository. The file belongs to the package of the program.
const NOTICES: &str = "crates/unwind-perf/THIRD-PARTY-LICENSES.txt";

/// Writes the notices, or checks them with `--check`.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let only_check = args.flag("--check");
    args.finish()?;
    let root = command::root();
    if only_check {
        check(&root)?;
        println!("{NOTICES} lists the locked packages");
        return Ok(ExitCode::SUCCESS);
    }
    let path = path(&root);
    let text = written(&root)?;
    std::fs::write(&path, &text).with_context(|| path.display().to_string())?;
    println!("{NOTICES}: {} KiB", text.len() / 1024);
    Ok(ExitCode::SUCCESS)
}

/// Returns the path of the notices.
pub(crate) fn path(root: &Path) -> PathBuf {
    root.join(NOTICES)
}

/// Fails if the notices list other packages, versions or licences than the locked ones.
pub(crate) fn check(root: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path(root)).context(NOTICES)?;
    let expected: Vec<String> = packages::linked(root)?.iter().map(notice::row).collect();
    let differing = differences(&notice::rows(&text), &expected);
    if !differing.is_empty() {
        bail!("{NOTICES} is out of date; run `cargo xtask licenses`:\n{}", differing.join("\n"));
    }
    Ok(())
}

/// Returns a line for each row that only one side has.
fn differences(found: &[&str], expected: &[String]) -> Vec<String> {
    let surplus = found.iter().filter(|row| !expected.iter().any(|it| it == *row));
    let missing = expected.iter().filter(|row| !found.contains(&row.as_str()));
    let surplus = surplus.map(|row| format!("- {row}"));
    surplus.chain(missing.map(|row| format!("+ {row}"))).collect()
}

/// Returns the notices of the locked packages.
fn written(root: &Path) -> Result<String> {
    let packages = packages::linked(root)?;
    let texts = about::texts(root, &packages)?;
    let further = further::texts(&packages)?;
    Ok(notice::render(&packages, &texts, &further))
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn rows_of_one_side_are_found() {
        let expected = ["a 1".to_owned(), "b 2".to_owned()];
        assert_eq!(differences(&["a 1", "b 1"], &expected), ["- b 1", "+ b 2"]);
        assert_eq!(differences(&["a 1", "b 2"], &expected), Vec::<String>::new());
    }
}
