//! `cargo xtask docs`: the documents as a site, built with mdBook, with every link checked before and after.

mod book;
pub(crate) mod links;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;
use crate::repository::files;

/// Builds the site below `target/book`, or in the folder of `--out`.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let out = args.value("--out")?.map(PathBuf::from);
    args.finish()?;
    let root = command::root();
    let out = std::path::absolute(out.unwrap_or_else(|| command::target().join("book")))?;
    let index = build(&root, &out)?;
    println!("{}", index.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the site in `out` and checks it. Returns its first page.
pub(crate) fn build(root: &Path, out: &Path) -> Result<PathBuf> {
    let files = files(root)?;
    let broken = links::check(root, &files)?;
    if !broken.is_empty() {
        bail!("links that lead nowhere:\n{}", broken.join("\n"));
    }
    if out.exists() {
        std::fs::remove_dir_all(out).with_context(|| out.display().to_string())?;
    }
    let source = out.join("source");
    book::stage(root, &files, &source)?;
    let site = out.join("site");
    let mut mdbook = command::words("mdbook build");
    command::run(mdbook.arg(&source).arg("--dest-dir").arg(&site))
        .context("mdBook is needed: cargo install mdbook --locked --no-default-features")?;
    let broken = links::check_site(&site)?;
    if !broken.is_empty() {
        bail!("links of the site that lead nowhere:\n{}", broken.join("\n"));
    }
    Ok(site.join("index.html"))
}
