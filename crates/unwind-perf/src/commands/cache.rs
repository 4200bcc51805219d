//! `cache`: what a folder of kept names has, and emptying it.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use cache::CacheContents;
use host::OwnFolder;

use crate::args::{CacheArgs, CacheWhat};
use crate::terminal::Status;

/// Does what the arguments ask for.
pub(super) fn run(args: &CacheArgs) -> anyhow::Result<Status> {
    let text = match &args.what {
        CacheWhat::Info(at) => on(&at.folder, CacheContents::of)?.to_string(),
        CacheWhat::Clear(at) => {
            let (files, bytes) = on(&at.folder, CacheContents::clear)?;
            format!("removed files: {files}, bytes: {bytes}")
        }
    };
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Status::Complete),
    }
}

fn on<T>(folder: &Path, work: impl FnOnce(&OwnFolder) -> io::Result<T>) -> anyhow::Result<T> {
    let done = work(&OwnFolder::at(folder.to_owned()));
    done.with_context(|| format!("the folder {} of kept names", folder.display()))
}
