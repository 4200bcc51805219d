//! Values and levels of pages. The decoders of the parquet crate panic on some damaged pages; these return `None`.
//!
//! Source: <https://github.com/apache/parquet-format>, "Encodings": plain, RLE / bit-packed hybrid, delta.

use bytes::{Buf as _, Bytes};

/// A type of values.
pub(super) trait PlainValue: Clone {
    /// Decodes the first `n` values of a plain page.
    fn plain(page: Bytes, n: usize) -> Option<Vec<Self>>;

    /// Decodes the first `n` values of a page of runs; only booleans have such pages.
    fn runs(_page: &[u8], _n: usize) -> Option<Vec<Self>> {
        None
    }

    /// Decodes the first `n` values of a page of differences; only numbers have such pages.
    fn deltas(_page: &[u8], _n: usize) -> Option<Vec<Self>> {
        None
    }
}

impl PlainValue for Bytes {
    fn plain(mut page: Bytes, n: usize) -> Option<Vec<Self>> {
        let mut values = Vec::new();
        for _ in 0..n {
            let length = page.try_get_u32_le().ok()? as usize;
            if length > page.len() {
                return None;
            }
            values.push(page.split_to(length));
        }
        Some(values)
    }
}

impl PlainValue for i64 {
    fn plain(mut page: Bytes, n: usize) -> Option<Vec<Self>> {
        (0..n).map(|_| page.try_get_i64_le().ok()).collect()
    }

    fn deltas(page: &[u8], n: usize) -> Option<Vec<Self>> {
        deltas(page, n)
    }
}

impl PlainValue for i32 {
    fn plain(mut page: Bytes, n: usize) -> Option<Vec<Self>> {
        (0..n).map(|_| page.try_get_i32_le().ok()).collect()
    }

    fn deltas(page: &[u8], n: usize) -> Option<Vec<Self>> {
        // Sums wrap in 32 bits.
        Some(deltas(page, n)?.into_iter().map(|number| number as Self).collect())
    }
}

impl PlainValue for bool {
    fn plain(page: Bytes, n: usize) -> Option<Vec<Self>> {
        let bit = |at: usize| Some(page.get(at / 8)? >> (at % 8) & 1 == 1);
        (0..n).map(bit).collect()
    }

    fn runs(page: &[u8], n: usize) -> Option<Vec<Self>> {
        // The length of the runs, which end with the page, is in front.
        let flags = hybrid(page.get(4..)?, 1, n)?;
        Some(flags.into_iter().map(|flag| flag == 1).collect())
    }
}

/// Decodes `n` numbers of `width` bits in runs and bit-packed groups.
pub(super) fn hybrid(mut bytes: &[u8], width: u32, n: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut values = Vec::new();
    while values.len() < n {
        let left = n - values.len();
        let header = varint(&mut bytes)?;
        let count = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            let size = width.div_ceil(8) as usize;
            let (number, rest) = bytes.split_at_checked(size)?;
            bytes = rest;
            let value = number.iter().rev().fold(0_u32, |sum, &byte| sum << 8 | u32::from(byte));
            if count == 0 {
                return None;
            }
            values.extend(std::iter::repeat_n(value, count.min(left)));
        } else {
            let size = count.checked_mul(width as usize)?;
            // Some writers omit the padding of the last group.
            let (packed, rest) = bytes.split_at_checked(size.min(bytes.len()))?;
            bytes = rest;
            let all = count.checked_mul(8)?.min(left);
            if all == 0 {
                return None;
            }
            for at in 0..all {
                values.push(u32::try_from(packed_number(packed, width, at)?).ok()?);
            }
        }
    }
    Some(values)
}

/// Returns the number of at most 64 bits at an index of a bit-packed group, lowest bits first.
fn packed_number(packed: &[u8], width: u32, at: usize) -> Option<u64> {
    let start = at.checked_mul(width as usize)?;
    let mut number = 0_u128;
    let end = start + width as usize;
    let bytes = packed.get(start / 8..end.div_ceil(8))?;
    for (place, &byte) in bytes.iter().enumerate() {
        number |= u128::from(byte) << (8 * place);
    }
    let mask = (1_u128 << width) - 1;
    u64::try_from(number >> (start % 8) & mask).ok()
}

/// Decodes `n` numbers, which are stored as differences in blocks of miniblocks.
fn deltas(mut page: &[u8], n: usize) -> Option<Vec<i64>> {
    if n == 0 {
        return Some(Vec::new());
    }
    let block = usize::try_from(varint(&mut page)?).ok()?;
    let miniblocks = usize::try_from(varint(&mut page)?).ok()?;
    let count = usize::try_from(varint(&mut page)?).ok()?;
    let mut last = zigzag(varint(&mut page)?);
    let size = block.checked_div(miniblocks)?;
    if count < n || size == 0 || !size.is_multiple_of(32) {
        return None;
    }
    let mut values = vec![last];
    while values.len() < n {
        let least = zigzag(varint(&mut page)?);
        let (widths, rest) = page.split_at_checked(miniblocks)?;
        page = rest;
        for &width in widths {
            let width = u32::from(width);
            let all = size.min(n - values.len());
            if all == 0 {
                break;
            }
            if width > 64 {
                return None;
            }
            let bytes = size.checked_mul(width as usize)? / 8;
            let (packed, rest) = page.split_at_checked(bytes.min(page.len()))?;
            page = rest;
            for at in 0..all {
                let difference = packed_number(packed, width, at)?.cast_signed();
                last = last.wrapping_add(least).wrapping_add(difference);
                values.push(last);
            }
        }
    }
    Some(values)
}

/// Returns the signed number of a pair of halves that alternate.
const fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups() {
        // The example of the specification: 0 to 7 in 3 bits each.
        let packed = [3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(hybrid(&packed, 3, 8), Some((0..8).collect()));
        assert_eq!(hybrid(&[6, 9, 4, 1], 4, 5), Some(vec![9, 9, 9, 1, 1]));
        assert_eq!(hybrid(&[4], 0, 2), Some(vec![0, 0]));
        for damaged in [&[][..], &[0, 1], &[1], &[6], &[3, 1], &[0xff; 11]] {
            assert_eq!(hybrid(damaged, 3, 8), None, "{damaged:?}");
        }
        assert_eq!(hybrid(&[2, 0, 0, 0, 0], 33, 1), None);
    }

    #[test]
    fn differences() {
        // The second example of the specification: 7, 5, 3, 1, 2, 3, 4, 5.
        let page = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 192, 63, 0, 0, 0, 0, 0, 0];
        assert_eq!(i64::deltas(&page, 8), Some(vec![7, 5, 3, 1, 2, 3, 4, 5]));
        assert_eq!(i32::deltas(&page, 1), Some(vec![7]));
        assert_eq!(i64::deltas(&[], 0), Some(vec![]));
        for damaged in [&page[..10], &[128, 1, 0, 8, 14], &[0, 4, 8, 14], &[128, 1, 4, 7, 14]] {
            assert_eq!(i64::deltas(damaged, 8), None, "{damaged:?}");
        }
        assert_eq!(i64::deltas(&[128, 1, 4, 8, 14, 3, 65, 0, 0, 0, 0], 8), None);
        assert_eq!(Bytes::deltas(&page, 8), None);
    }

    #[test]
    fn plain_values() {
        let page = Bytes::from_static(b"\x02\0\0\0ab\0\0\0\0");
        let texts = [Bytes::from_static(b"ab"), Bytes::new()];
        assert_eq!(Bytes::plain(page.clone(), 2), Some(texts.to_vec()));
        assert_eq!(Bytes::plain(page.clone(), 3), None);
        assert_eq!(Bytes::plain(page.slice(..5), 1), None);
        let number = Bytes::copy_from_slice(&(-2_i64).to_le_bytes());
        assert_eq!(i64::plain(number.clone(), 1), Some(vec![-2]));
        assert_eq!(i64::plain(number, 2), None);
        assert_eq!(bool::plain(Bytes::from_static(&[0b101]), 3), Some(vec![true, false, true]));
        assert_eq!(bool::plain(Bytes::from_static(&[1]), 9), None);
        assert_eq!(bool::runs(&[2, 0, 0, 0, 6, 1], 3), Some(vec![true; 3]));
        assert_eq!(bool::runs(&[2, 0, 0], 3), None);
        assert_eq!(i64::runs(&[2, 0, 0, 0, 6, 1], 3), None);
    }
}
