//! Writer of recordings for tests. It shares no layout with the parser.

use crate::Endian;

/// Buffer for data in one byte order.
#[derive(Clone)]
pub(crate) struct Bytes {
    pub(crate) endian: Endian,
    pub(crate) data: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new(endian: Endian) -> Self {
        Self { endian, data: Vec::new() }
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.data.extend(bytes);
        self
    }

    fn number(self, little: &[u8]) -> Self {
        let mut bytes = little.to_vec();
        if self.endian == Endian::Big {
            bytes.reverse();
        }
        self.raw(&bytes)
    }

    pub(crate) fn u16(self, value: u16) -> Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn words(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u64(value))
    }

    pub(crate) fn halves(self, values: &[u32]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u32(value))
    }

    /// Appends a name with its NUL, padded to eight bytes.
    pub(crate) fn name(mut self, text: &str) -> Self {
        self = self.raw(text.as_bytes()).raw(&[0]);
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        self
    }

    /// Appends a string of a feature section.
    pub(crate) fn string(self, text: &str) -> Self {
        let len = (text.len() + 1).next_multiple_of(64);
        let mut padded = text.as_bytes().to_vec();
        padded.resize(len, 0);
        self.u32(len as u32).raw(&padded)
    }

    /// Appends a record.
    pub(crate) fn record(self, kind: u32, misc: u16, body: &Self) -> Self {
        let size = body.data.len() as u16 + 8;
        self.u32(kind).u16(misc).u16(size).raw(&body.data)
    }
}

pub(crate) fn le() -> Bytes {
    Bytes::new(Endian::Little)
}

/// Data of one record without content. Data of zero bytes would mean an unfinished recording.
pub(crate) fn round(endian: Endian) -> Bytes {
    Bytes::new(endian).record(68, 0, &Bytes::new(endian))
}

/// An attribute with its ids.
#[derive(Clone)]
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) size: u32,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) branch: u64,
    pub(crate) regs_user: u64,
    pub(crate) stack_user: u32,
    pub(crate) regs_intr: u64,
    pub(crate) ids: Vec<u64>,
}

pub(crate) const SAMPLE_ID_ALL: u64 = 1 << 18;

impl Default for Attr {
    fn default() -> Self {
        Self {
            kind: 1,
            config: 0,
            size: 136,
            sample_type: 0b111,
            read_format: 0,
            flags: SAMPLE_ID_ALL,
            branch: 0,
            regs_user: 0,
            stack_user: 0,
            regs_intr: 0,
            ids: Vec::new(),
        }
    }
}

impl Attr {
    pub(crate) fn bytes(&self, endian: Endian, len: usize) -> Vec<u8> {
        let flags = if endian == Endian::Big { self.flags.reverse_bits() } else { self.flags };
        let mut bytes = Bytes::new(endian)
            .halves(&[self.kind, self.size])
            .words(&[self.config, 4000, self.sample_type, self.read_format, flags])
            .words(&[0, 0, 0, self.branch, self.regs_user])
            .halves(&[self.stack_user, 0])
            .u64(self.regs_intr);
        bytes.data.resize(len, 0);
        bytes.data
    }
}

/// A recording in file mode.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) endian: Endian,
    pub(crate) attrs: Vec<Attr>,
    pub(crate) data: Vec<u8>,
    pub(crate) features: Vec<(u16, Vec<u8>)>,
}

/// Size of an attribute entry that [`File::build`] writes.
pub(crate) const ENTRY: u64 = 136 + 16;

impl File {
    pub(crate) fn new(attr: Attr, data: Bytes) -> Self {
        Self { endian: data.endian, attrs: vec![attr], data: data.data, features: Vec::new() }
    }

    /// Layout: header, ids, attributes, data, feature table, features.
    pub(crate) fn build(&self) -> Vec<u8> {
        let n_ids = self.attrs.iter().map(|attr| attr.ids.len() as u64).sum::<u64>();
        let attrs_at = 104 + n_ids * 8;
        let attrs_size = ENTRY * self.attrs.len() as u64;
        let data_at = attrs_at + attrs_size;
        let mut bitmap = [0_u64; 4];
        self.features.iter().for_each(|(bit, _)| bitmap[usize::from(bit / 64)] |= 1 << (bit % 64));
        let magic = if self.endian == Endian::Big { b"2ELIFREP" } else { b"PERFILE2" };
        let mut bytes = Bytes::new(self.endian)
            .raw(magic)
            .words(&[104, ENTRY, attrs_at, attrs_size, data_at, self.data.len() as u64, 0, 0])
            .words(&bitmap);
        for attr in &self.attrs {
            bytes = bytes.words(&attr.ids);
        }
        let mut ids_at = 104;
        for attr in &self.attrs {
            let ids_size = attr.ids.len() as u64 * 8;
            bytes = bytes.raw(&attr.bytes(self.endian, 136)).words(&[ids_at, ids_size]);
            ids_at += ids_size;
        }
        bytes = bytes.raw(&self.data);
        let mut at = bytes.data.len() + self.features.len() * 16;
        for (_, payload) in &self.features {
            bytes = bytes.words(&[at as u64, payload.len() as u64]);
            at += payload.len();
        }
        self.features.iter().fold(bytes, |bytes, (_, payload)| bytes.raw(payload)).data
    }
}

/// Overwrites eight bytes of a little-endian file.
pub(crate) fn patch(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Returns the start of the data of a built file.
pub(crate) fn data_at(bytes: &[u8]) -> usize {
    Endian::Little.u64_at(bytes, 40).expect("a header") as usize
}
