//! `cache`: shows or empties the caches of names and unwind rules, and the store of recorded files.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use cache::{CacheContents, FileStore, StoreContents};
use host::PrivateFolder;

use crate::args::{CacheArgs, CacheWhat, host, usual_cache};
use crate::terminal::{Status, shown};

/// Runs the chosen action.
pub(super) fn run(args: &CacheArgs) -> anyhow::Result<Status> {
    let (CacheWhat::Info(at) | CacheWhat::Clear(at)) = &args.what;
    let clears = matches!(args.what, CacheWhat::Clear(_));
    let text = match &at.folder {
        Some(folder) => of_folder(folder, clears),
        None => of_usual(clears),
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

/// Shows or empties the usual folders, which need not exist: that of names and unwind rules, and the store of `record`.
fn of_usual(clears: bool) -> anyhow::Result<String> {
    let host = host();
    let store = host.file_store();
    let store = store.context("neither HOME nor XDG_CACHE_HOME is set; name a folder")?;
    let store = FileStore::at(store);
    let names = usual_cache(&*host).map(|place| PrivateFolder::at(place.folder));
    let names = names.filter(PrivateFolder::is_there);
    let of_store = || format!("the store {}", store.folder().display());
    let of_names = |names: &PrivateFolder| format!("the cache {}", names.path().display());
    if clears {
        let (mut files, mut bytes) = StoreContents::clear(&store).with_context(of_store)?;
        if let Some(names) = &names {
            let removed = CacheContents::clear(names).with_context(|| of_names(names))?;
            (files, bytes) = (files + removed.0, bytes + removed.1);
        }
        return Ok(removed(files, bytes));
    }
    let stored = StoreContents::of(&store).with_context(of_store)?;
    let shown_path = |path: &Path| shown(&path.display().to_string());
    let mut text = format!("recorded files, in {}\n{stored}", shown_path(store.folder()));
    if let Some(names) = &names {
        let kept = CacheContents::of(names).with_context(|| of_names(names))?;
        text = format!(
            "names, unwind rules and profiles, in {}\n{kept}\n\n{text}",
            shown_path(names.path())
        );
    }
    Ok(text)
}

fn removed(files: u64, bytes: u64) -> String {
    format!("removed files: {files}, bytes: {bytes}")
}
