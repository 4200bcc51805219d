//! `cache`: shows or empties a cache folder of names and the store of recorded files.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cache::{CacheContents, FileStore, StoreContents};
use host::PrivateFolder;

use crate::args::{CacheArgs, CacheWhat, host};
use crate::terminal::{Status, shown};

/// Runs the chosen action.
pub(super) fn run(args: &CacheArgs) -> anyhow::Result<Status> {
    let (CacheWhat::Info(at) | CacheWhat::Clear(at)) = &args.what;
    let clears = matches!(args.what, CacheWhat::Clear(_));
    let text = match &at.folder {
        Some(folder) => of_folder(folder, clears),
        None => of_store(clears),
    }?;
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Status::Complete),
    }
}

/// Shows or empties a folder that the user named; it may hold both a cache of names and a store.
fn of_folder(folder: &Path, clears: bool) -> anyhow::Result<String> {
    let failed = || format!("the cache {}", folder.display());
    let (names, store) = (PrivateFolder::at(folder.to_owned()), FileStore::at(folder.to_owned()));
    if clears {
        let (files, bytes) = CacheContents::clear(&names).with_context(failed)?;
        let stored = StoreContents::clear(&store).with_context(failed)?;
        return Ok(removed(files + stored.0, bytes + stored.1));
    }
    let kept = CacheContents::of(&names).with_context(failed)?;
    let stored = StoreContents::of(&store).with_context(failed)?;
    Ok(match (stored.is_empty(), kept == CacheContents::default()) {
        (true, _) => kept.to_string(),
        (false, true) => stored.to_string(),
        (false, false) => format!("{kept}\n{stored}"),
    })
}

/// Shows or empties the store of `record`, which need not exist.
fn of_store(clears: bool) -> anyhow::Result<String> {
    let folder: Option<PathBuf> = host().file_store();
    let folder = folder.context("neither HOME nor XDG_CACHE_HOME is set; name a folder")?;
    let failed = || format!("the store {}", folder.display());
    let store = FileStore::at(folder.clone());
    if clears {
        let (files, bytes) = StoreContents::clear(&store).with_context(failed)?;
        return Ok(removed(files, bytes));
    }
    let stored = StoreContents::of(&store).with_context(failed)?;
    Ok(format!("{stored}, in {}", shown(&folder.display().to_string())))
}

fn removed(files: u64, bytes: u64) -> String {
    format!("removed files: {files}, bytes: {bytes}")
}
