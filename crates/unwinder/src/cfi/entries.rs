//! The entries of a section of call frame information, found by their lengths alone.

/// Returns the offset and size, length field included, of each entry. A terminator does not end the section: `ld -r`
/// leaves terminators of linked objects in the middle. They are not returned.
///
/// Source: LSB core, "The `.eh_frame` section": 4 bytes of length, or `0xffffffff` and 8 bytes.
pub(crate) fn entries(bytes: &[u8], is_little: bool) -> impl Iterator<Item = (usize, usize)> {
    let mut offset = 0_usize;
    std::iter::from_fn(move || {
        loop {
            let at = offset;
            let size = match word(bytes, at, is_little)? {
                0 => 4,
                u32::MAX => {
                    let long = *bytes.get(at.checked_add(4)?..)?.first_chunk::<8>()?;
                    let long =
                        if is_little { u64::from_le_bytes(long) } else { u64::from_be_bytes(long) };
                    usize::try_from(long).unwrap_or(usize::MAX).saturating_add(12)
                }
                length => length as usize + 4,
            };
            offset = at.saturating_add(size);
            if size > 4 {
                return Some((at, size));
            }
        }
    })
}

pub(crate) fn word(bytes: &[u8], at: usize, is_little: bool) -> Option<u32> {
    let bytes = *bytes.get(at..)?.first_chunk::<4>()?;
    Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminators_are_passed_over() {
        let short = [&4_u32.to_le_bytes()[..], &[7; 4]].concat();
        let long = [&u32::MAX.to_le_bytes()[..], &2_u64.to_le_bytes(), &[7; 2]].concat();
        let bytes = [&short[..], &[0; 4], &long, &[0; 4], &short, &[9, 0, 0, 0]].concat();
        let found: Vec<_> = entries(&bytes, true).collect();
        // The last one states a length past the end.
        assert_eq!(found, [(0, 8), (12, 14), (30, 8), (38, 13)]);
        assert_eq!(entries(&[1, 2, 3], true).next(), None);
    }
}
