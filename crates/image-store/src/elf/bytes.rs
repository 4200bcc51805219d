//! Bytes of an ELF file: a whole opened file, or its entry in an archive.

use std::ops::Range;

use host::{Content, Damage, FileStamp};

/// Bytes of an opened file, or bytes made in memory.
pub(crate) struct FileBytes {
    content: Content,
    range: Range<usize>,
}

impl FileBytes {
    /// Returns a part of these bytes; all of them if the range is not inside.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        let inside = range.start <= range.end && range.end <= self.content.len();
        if inside { Self { range, ..self } } else { self }
    }

    /// Returns the indicator for lost bytes of the file; `None` if the bytes are in memory.
    pub(crate) fn damage(&self) -> Option<Damage> {
        (self.content.pages().mapped() > 0).then(|| self.content.damage())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.content.get(self.range.clone()).unwrap_or_default()
    }
}

impl From<Content> for FileBytes {
    fn from(content: Content) -> Self {
        Self { range: 0..content.len(), content }
    }
}

/// File that an image was made of, and the form of the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageSource {
    pub(crate) stamp: FileStamp,
    /// Kind of form, and its offset in the file, in bytes.
    pub(crate) form: (u8, u64),
}
