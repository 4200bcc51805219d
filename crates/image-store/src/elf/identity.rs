//! What says of a file, from one run to the next, that its content is the same.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use host::FileStamp;

use super::{Image, MadeOf};

/// A file that has no build-id is known by the time of its last change, unless that is so near that another change could
/// have the same time.
const NEAR: Duration = Duration::from_secs(2);

impl Image {
    /// Bytes that are the same in another run only where the image is: the build-id, or where there is none which file it
    /// is and when it was changed last; and its size, and where its sections and segments are, by which a file is told
    /// from the same one stripped. `None` for what was made in memory, for a file without build-id that was just changed,
    /// and where something of it was left out or went missing.
    #[must_use]
    pub fn identity(&self) -> Option<Vec<u8>> {
        let MadeOf { stamp, form } = self.made_of?;
        if !self.left_out().is_empty() || self.was_cut_short() {
            return None;
        }
        let mut bytes = Vec::with_capacity(64 * (self.sections().len() + 4));
        let mut number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
        number(u64::from(form.0));
        number(form.1);
        number(self.bytes().len() as u64);
        if self.build_id().is_none() {
            number(stamp.device);
            number(stamp.inode);
            number(stamp.size);
        }
        match self.build_id() {
            Some(id) => text(&mut bytes, id.as_bytes()),
            None if is_near(stamp.modified) => return None,
            None => text(&mut bytes, &stamp.modified.to_le_bytes()),
        }
        for section in self.sections() {
            text(&mut bytes, &section.name);
            let (offset, stored) = section.in_file.unwrap_or((u64::MAX, 0));
            let flags = u64::from(section.executable) << 1 | u64::from(section.allocated);
            for number in [section.svma.0, section.size, offset, stored, flags] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        for segment in self.segments() {
            let flags = u64::from(segment.executable) << 1 | u64::from(segment.writable);
            for number in
                [segment.offset.0, segment.file_size, segment.svma.0, segment.mem_size, flags]
            {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        Some(bytes)
    }

    /// The file that the image was made of, if the image is all of it: not made in memory, unpacked or a part of an archive.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        let MadeOf { stamp, form } = self.made_of?;
        (form.0 == 0).then_some(stamp)
    }

    /// Whether bytes of the file went missing after it was opened: what was made of it may be wrong.
    #[must_use]
    pub fn was_cut_short(&self) -> bool {
        self.damage().is_some_and(|damage| damage.happened())
    }
}

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text);
}

/// Whether a time, in nanoseconds since 1970, is not clearly over.
fn is_near(time: i128) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    time.saturating_add(NEAR.as_nanos() as i128) > now.as_nanos() as i128
}
