//! Names of kernel functions in a text. They are marked with their addresses, because the functions of the kernel are
//! not known when samples are decoded.
//!
//! A mark is `NUL`, `s` or `S`, 16 hexadecimal digits of the address, `NUL`. Printed text has no other `NUL`.

/// Address of a function of the kernel in the text of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAddress {
    /// The address.
    pub address: u64,
    /// True if the offset from the start of the function is printed.
    pub has_offset: bool,
}

/// Length of a mark.
const LENGTH: usize = 19;

impl KernelAddress {
    pub(super) fn mark(self) -> [u8; LENGTH] {
        let mut mark = [0; LENGTH];
        let text = format!("{}{:016x}", if self.has_offset { 'S' } else { 's' }, self.address);
        if let Some(inner) = mark.get_mut(1..LENGTH - 1) {
            inner.copy_from_slice(text.as_bytes());
        }
        mark
    }

    /// Returns the address of a mark at the start of a text.
    fn of(text: &[u8]) -> Option<Self> {
        let mark = text.get(..LENGTH)?;
        let (kind, digits) = (mark.get(1)?, mark.get(2..LENGTH - 1)?);
        let address = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Some(Self { address, has_offset: *kind == b'S' })
    }
}

/// Returns a printed text with its kernel addresses replaced by the name and the start of their functions, or by the
/// address if there is none; `None` if the text has no such address.
pub fn with_symbols<'n>(
    text: &[u8],
    mut find: impl FnMut(KernelAddress) -> Option<(&'n [u8], u64)>,
) -> Option<Vec<u8>> {
    let mut rest = text;
    let mut named = Vec::new();
    while let Some(at) = rest.iter().position(|&byte| byte == 0) {
        let (before, mark) = rest.split_at_checked(at)?;
        named.extend_from_slice(before);
        let Some(symbol) = KernelAddress::of(mark) else {
            rest = mark.get(1..)?;
            continue;
        };
        match find(symbol) {
            Some((name, start)) => {
                named.extend_from_slice(name);
                if symbol.has_offset {
                    let offset = symbol.address.wrapping_sub(start);
                    named.extend_from_slice(format!("+{offset:#x}").as_bytes());
                }
            }
            None => named.extend_from_slice(format!("{:#x}", symbol.address).as_bytes()),
        }
        rest = mark.get(LENGTH..)?;
    }
    if rest.len() == text.len() {
        return None;
    }
    named.extend_from_slice(rest);
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_names() {
        let mark = |address, has_offset| KernelAddress { address, has_offset }.mark();
        let text = [&b"f="[..], &mark(0x1012, false), b" g=", &mark(0x1012, true), &mark(7, true)]
            .concat();
        let find = |it: KernelAddress| (it.address > 0x1000).then_some((&b"name"[..], 0x1000));
        assert_eq!(with_symbols(&text, find).as_deref(), Some(&b"f=name g=name+0x120x7"[..]));
        assert_eq!(with_symbols(b"f=name", find), None);
        assert_eq!(with_symbols(b"\0s", find).as_deref(), Some(&b"s"[..]));
    }
}
