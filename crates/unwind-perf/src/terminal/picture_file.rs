//! File of a page or picture that would flood a terminal: it is named after the recording, and no file is replaced.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use formats::{Format, Printer};
use host::{Host as _, MemoryPart, NewFile, RealHost, memory_is_for};
use profile::Profile;

use super::shown::shown;
use super::size::size;

/// Returns true if standard output is a terminal.
pub(crate) fn to_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A file in the current directory, which does not exist yet.
#[derive(Debug)]
pub(crate) struct PictureFile {
    /// Name of the recording, which is extended by a number, if needed, and an ending.
    stem: String,
    ending: &'static str,
}

impl PictureFile {
    /// Returns the file for a format that a browser shows; `None` for other formats.
    pub(crate) fn new(input: &Path, format: Format) -> Option<Self> {
        let ending = match format {
            Format::Report => ".html",
            #[cfg(feature = "flamegraph")]
            Format::Flamegraph => ".svg",
            _ => return None,
        };
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        let stem = if name.is_empty() || name == "-" { "perf.data".into() } else { name };
        Some(Self { stem: stem.into_owned(), ending })
    }

    /// Returns the names in the order of preference: `perf.data.html`, `perf.data.2.html`, ….
    fn names(&self) -> impl Iterator<Item = PathBuf> {
        let Self { stem, ending } = self;
        let later = (2_u32..).map(move |number| format!("{stem}.{number}{ending}"));
        std::iter::once(format!("{stem}{ending}")).chain(later).map(PathBuf::from)
    }

    /// Writes the profile to the file with the first free name.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(
        &self,
        profile: &Profile,
        printer: &dyn Printer,
    ) -> anyhow::Result<WrittenPicture> {
        memory_is_for(MemoryPart::Output);
        let write = || {
            let mut file = NewFile::create(&self.names().next().unwrap_or_default())?;
            printer.print(profile, &mut file)?;
            file.flush()?;
            let bytes = file.size()?;
            Ok::<_, io::Error>(WrittenPicture { path: file.complete_as_new(self.names())?, bytes })
        };
        write().with_context(|| {
            let name = shown(&format!("{}{}", self.stem, self.ending));
            format!("cannot write {name} in this directory; name another file with -o FILE")
        })
    }
}

/// A written file.
#[derive(Debug)]
pub(crate) struct WrittenPicture {
    path: PathBuf,
    bytes: u64,
}

impl WrittenPicture {
    /// Prints the name and the size of the file on the terminal. Opens it if `opens` and a user sits in front of this
    /// machine.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) fn announce(&self, opens: bool) -> anyhow::Result<()> {
        let name = shown(&self.path.display().to_string());
        writeln!(io::stdout().lock(), "Wrote {name} ({}).", size(self.bytes))?;
        if opens && Desktop::of_this_user().opens_files() {
            // Without a browser, the name is on the terminal. An absolute path is no option of a browser.
            let path = std::env::current_dir().unwrap_or_default().join(&self.path);
            let _ = open::that_detached(path);
        }
        Ok(())
    }
}

/// Facts that decide whether a file is opened without a question.
#[derive(Clone, Copy, Debug)]
struct Desktop {
    has_screen: bool,
    is_remote: bool,
    is_root: bool,
}

impl Desktop {
    fn of_this_user() -> Self {
        let is_set = |name| RealHost.variable(name).is_some_and(|value| !value.is_empty());
        Self {
            has_screen: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            is_remote: is_set("SSH_CONNECTION"),
            is_root: rustix::process::geteuid().is_root(),
        }
    }

    const fn opens_files(self) -> bool {
        self.has_screen && !self.is_remote && !self.is_root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_recording() {
        for (input, format, names) in [
            ("perf.data", Format::Report, ["perf.data.html", "perf.data.2.html"]),
            ("/a/long.name.upb", Format::Report, ["long.name.upb.html", "long.name.upb.2.html"]),
            ("-", Format::Report, ["perf.data.html", "perf.data.2.html"]),
            ("..", Format::Report, ["perf.data.html", "perf.data.2.html"]),
            #[cfg(feature = "flamegraph")]
            ("a/folder/", Format::Flamegraph, ["folder.svg", "folder.2.svg"]),
        ] {
            let file = PictureFile::new(Path::new(input), format).expect("a picture");
            let made: Vec<PathBuf> = file.names().take(2).collect();
            assert_eq!(made, names.map(PathBuf::from));
        }
        assert!(PictureFile::new(Path::new("perf.data"), Format::Json).is_none());
    }

    #[test]
    fn a_browser_is_for_the_user_at_the_screen() {
        let opens = |has_screen, is_remote, is_root| {
            Desktop { has_screen, is_remote, is_root }.opens_files()
        };
        assert!(opens(true, false, false));
        assert!(!opens(false, false, false));
        assert!(!opens(true, true, false));
        assert!(!opens(true, false, true));
    }
}
