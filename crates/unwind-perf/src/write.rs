//! Where the output goes: standard output, or a file that appears when it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use output::{Format, Printer, Profile};

/// Where to write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    Stdout,
    /// A file that appears when it is complete.
    File(&'a Path),
    /// A file that is written into where it exists.
    InPlace(&'a Path),
}

impl<'a> Target<'a> {
    /// Standard output where there is no path.
    pub(crate) fn new(path: Option<&'a Path>, in_place: bool) -> Self {
        match path {
            None => Self::Stdout,
            // What is no regular file (a device, a FIFO) is written in place: there is nothing to rename over.
            Some(path) if in_place || path.metadata().is_ok_and(|metadata| !metadata.is_file()) => {
                Self::InPlace(path)
            }
            Some(path) => Self::File(path),
        }
    }

    /// What to say where it cannot be written.
    pub(crate) fn failed(&self) -> String {
        match self {
            Self::Stdout => "cannot write to standard output".to_owned(),
            Self::File(path) | Self::InPlace(path) => format!("cannot write {}", path.display()),
        }
    }

    /// Opens it.
    pub(crate) fn open(&self) -> io::Result<Out> {
        let (out, temporary): (Box<dyn Write + Send>, _) = match *self {
            Self::Stdout => (Box::new(io::stdout()), None),
            Self::InPlace(path) => {
                let mut options = File::options();
                let file = options.write(true).create(true).truncate(true).open(path)?;
                (Box::new(file), None)
            }
            Self::File(path) => {
                let temporary = Temporary::beside(path);
                (Box::new(File::create(&temporary.path)?), Some((temporary, path.to_owned())))
            }
        };
        Ok(Out { out, temporary })
    }
}

/// An open target.
pub(crate) struct Out {
    out: Box<dyn Write + Send>,
    /// The file that is written, and what it becomes when it is complete.
    temporary: Option<(Temporary, PathBuf)>,
}

impl Out {
    /// One that forgets what is written to it.
    pub(crate) fn nowhere() -> Self {
        Self { out: Box::new(io::sink()), temporary: None }
    }

    /// All was written.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let Some((temporary, path)) = &self.temporary else { return Ok(()) };
        std::fs::rename(&temporary.path, path)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The file to write: in a folder, it is named after the recording, with the usual ending of the format.
pub(crate) fn named(path: &Path, input: &Path, format: Format) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let stem = [".data", ".perfdata"].iter().find_map(|ending| name.strip_suffix(ending));
    let stem = Some(stem.unwrap_or(&name)).filter(|stem| !["", "-"].contains(stem));
    path.join(format.file_name(stem.unwrap_or("perf")))
}

/// Prints the profile.
pub(crate) fn write(
    profile: &Profile,
    printer: &dyn Printer,
    target: Target<'_>,
) -> anyhow::Result<()> {
    let failed = || target.failed();
    if matches!(target, Target::Stdout) {
        let mut out = io::stdout().lock();
        printer.print(profile, &mut out).with_context(failed)?;
        return out.flush().with_context(failed);
    }
    let mut out = target.open().with_context(failed)?;
    printer.print(profile, &mut out).with_context(failed)?;
    out.complete().with_context(failed)
}

/// A file that is removed unless it was renamed away.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(path: &Path) -> Self {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}", std::process::id()));
        Self { path: path.with_file_name(name) }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_a_folder_are_named_after_the_recording() {
        let folder = std::env::temp_dir();
        for (input, format, name) in [
            ("perf.data", Format::Json, "perf.json"),
            ("/a/long.name.perfdata", Format::Speedscope, "long.name.speedscope.json"),
            ("-", Format::Pprof, "perf.pb.gz"),
            (".data", Format::Firefox, "perf.json.gz"),
            ("b", Format::Callgrind, "callgrind.out.b"),
        ] {
            assert_eq!(named(&folder, Path::new(input), format), folder.join(name));
        }
        let file = folder.join("no such folder");
        assert_eq!(named(&file, Path::new("perf.data"), Format::Json), file);
    }
}
