//! The key of a recording, under which a store has copies of files for it alone.

use std::io::Write as _;
use std::path::Path;

use bundle::HashWriter;
use host::{Host, Origin};

/// Returns the key of a recording, which is equal for equal files at any path; `None` if it cannot be read.
///
/// It hashes the size, the first and the last 64 KiB of the file, which include its times and its first and last
/// samples.
#[must_use]
pub fn recording_key(host: &dyn Host, recording: &Path) -> Option<String> {
    const PART: usize = 64 << 10;
    let content = host.open(recording, Origin::User).ok()?.content;
    let mut hash = HashWriter::default();
    let ends =
        [content.get(..PART.min(content.len())), content.get(content.len().saturating_sub(PART)..)];
    hash.write_all(&(content.len() as u64).to_le_bytes()).ok()?;
    ends.into_iter().flatten().try_for_each(|part| hash.write_all(part)).ok()?;
    let digits = hash.finish().iter().take(20).map(|byte| format!("{byte:02x}")).collect();
    Some(digits)
}
