//! Little-endian fields of a record or section.

use perf_data::{RecordHeader, RecordKind};

/// Size of a record's header in bytes.
const HEADER: usize = 8;

/// Record or section that is being built.
#[derive(Clone, Debug)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    /// Starts a record of a kind; its size is set at the end.
    ///
    /// Source: `struct perf_event_header` in `include/uapi/linux/perf_event.h`.
    pub(super) fn record(kind: RecordKind, misc: u16) -> Self {
        let mut bytes = kind.0.to_le_bytes().to_vec();
        bytes.extend(misc.to_le_bytes());
        bytes.extend([0; 2]);
        Self(bytes)
    }

    /// Starts a record with the kind and flags of another header.
    pub(super) fn like(header: RecordHeader) -> Self {
        Self::record(header.kind, header.misc)
    }

    /// Starts a section, which has no record header.
    pub(super) const fn section() -> Self {
        Self(Vec::new())
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u64s(&mut self, values: impl IntoIterator<Item = u64>) -> &mut Self {
        for value in values {
            self.u64(value);
        }
        self
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn i32(&mut self, value: i32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a text with NUL bytes up to a multiple of `align`, at least one.
    pub(super) fn text(&mut self, text: &[u8], align: usize) -> &mut Self {
        let size = (text.len() + 1).next_multiple_of(align);
        let end = self.0.len() + size;
        self.bytes(text);
        self.0.resize(end, 0);
        self
    }

    /// Appends a text of a feature section: its size, and its bytes.
    ///
    /// Source: `do_write_string` in `tools/perf/util/header.c`.
    pub(super) fn string(&mut self, text: &[u8]) -> &mut Self {
        const ALIGN: usize = 64;
        self.u32((text.len() + 1).next_multiple_of(ALIGN) as u32).text(text, ALIGN)
    }

    /// Returns the bytes of a section.
    pub(super) fn take(self) -> Vec<u8> {
        self.0
    }

    /// Returns the record, padded to a multiple of eight bytes; `None` if it is too long.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        self.0.resize(self.0.len().next_multiple_of(HEADER), 0);
        self.unpadded()
    }

    /// Returns the record; `None` if it is too long.
    pub(super) fn unpadded(mut self) -> Option<Vec<u8>> {
        let size = u16::try_from(self.0.len()).ok()?;
        self.0.get_mut(6..HEADER)?.copy_from_slice(&size.to_le_bytes());
        Some(self.0)
    }
}
