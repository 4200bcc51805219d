//! Writer of bundles.

mod entry;
mod links;
mod names;
mod thin;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use host::FileStamp;

use self::entry::{append, append_link};
use self::links::Links;
use self::names::UsedNames;
use self::thin::{FEWEST, holes, most_holes};
use crate::journal::{JournalAnswer, JournalAnswers, JournalContent, JournalPath};
use crate::manifest::{
    BUILD_IDS, BundleFacts, Bytes, FORMAT, Hasher, Manifest, NAME, PathAnswer, RequestedPath,
    SearchOptions, Sha256, StoredContent, VERSION, VERSION_WITH_FILES,
};
use crate::recorded_files::RecordedFiles;

/// Selection of file contents for a bundle.
#[derive(Clone, Debug)]
pub enum ContentSelection {
    /// Complete files.
    Whole,
    /// The ranges that were read, and those that other readers need; complete files at these paths.
    Needed {
        /// Paths of files.
        whole: BTreeSet<PathBuf>,
    },
}

/// Statistics of a written bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Number of files, including the recording.
    pub files: usize,
    /// Total size of the files, in bytes.
    pub whole: u64,
    /// Stored bytes before compression.
    pub kept: u64,
    /// Number of files that readers have in a store.
    pub absent: usize,
}

/// Compression level. Source: zstd(1): 1 to 19.
const LEVEL: i32 = 9;

/// Writes a bundle of recorded answers. `recorded` contains the names under which other programs look for the files.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    journal: &JournalAnswers,
    facts: &BundleFacts,
    recorded: &RecordedFiles,
    selection: &ContentSelection,
    out: impl Write,
) -> io::Result<Written> {
    let contents = stored(journal, facts, selection);
    let written = Written {
        files: contents.len(),
        whole: journal.whole_bytes(),
        kept: contents
            .iter()
            .flat_map(StoredContent::stored_ranges)
            .map(|it| it.end - it.start)
            .sum(),
        absent: contents.iter().filter(|stored| stored.absent).count(),
    };
    let manifest = manifest(journal, facts, selection, contents);
    let mut compressed = zstd::stream::write::Encoder::new(out, LEVEL)?;
    compressed.include_checksum(true)?;
    let mut archive = tar::Builder::new(compressed);
    let mut json = serde_json::to_vec_pretty(&manifest)?;
    json.push(b'\n');
    append(&mut archive, NAME, &json, &[])?;
    let present = |(stored, _): &(&StoredContent, _)| !stored.absent;
    for (stored, content) in manifest.contents.iter().zip(&journal.contents).filter(present) {
        append(&mut archive, &stored.name, &content.bytes, &stored.holes)?;
    }
    for (name, content) in Links::of(journal, &manifest.contents, facts, recorded).iter() {
        let stored = manifest.contents.get(content).filter(|stored| !stored.absent);
        let Some(stored) = stored else { continue };
        append_link(&mut archive, name, &stored.name)?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(written)
}

/// Returns the manifest.
fn manifest(
    journal: &JournalAnswers,
    facts: &BundleFacts,
    selection: &ContentSelection,
    contents: Vec<StoredContent>,
) -> Manifest {
    Manifest {
        format: FORMAT.to_owned(),
        version: if facts.omits_files { VERSION } else { VERSION_WITH_FILES },
        tool: facts.tool.clone(),
        recording: Bytes::of_path(&facts.recording),
        kept: if matches!(selection, ContentSelection::Whole) { "whole" } else { "needed" }
            .to_owned(),
        stacks: facts.stacks,
        anonymized: facts.anonymized,
        search: SearchOptions(facts.search.clone()),
        json_sha256: facts.json_sha256.map(Sha256),
        variables: journal
            .variables
            .iter()
            .map(|(name, value)| (name.clone(), value.as_deref().map(Bytes::of_os)))
            .collect(),
        vdso: journal.vdso,
        contents,
        places: places(&journal.paths),
    }
}

/// Returns the contents in stored form.
fn stored(
    journal: &JournalAnswers,
    facts: &BundleFacts,
    selection: &ContentSelection,
) -> Vec<StoredContent> {
    let whole = |content: &JournalContent| match selection {
        ContentSelection::Whole => true,
        ContentSelection::Needed { whole } => whole.contains(&content.path),
    };
    let needed: Vec<Option<Vec<Range<u64>>>> = journal
        .contents
        .iter()
        .map(|content| if whole(content) { None } else { thin::needed(content) })
        .collect();
    let mut smallest = FEWEST;
    let mut left_out: Vec<Vec<(u64, u64)>>;
    loop {
        let of = |(content, needed): (&JournalContent, &Option<Vec<Range<u64>>>)| {
            let needed = needed.as_ref()?;
            Some(holes(content.bytes.len() as u64, needed, smallest))
        };
        let all = |it: (&JournalContent, _)| joined(of(it).unwrap_or_default(), &it.0.unknown);
        left_out = journal.contents.iter().zip(&needed).map(all).collect();
        if left_out.iter().map(Vec::len).sum::<usize>() <= most_holes() {
            break;
        }
        smallest *= 2;
    }
    let mut names = UsedNames::default();
    let contents = journal.contents.iter().zip(left_out);
    let stored = contents.map(|(content, holes)| {
        let size = content.bytes.len() as u64;
        let name = String::new();
        let sha256 = Sha256([0; 32]);
        let mut stored = StoredContent { name, size, sha256, holes, absent: false };
        stored.sha256 = hash(&content.bytes, &stored.stored_ranges());
        let part = content.path.strip_prefix(&facts.recording).ok();
        let of_recording = part.and_then(|rest| names.of_recording(rest));
        stored.name = of_recording.unwrap_or_else(|| names.of_file(content, stored.sha256));
        if facts.omits_files && is_in_stores(&stored.name) {
            let whole = hash(&content.bytes, std::slice::from_ref(&(0..size)));
            stored = StoredContent { holes: Vec::new(), sha256: whole, absent: true, ..stored };
        }
        stored
    });
    stored.collect()
}

/// Returns true for the entries of files that stores have by build-id. Nobody stores a vdso.
fn is_in_stores(name: &str) -> bool {
    name.starts_with(BUILD_IDS) && !name.ends_with("/vdso")
}

/// Returns the union of two lists of sorted ranges.
fn joined(mut holes: Vec<(u64, u64)>, others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    if others.is_empty() {
        return holes;
    }
    holes.extend_from_slice(others);
    holes.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::with_capacity(holes.len());
    for (from, to) in holes {
        match all.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => all.push((from, to)),
        }
    }
    all
}

/// Returns the SHA-256 of ranges of a file.
fn hash(bytes: &[u8], kept: &[Range<u64>]) -> Sha256 {
    let mut hasher = Hasher::default();
    for part in kept {
        hasher.add(slice(bytes, part));
    }
    hasher.finish()
}

/// Returns a range of a file.
fn slice<'b>(bytes: &'b [u8], part: &Range<u64>) -> &'b [u8] {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    bytes.get(at(part.start)..at(part.end)).unwrap_or_default()
}

/// Returns the places for the manifest. Devices are numbered in their order.
fn places(journal: &[JournalPath]) -> Vec<RequestedPath> {
    let mut devices: HashMap<u64, u64> = HashMap::new();
    let mut unasked = 0;
    let mut which = |stamp: FileStamp| {
        let next = devices.len() as u64 + 1;
        if stamp.inode == 0 {
            // The identity was not requested, so each such file gets a unique one.
            unasked += 1;
            return (0, unasked);
        }
        (*devices.entry(stamp.device).or_insert(next), stamp.inode)
    };
    let place = |place: &JournalPath| RequestedPath {
        path: Bytes::of_path(&place.path),
        root: place.root.as_deref().map(Path::as_os_str).map(Bytes::of_os),
        found: match &place.found {
            &JournalAnswer::File { stamp, owner, content } => {
                let ((device, inode), size) = (which(stamp), stamp.size);
                let modified = i64::try_from(stamp.modified).unwrap_or(i64::MAX);
                PathAnswer::File { device, inode, size, modified, owner, content }
            }
            JournalAnswer::Other(kind) => PathAnswer::Other { kind: (*kind).into() },
            JournalAnswer::Failed(why) => PathAnswer::Failed { why: why.clone() },
        },
        entries: place.entries.as_ref().map(|it| it.iter().map(Into::into).collect()),
        recorded: place.recorded.map(Into::into),
    };
    journal.iter().map(place).collect()
}
