//! The recording of a source: a file, a FIFO or other stream, a compressed file, or the folder of `perf record
//! --threads`. Files are mapped and read in place.

mod live_bytes;
mod sample_times;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use host::{ByteStream, Content, Damage, FileKind, Host, Origin, Pages};
use perf_data::{Input, SharedBytes};

use crate::error::Error;
use crate::source::Source;

pub(crate) use self::live_bytes::LiveReader;
pub(super) use self::sample_times::sample_times;

/// An opened recording.
pub(crate) struct OpenedRecording {
    pub(crate) input: Input,
    /// Its name in messages.
    pub(crate) path: PathBuf,
    /// Its size in bytes, if it is one file.
    pub(crate) size: Option<u64>,
    /// Releases the pages of a plain file.
    pub(crate) pages: Option<ReleasedPages>,
    /// Watches whether the recording is truncated while it is read.
    pub(crate) damage: Vec<Damage>,
}

/// Detects that a recording was truncated while it was read. The missing bytes read as zeros, so results made from them
/// must be discarded.
#[derive(Debug)]
pub struct RecordingWatch {
    path: PathBuf,
    damage: Vec<Damage>,
}

impl RecordingWatch {
    pub(crate) const fn new(path: PathBuf, damage: Vec<Damage>) -> Self {
        Self { path, damage }
    }

    /// Checks the recording; call it after the last byte was read.
    ///
    /// # Errors
    /// If the recording was truncated.
    pub fn check(&self) -> Result<(), Error> {
        check_whole(&self.path, &self.damage)
    }
}

/// Returns an error if the recording was truncated while it was read, because results of the rest are wrong.
pub(crate) fn check_whole(path: &Path, damage: &[Damage]) -> Result<(), Error> {
    if damage.iter().any(Damage::happened) {
        return Err(Error::CutShort { path: path.to_owned() });
    }
    Ok(())
}

/// Opens a recording. Its format is detected from its content, not from its name.
pub(crate) fn open(host: &dyn Host, source: Source) -> Result<OpenedRecording, Error> {
    open_with(host, source, |bytes| Input::Stream(bytes.into_reader()))
}

/// Like [`open`]; `stream` makes the input of a stream.
pub(crate) fn open_with(
    host: &dyn Host,
    source: Source,
    stream: impl FnOnce(ByteStream) -> Input,
) -> Result<OpenedRecording, Error> {
    let path = match source {
        Source::Stream { name, bytes } => {
            let input = stream(bytes);
            return Ok(OpenedRecording {
                input,
                path: name,
                size: None,
                pages: None,
                damage: Vec::new(),
            });
        }
        Source::Path(path) => path,
    };
    let stat = host.stat(&path, Origin::User)?;
    match stat.kind {
        FileKind::Directory => {
            let mut damage = Vec::new();
            let input = open_folder(host, &path, &mut damage)?;
            Ok(OpenedRecording { input, path, size: None, pages: None, damage })
        }
        FileKind::Fifo => {
            let input = stream(host.stream(&path, Origin::User)?);
            Ok(OpenedRecording { input, path, size: None, pages: None, damage: Vec::new() })
        }
        _ => {
            let content = open_file(host, &path, Origin::User)?;
            let pages = Some(ReleasedPages::new(content.pages()));
            let size = Some(content.len() as u64);
            let damage = vec![content.damage()];
            let input = Input::File(SharedBytes::new(RecordingBytes(Some(content))));
            Ok(OpenedRecording { input, path, size, pages, damage })
        }
    }
}

/// Returns true if the source can be opened again and then has the same bytes.
pub(crate) fn can_be_read_again(host: &dyn Host, source: &Source) -> bool {
    let Source::Path(path) = source else { return false };
    let stat = host.stat(path, Origin::User);
    stat.is_ok_and(|stat| matches!(stat.kind, FileKind::Regular | FileKind::Directory))
}

/// Opens `data` and the `data.N` next to it, in the order of their numbers.
fn open_folder(host: &dyn Host, folder: &Path, damage: &mut Vec<Damage>) -> Result<Input, Error> {
    let data = folder.join("data");
    // The user named the folder, but its entries may be untrusted links.
    let origin = Origin::Stored { root: folder };
    if !host.is_file(&data, origin) {
        return Err(Error::NoRecordingInFolder { path: folder.to_owned() });
    }
    let mut numbered: Vec<(u32, PathBuf)> = Vec::new();
    for entry in host.list(folder, origin)? {
        let name = entry.name.to_str();
        let number = name.and_then(|name| name.strip_prefix("data.")?.parse().ok());
        let Some(number) = number else { continue };
        let path = folder.join(&entry.name);
        let stat = host.stat(&path, origin);
        // Processors without samples leave empty files.
        if stat.is_ok_and(|stat| stat.kind == FileKind::Regular && stat.stamp.size > 0) {
            numbered.push((number, path));
        }
    }
    numbered.sort();
    let mut bytes = |path: &Path| {
        let content = open_file(host, path, origin)?;
        damage.push(content.damage());
        Ok(SharedBytes::new(RecordingBytes(Some(content))))
    };
    let data = bytes(&data)?;
    let parts = numbered.iter().map(|(_, path)| bytes(path));
    Ok(Input::Directory { data, parts: parts.collect::<Result<_, Error>>()? })
}

fn open_file(host: &dyn Host, path: &Path, origin: Origin<'_>) -> Result<Content, Error> {
    let file = host.open(path, origin)?;
    if file.content.is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    Ok(file.content)
}

/// The bytes of a recording. A large one is unmapped on another thread, so that the run does not wait.
struct RecordingBytes(Option<Content>);

/// Size up to which bytes are unmapped in place; more is unmapped on another thread.
const SMALL: usize = 8 << 20;

impl AsRef<[u8]> for RecordingBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Drop for RecordingBytes {
    fn drop(&mut self) {
        if let Some(content) = self.0.take().filter(|content| content.len() > SMALL) {
            std::thread::spawn(move || drop(content));
        }
    }
}

/// Releases the pages of a mapped recording once they are processed, so that it does not stay in memory as a whole. A
/// dedicated thread does it, since unmapping takes as long as mapping.
#[derive(Debug)]
pub(crate) struct ReleasedPages {
    pages: Pages,
    /// Channel to the thread, which starts with the first pages.
    ranges: OnceLock<Sender<Range<usize>>>,
}

/// A multiple of every page size, and of the range that the kernel maps around a page fault.
const STEP: usize = 64 << 10;

impl ReleasedPages {
    fn new(pages: Pages) -> Self {
        Self { pages, ranges: OnceLock::new() }
    }

    /// Releases the pages at these offsets, which are not needed soon.
    pub(crate) fn done(&self, offsets: Range<u64>) {
        let mapped = self.pages.mapped();
        let step = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(mapped) / STEP;
        let range = step(offsets.start) * STEP..step(offsets.end) * STEP;
        if range.is_empty() {
            return;
        }
        let ranges = self.ranges.get_or_init(|| {
            let (ranges, done) = channel::<Range<usize>>();
            let pages = self.pages.clone();
            std::thread::spawn(move || done.iter().for_each(|range| pages.give_back(range)));
            ranges
        });
        // The thread ends after the sender is dropped, never before.
        let _ = ranges.send(range);
    }
}
