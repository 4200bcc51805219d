//! Reader of untrusted bundles: all statements are bounded and checked, and no data is written anywhere.

mod contents;
mod host;

use std::io::{self, Read};
use std::sync::Arc;

use ::host::{ByteStream, Content};
use budget::{Budget, Exhausted, JsonShape, Resource};

use self::contents::read_content;
use self::host::BundleContent;
pub use self::host::BundleHost;
use crate::error::Error;
use crate::manifest::{AbsentFile, Manifest, NAME};

/// Magic number of a zstd frame. Source: RFC 8878, 3.1.1.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Size of a tar block in bytes.
const BLOCK: usize = 512;
/// Maximum nesting depth of a manifest.
const DEEPEST: usize = 32;
/// Maximum total size of the files, including holes, which take no memory.
const MOST_IN_ALL: u64 = 32 << 30;

/// Bundle that was read.
#[derive(Debug)]
pub struct Bundle {
    manifest: Manifest,
    host: Arc<BundleHost>,
}

/// Returns true if the data is a bundle: compressed by zstd, and a tar file with a manifest as its first entry.
#[must_use]
pub fn is_bundle(bytes: &[u8]) -> bool {
    if !bytes.starts_with(&MAGIC) {
        return false;
    }
    let mut block = [0; BLOCK];
    let read = zstd::stream::read::Decoder::new(bytes).and_then(|mut it| it.read_exact(&mut block));
    let is_tar = block.get(257..262) == Some(b"ustar");
    let name = block.get(..=NAME.len());
    let is_manifest = name.is_some_and(|it| it.starts_with(NAME.as_bytes()) && it.ends_with(&[0]));
    read.is_ok() && is_tar && is_manifest
}

/// Bytes at the start of a stream that suffice for the detection of a bundle: they contain the first zstd block, and
/// with it the start of the manifest. Source: RFC 8878, 3.1.1.2: a block has at most 128 KiB.
const BEGIN: usize = 256 << 10;
/// Maximum bytes of a bundle in a stream, which is held in memory completely.
const MOST_OF_STREAM: u64 = 4 << 30;

/// Reads a bundle from a stream; returns `None` for other streams, without consuming any bytes.
///
/// # Errors
/// If it cannot be read, or exceeds the limit.
pub fn bundle_of_stream(stream: &mut ByteStream) -> Result<Option<Vec<u8>>, Error> {
    if stream.peek(MAGIC.len())? != MAGIC || !is_bundle(stream.peek(BEGIN)?) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stream.by_ref().take(MOST_OF_STREAM + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_OF_STREAM {
        return Err(Error::TooLong { limit: MOST_OF_STREAM });
    }
    Ok(Some(bytes))
}

impl Bundle {
    /// Reads a bundle. The `budget` limits the memory of its files in proportion to the size of the bundle.
    ///
    /// # Errors
    /// If it is damaged, does not match its manifest, or exceeds the budget.
    pub fn read(bytes: &[u8], budget: &Budget) -> Result<Self, Error> {
        Self::read_with(bytes, budget, &|_| None)
    }

    /// Reads a bundle whose absent files are those that `find` returns; it may return files that do not fit. Without
    /// them, the host does not have the files.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn read_with(
        bytes: &[u8],
        budget: &Budget,
        find: &dyn Fn(&AbsentFile<'_>) -> Option<Content>,
    ) -> Result<Self, Error> {
        let mut allowance = budget.allowance(Resource::BundleBytes, bytes.len() as u64);
        let most_of_manifest = budget.limit(Resource::ManifestBytes).of(bytes.len() as u64);
        // The limit must also cover tar headers and padding.
        let stream = zstd::stream::read::Decoder::new(bytes)?
            .take(allowance.left().saturating_add(most_of_manifest));
        let mut archive = tar::Archive::new(stream);
        let mut entries = archive.entries()?;
        let mut first = entries.next().ok_or_else(|| truncated(NAME))??;
        expect_entry(&first, NAME)?;
        if first.size() > most_of_manifest {
            let resource = Resource::ManifestBytes;
            return Err(Error::TooMuch(Exhausted { resource, limit: most_of_manifest }));
        }
        let mut json = Vec::new();
        first.read_to_end(&mut json)?;
        let shape =
            JsonShape::of(&json, DEEPEST).map_err(|error| Error::invalid(error.to_string()))?;
        budget.allowance(Resource::ManifestValues, bytes.len() as u64).take(shape.values)?;
        let manifest = Manifest::parse(&json)?;
        drop(json);
        let mut in_all = 0_u64;
        for stored in &manifest.contents {
            let kept = stored
                .stored_ranges()
                .iter()
                .fold(0_u64, |sum, it| sum.saturating_add(it.end - it.start));
            allowance.take(kept)?;
            in_all = in_all.saturating_add(stored.size);
        }
        if in_all > MOST_IN_ALL {
            return Err(Error::invalid(format!("its files have more than {MOST_IN_ALL} bytes")));
        }
        let mut contents = Vec::new();
        for stored in &manifest.contents {
            if stored.absent {
                let wanted = AbsentFile(stored);
                let found = find(&wanted).filter(|bytes| wanted.is_of(bytes));
                contents.push(found.map(BundleContent::of_store));
                continue;
            }
            let mut entry = entries.next().ok_or_else(|| truncated(&stored.name))??;
            expect_entry(&entry, &stored.name)?;
            contents.push(Some(read_content(&mut entry, stored)?));
        }
        // Links are for other programs; their targets are ignored here.
        for entry in entries {
            let entry = entry?;
            let is_link = entry.header().entry_type() == tar::EntryType::Link && entry.size() == 0;
            if !(is_link && manifest.has_links()) {
                let found = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                return Err(Error::Entry { found, expected: "the end".to_owned() });
            }
        }
        // Reads the checksum at the end of the stream.
        io::copy(&mut archive.into_inner(), &mut io::sink())?;
        let host = Arc::new(BundleHost::new(&manifest, contents));
        Ok(Self { manifest, host })
    }

    /// Returns the manifest.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the host that answers from the bundle.
    #[must_use]
    pub const fn host(&self) -> &Arc<BundleHost> {
        &self.host
    }
}

/// Returns the error for a missing entry.
fn truncated(name: &str) -> Error {
    Error::Entry { found: "that is its end".to_owned(), expected: name.to_owned() }
}

fn expect_entry(entry: &tar::Entry<'_, impl Read>, expected: &str) -> Result<(), Error> {
    let is_file =
        matches!(entry.header().entry_type(), tar::EntryType::Regular | tar::EntryType::GNUSparse);
    if is_file && &*entry.path_bytes() == expected.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    Err(Error::Entry { found, expected: expected.to_owned() })
}
