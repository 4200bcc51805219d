//! An index of all lasting functions in a list of kernel symbols. Reading the list itself takes longer: the kernel makes
//! its text for each reader.

use address::Avma;
use symbolizer::KernelFunction;

use crate::key::CacheKey;
use crate::layout::{
    KERNEL_HEAD, KERNEL_MAGIC, KERNEL_VERSION, UNCHECKED, checksum, u32_at, u64_at,
};

/// Flag of a symbol that is a lasting function, in the end of its name.
const LASTS: u32 = 1 << 31;

/// The symbols of a list, by address.
#[derive(Debug)]
pub(crate) struct KernelIndex {
    bytes: Vec<u8>,
    symbols: usize,
}

/// Returns the bytes of an index; `None` if there are no symbols, or too many.
pub(crate) fn write(
    key: &CacheKey,
    symbols: impl FnOnce(&mut dyn FnMut(Avma, Option<&[u8]>)),
) -> Option<Vec<u8>> {
    let (mut starts, mut ends, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    symbols(&mut |start, name| {
        if last < Some(start) {
            last = Some(start);
            starts.extend_from_slice(&start.0.to_le_bytes());
            text.extend_from_slice(name.unwrap_or_default());
            let flag = if name.is_some() { LASTS } else { 0 };
            ends.extend_from_slice(&((text.len() as u32 & !LASTS) | flag).to_le_bytes());
        }
    });
    let count = u32::try_from(ends.len() / 4).ok().filter(|&count| count > 0)?;
    let text_size = u32::try_from(text.len()).ok().filter(|size| size & LASTS == 0)?;
    let mut bytes = Vec::with_capacity(KERNEL_HEAD + starts.len() + ends.len() + text.len());
    bytes.extend_from_slice(&KERNEL_MAGIC);
    bytes.extend_from_slice(&KERNEL_VERSION.to_le_bytes());
    bytes.resize(UNCHECKED, 0);
    bytes.extend_from_slice(&key.0);
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&text_size.to_le_bytes());
    for table in [&starts, &ends, &text] {
        bytes.extend_from_slice(table);
    }
    let sum = checksum(bytes.get(UNCHECKED..)?).to_le_bytes();
    bytes.get_mut(UNCHECKED - sum.len()..UNCHECKED)?.copy_from_slice(&sum);
    Some(bytes)
}

impl KernelIndex {
    /// Parses an index; `None` if it is damaged, of another version, or stored under another key.
    pub(crate) fn read(bytes: Vec<u8>, key: &CacheKey) -> Option<Self> {
        let index = Self::read_any(bytes)?;
        (index.bytes.get(UNCHECKED..UNCHECKED + CacheKey::SIZE)? == key.0).then_some(index)
    }

    /// The same, for any key.
    pub(crate) fn read_any(bytes: Vec<u8>) -> Option<Self> {
        let is_ours = bytes.len() >= KERNEL_HEAD
            && bytes.starts_with(&KERNEL_MAGIC)
            && u32_at(&bytes, 8) == KERNEL_VERSION;
        if !is_ours || checksum(bytes.get(UNCHECKED..)?) != u64_at(&bytes, 16) {
            return None;
        }
        let counts = UNCHECKED + CacheKey::SIZE;
        let (symbols, text) =
            (u32_at(&bytes, counts) as usize, u32_at(&bytes, counts + 4) as usize);
        if bytes.len() != KERNEL_HEAD.checked_add(symbols.checked_mul(12)?)?.checked_add(text)? {
            return None;
        }
        let index = Self { bytes, symbols };
        index.is_consistent(text).then_some(index)
    }

    /// Returns true if addresses ascend and the names fit.
    fn is_consistent(&self, text: usize) -> bool {
        let ascends = (1..self.symbols).all(|row| self.start(row - 1) < self.start(row));
        let names_fit = (1..self.symbols).all(|row| self.name_end(row - 1) <= self.name_end(row));
        let last = self.symbols.checked_sub(1).map(|row| self.name_end(row));
        ascends && names_fit && last == Some(text)
    }

    /// Number of symbols.
    pub(crate) const fn len(&self) -> usize {
        self.symbols
    }

    fn start(&self, row: usize) -> u64 {
        u64_at(&self.bytes, KERNEL_HEAD + 8 * row)
    }

    fn end_word(&self, row: usize) -> u32 {
        u32_at(&self.bytes, KERNEL_HEAD + 8 * self.symbols + 4 * row)
    }

    fn name_end(&self, row: usize) -> usize {
        (self.end_word(row) & !LASTS) as usize
    }

    /// Returns the function that covers an address.
    pub(crate) fn function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        // The first row after the address.
        let (mut low, mut high) = (0, self.symbols);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.start(middle) <= address.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let row = low.checked_sub(1).filter(|_| low < self.symbols)?;
        if self.end_word(row) & LASTS == 0 {
            return None;
        }
        let text = KERNEL_HEAD + 12 * self.symbols;
        let begin = row.checked_sub(1).map_or(0, |before| self.name_end(before));
        let name = self.bytes.get(text + begin..text + self.name_end(row))?;
        Some(KernelFunction { name, start: Avma(self.start(row)), end: Avma(self.start(low)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CacheKey = CacheKey([7; CacheKey::SIZE]);

    fn bytes() -> Vec<u8> {
        let symbols = [(0x1000, Some(&b"first"[..])), (0x1100, None), (0x1200, Some(b"third"))];
        let all = |visit: &mut dyn FnMut(Avma, Option<&[u8]>)| {
            symbols.iter().for_each(|&(start, name)| visit(Avma(start), name));
            // An address that does not ascend is left out.
            visit(Avma(0x1200), Some(b"alias"));
            visit(Avma(0x1300), None);
        };
        write(&KEY, all).expect("an index")
    }

    #[test]
    fn functions_end_at_the_next_symbol() {
        let index = KernelIndex::read(bytes(), &KEY).expect("an index");
        assert_eq!(index.len(), 4);
        let function = |address| {
            let KernelFunction { name, start, end } = index.function(Avma(address))?;
            Some((name, start.0, end.0))
        };
        let (first, third) = ((&b"first"[..], 0x1000, 0x1100), (&b"third"[..], 0x1200, 0x1300));
        assert_eq!([0xfff, 0x1000, 0x10ff].map(function), [None, Some(first), Some(first)]);
        assert_eq!([0x1100, 0x1200, 0x12ff].map(function), [None, Some(third), Some(third)]);
        assert_eq!([0x1300, u64::MAX].map(function), [None, None]);
        assert!(write(&KEY, |_| {}).is_none());
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = bytes();
        assert!(KernelIndex::read(bytes.clone(), &CacheKey([8; CacheKey::SIZE])).is_none());
        for at in 0..bytes.len() {
            assert!(KernelIndex::read(bytes[..at].to_vec(), &KEY).is_none(), "{at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            // The checksum does not cover four bytes of padding.
            assert!((12..16).contains(&at) == KernelIndex::read(flipped, &KEY).is_some(), "{at}");
        }
    }
}
