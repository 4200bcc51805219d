//! Target of the output: standard output, or a file that appears when it is complete. Every writer uses it,
//! so none of them overwrites an input of the run.
#![allow(clippy::disallowed_methods, reason = "the one place where the command writes files")]

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use formats::{Format, Printer};
use host::{MemoryPart, NewFile, follow_own_links, memory_is_for};
use pipeline::{FileSearch, Options};
use profile::Profile;

/// Regular files that a run reads, by device and inode, so that any name of them is recognized.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    recording: Vec<FileId>,
    others: Vec<FileId>,
}

/// Device and inode.
type FileId = (u64, u64);

impl Inputs {
    /// Collects the recording (`-` for standard input; all files of a directory), the files that the options name, and
    /// the files of map hints.
    pub(crate) fn new(recording: &Path, options: &Options, map_files: &[PathBuf]) -> Self {
        let of_path = |path: &Path| file_id(&fs::metadata(path).ok()?);
        let recording = if recording == Path::new("-") {
            id_of_stream(io::stdin()).into_iter().collect()
        } else if let Ok(entries) = fs::read_dir(recording) {
            entries.filter_map(|entry| of_path(&entry.ok()?.path())).collect()
        } else {
            of_path(recording).into_iter().collect()
        };
        let FileSearch { modules, build_id_stores, hints, kallsyms, .. } = &options.files;
        let others = modules.iter().chain(build_id_stores).chain(map_files);
        let others = others.chain(kallsyms).map(PathBuf::as_path);
        let objects = hints.iter().map(|hint| &*hint.object);
        Self { recording, others: others.chain(objects).filter_map(of_path).collect() }
    }

    /// Adds the inputs of another recording.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.recording.extend(other.recording);
        self.others.extend(other.others);
        self
    }

    /// Refuses a target that is one of the inputs.
    fn check(&self, target: Option<FileId>, name: &dyn std::fmt::Display) -> anyhow::Result<()> {
        let is_one_of = |ids: &[FileId]| target.is_some_and(|id| ids.contains(&id));
        if is_one_of(&self.recording) {
            bail!("{name} is the recording itself; name another file");
        }
        if is_one_of(&self.others) {
            bail!("{name} is read by this run; name another file");
        }
        Ok(())
    }
}

fn file_id(metadata: &Metadata) -> Option<FileId> {
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

/// Returns the file to which standard input or standard output is redirected.
fn id_of_stream(stream: impl AsFd) -> Option<FileId> {
    let descriptor: OwnedFd = stream.as_fd().try_clone_to_owned().ok()?;
    file_id(&File::from(descriptor).metadata().ok()?)
}

/// Target of the output.
#[derive(Clone, Debug)]
pub(crate) enum OutputTarget {
    Stdout,
    /// A file that appears when it is complete: its given name, and its real path after following links.
    File {
        name: PathBuf,
        place: PathBuf,
    },
    /// A file, device or FIFO that is written in place.
    InPlace(PathBuf),
}

impl OutputTarget {
    /// Standard output if there is no path. A file that is not a regular one is written in place: it cannot be replaced
    /// by a rename.
    ///
    /// # Errors
    /// If the target is one of the `inputs`, or cannot be reached.
    pub(crate) fn new(path: Option<&Path>, inputs: &Inputs) -> anyhow::Result<Self> {
        let Some(path) = path else {
            inputs.check(id_of_stream(io::stdout()), &"standard output")?;
            return Ok(Self::Stdout);
        };
        let (target, is_regular) = Self::at(path, inputs)?;
        Ok(if is_regular { target } else { Self::InPlace(path.to_owned()) })
    }

    /// Target that overwrites the file instead of replacing it, for programs that hold it open.
    ///
    /// # Errors
    /// If it is one of the `inputs`, or cannot be reached.
    pub(crate) fn in_place(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        Self::at(path, inputs)?;
        Ok(Self::InPlace(path.to_owned()))
    }

    /// Target for a regular file, which may not exist yet.
    ///
    /// # Errors
    /// If it is one of the `inputs`, cannot be reached, or is not a regular file.
    pub(crate) fn regular_file(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        let (target, is_regular) = Self::at(path, inputs)?;
        if !is_regular {
            bail!("cannot write {}: not a regular file", path.display());
        }
        Ok(target)
    }

    /// Returns the target at `path`, and true if it is a regular file or does not exist yet.
    fn at(path: &Path, inputs: &Inputs) -> anyhow::Result<(Self, bool)> {
        let file = |place| Self::File { name: path.to_owned(), place };
        match fs::metadata(path) {
            Ok(metadata) if metadata.file_type().is_block_device() => {
                bail!("cannot write {}: a disk or other block device", path.display())
            }
            Ok(metadata) => {
                let id = file_id(&metadata);
                inputs.check(id, &path.display())?;
                let place = follow_links(path)?;
                // The file behind a descriptor of `/dev/fd` may no longer have a name.
                let is_there = fs::metadata(&place).is_ok_and(|there| file_id(&there) == id);
                Ok((file(place), id.is_some() && is_there))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok((file(follow_links(path)?), true))
            }
            Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
    }

    /// Path of the file; `None` for standard output.
    pub(crate) fn place(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File { place, .. } | Self::InPlace(place) => Some(place),
        }
    }

    /// Returns the message for a failed write.
    pub(crate) fn failed(&self) -> String {
        match self {
            Self::Stdout => "cannot write to standard output".to_owned(),
            Self::File { name, .. } | Self::InPlace(name) => {
                format!("cannot write {}", name.display())
            }
        }
    }

    /// Opens the target.
    pub(crate) fn open(&self) -> io::Result<Out> {
        Ok(Out(match self {
            Self::Stdout => TargetSink::Stream(Box::new(io::stdout())),
            Self::InPlace(path) => {
                let mut options = File::options();
                let file = options.write(true).create(true).truncate(true).open(path)?;
                TargetSink::Stream(Box::new(file))
            }
            Self::File { place, .. } => TargetSink::New(NewFile::create(place)?),
        }))
    }

    /// Opens the target and writes all of `bytes`.
    pub(crate) fn write_all(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let write = || {
            let mut out = self.open()?;
            out.write_all(bytes)?;
            out.complete()
        };
        write().with_context(|| self.failed())
    }
}

/// Returns the real path of a target, which may not exist yet. Only links of the last component are followed,
/// so that files beside it are reached under the given folder.
///
/// # Errors
/// If the link, or the file that it leads to, belongs to another user.
fn follow_links(path: &Path) -> anyhow::Result<PathBuf> {
    follow_own_links(path).map_err(|distrust| {
        anyhow!("cannot write {}: {distrust}; name the file itself", path.display())
    })
}

/// An open target.
pub(crate) struct Out(TargetSink);

enum TargetSink {
    Stream(Box<dyn Write + Send>),
    /// A file that appears when it is complete.
    New(NewFile),
    /// The file is complete.
    Complete,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Out")
    }
}

impl Out {
    /// Writes to another writer.
    #[cfg(feature = "service")]
    pub(crate) fn to(out: Box<dyn Write + Send>) -> Self {
        Self(TargetSink::Stream(out))
    }

    /// Discards all output.
    pub(crate) fn nowhere() -> Self {
        Self(TargetSink::Stream(Box::new(io::sink())))
    }

    /// Completes the output after the last write.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        self.flush()?;
        match std::mem::replace(&mut self.0, TargetSink::Complete) {
            TargetSink::New(file) => file.complete(),
            TargetSink::Stream(_) | TargetSink::Complete => Ok(()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            TargetSink::Stream(out) => out.write(bytes),
            TargetSink::New(file) => file.write(bytes),
            TargetSink::Complete => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            TargetSink::Stream(out) => out.flush(),
            TargetSink::New(file) => file.flush(),
            TargetSink::Complete => Ok(()),
        }
    }
}

/// Returns the path to write: in a folder, the recording's name with the usual ending of the format.
pub(crate) fn output_path(path: &Path, input: &Path, format: Format) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let stem = [".data", ".perfdata"].iter().find_map(|ending| name.strip_suffix(ending));
    let stem = Some(stem.unwrap_or(&name)).filter(|stem| !["", "-"].contains(stem));
    path.join(format.file_name(stem.unwrap_or("perf")))
}

/// Returns true if the name of the output says that it is not compressed, although the format usually is.
pub(crate) fn is_plain(format: Format, output: Option<&Path>) -> bool {
    let is_json = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    format == Format::Firefox && output.is_some_and(is_json)
}

/// Prints the profile to the target.
pub(crate) fn print_profile(
    profile: &Profile,
    printer: &dyn Printer,
    target: &OutputTarget,
) -> anyhow::Result<()> {
    memory_is_for(MemoryPart::Output);
    print_to(target, |out| printer.print(profile, out))
}

/// Prints the output of `write` to the target.
pub(crate) fn print_to(
    target: &OutputTarget,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let failed = || target.failed();
    if matches!(target, OutputTarget::Stdout) {
        let mut out = io::stdout().lock();
        write(&mut out).with_context(failed)?;
        return out.flush().with_context(failed);
    }
    let mut out = target.open().with_context(failed)?;
    write(&mut out).with_context(failed)?;
    out.complete().with_context(failed)
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
            assert_eq!(output_path(&folder, Path::new(input), format), folder.join(name));
        }
        let file = folder.join("no such folder");
        assert_eq!(output_path(&file, Path::new("perf.data"), Format::Json), file);
    }

    #[test]
    fn outputs_appear_when_they_are_complete() {
        let folder = std::env::temp_dir().join(format!("unwind-perf-new-{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        let (precious, link) = (folder.join("precious"), folder.join("link"));
        fs::write(&precious, "precious").expect("written");
        std::os::unix::fs::symlink("precious", &link).expect("a link");
        let target = OutputTarget::regular_file(&link, &Inputs::default()).expect("a file");
        let mut out = target.open().expect("a temporary");
        out.write_all(b"text").expect("written");
        assert_eq!(fs::read(&precious).expect("what was there"), b"precious");
        drop(out);
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 2);
        // The target of a link is written, not the link.
        target.write_all(b"text").expect("written");
        assert_eq!(fs::read(&precious).expect("the output"), b"text");
        assert_eq!(fs::read_link(&link).expect("a link"), Path::new("precious"));
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 2);
        fs::remove_dir_all(&folder).expect("what was written");
    }
}
