//! Identity of a file's content across runs.

use host::{FileStamp, is_near};

use super::{Image, ImageSource};

impl Image {
    /// Returns bytes that are equal in another run only if the image is.
    /// They contain the file's device, inode, size and times of change, so that a file that claims another one's build-id
    /// is not taken for it. The build-id and the positions of its sections and segments distinguish builds on systems
    /// with coarse times.
    /// `None` for images made in memory, for a file without build-id that was just changed, and
    /// if parts were omitted or lost.
    #[must_use]
    pub fn identity(&self) -> Option<Vec<u8>> {
        let ImageSource { stamp, form } = self.source?;
        if !self.omitted().is_empty() || self.was_truncated() {
            return None;
        }
        let mut bytes = Vec::with_capacity(64 * (self.sections().len() + 4));
        let mut number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
        number(u64::from(form.0));
        number(form.1);
        number(self.bytes().len() as u64);
        bytes.extend_from_slice(&stamp.to_bytes());
        match self.build_id() {
            Some(id) => text(&mut bytes, id.as_bytes()),
            None if is_near(stamp.modified) => return None,
            None => text(&mut bytes, &[]),
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

    /// Returns the file of the image if the image is all of it: not made in memory, unpacked or a part of an archive.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        let ImageSource { stamp, form } = self.source?;
        (form.0 == 0).then_some(stamp)
    }

    /// Returns true if bytes of the file were lost after it was opened, so that results from it may be wrong.
    #[must_use]
    pub fn was_truncated(&self) -> bool {
        self.damage().is_some_and(|damage| damage.happened())
    }
}

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text);
}
