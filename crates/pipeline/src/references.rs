//! Options that refer to more options (files with hints, the debuginfod servers of the environment), and the refusal of
//! shared folders.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::Path;

use host::{Host, HostError, Origin};
use options::{FileSearch, Hint, Servers};

use crate::error::Error;

/// Returns the options with the hints of their files added, and with the servers of the environment if requested.
///
/// # Errors
/// If a file with hints cannot be read or has an invalid line, if the environment names no server, or if other users
/// can write a build-id store.
pub(crate) fn resolved<'f>(
    files: &'f FileSearch,
    host: &dyn Host,
) -> Result<Cow<'f, FileSearch>, Error> {
    for path in &files.build_id_stores {
        refuse_shared("buildid_dirs", path, host)?;
    }
    if files.map_files.is_empty() && !files.debuginfod.environment {
        return Ok(Cow::Borrowed(files));
    }
    let mut files = files.clone();
    for path in std::mem::take(&mut files.map_files) {
        read_hints(&path, host, &mut files.hints)?;
    }
    if files.debuginfod.environment {
        files.debuginfod = servers_of_environment(host);
        if files.debuginfod.is_empty() {
            return Err(Error::NoServers);
        }
    }
    Ok(Cow::Owned(files))
}

/// Refuses a named folder with files of earlier runs if other users can write it.
pub(crate) fn refuse_shared(
    option: &'static str,
    path: &Path,
    host: &dyn Host,
) -> Result<(), Error> {
    match host.distrust(path) {
        Some(distrust) => Err(Error::SharedFolder { option, path: path.to_owned(), distrust }),
        None => Ok(()),
    }
}

/// Returns the debuginfod servers that the environment names.
#[must_use]
pub fn servers_of_environment(host: &dyn Host) -> Servers {
    let list = host.variable("DEBUGINFOD_URLS").unwrap_or_default();
    Servers::of_list(&list.to_string_lossy())
}

/// Adds the hints of a file that the user named, one per line; `#` begins a comment. The file may be a FIFO.
fn read_hints(path: &Path, host: &dyn Host, hints: &mut Vec<Hint>) -> Result<(), Error> {
    let failed = |source| Error::MapFile { path: path.to_owned(), source };
    let stream = host.stream(path, Origin::User).map_err(|error| match error {
        HostError::Io { source, .. } => failed(source),
        other => failed(io::Error::other(other)),
    });
    let mut text = String::new();
    stream?.read_to_string(&mut text).map_err(failed)?;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            let wrong = |source| Error::MapFileLine { path: path.to_owned(), line: number, source };
            hints.push(Hint::parse(line).map_err(wrong)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    #[test]
    fn hints_are_read_from_files() {
        let machine = MemoryHost::new();
        machine.insert("/hints", *b"# of the JIT\n\n a@1,2,3 \nb@*,4,5\n");
        machine.insert("/wrong", *b"a@1,2,3\nnothing\n");
        let of = |paths: &[&str]| FileSearch {
            hints: vec![Hint::parse("c@1,9,1").unwrap()],
            map_files: paths.iter().map(Into::into).collect(),
            ..FileSearch::default()
        };
        let found = resolved(&of(&["/hints"]), &machine).unwrap().into_owned();
        let hints: Vec<_> = found.hints.iter().map(ToString::to_string).collect();
        assert_eq!(hints, ["c@1,0x9,0x1", "a@1,0x2,0x3", "b@*,0x4,0x5"]);
        assert!(found.map_files.is_empty());
        let error = resolved(&of(&["/wrong"]), &machine).map(drop).unwrap_err();
        assert!(matches!(error, Error::MapFileLine { line: 2, .. }), "{error:?}");
        let error = resolved(&of(&["/none"]), &machine).map(drop).unwrap_err();
        assert!(matches!(error, Error::MapFile { .. }), "{error:?}");
    }

    #[test]
    fn an_environment_without_servers_is_an_error() {
        let machine = MemoryHost::new();
        let debuginfod = Servers { urls: Vec::new(), environment: true };
        let files = FileSearch { debuginfod, ..FileSearch::default() };
        assert!(matches!(resolved(&files, &machine), Err(Error::NoServers)));
        let none = FileSearch::default();
        assert!(matches!(resolved(&none, &machine), Ok(Cow::Borrowed(_))));
    }
}
