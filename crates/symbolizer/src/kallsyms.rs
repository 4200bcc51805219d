//! `/proc/kallsyms`, of the running machine or kept beside a recording.
//!
//! Source: `s_show` in kernel/kallsyms.c: `address type name[\t[module]]`; the types kept and the ends of symbols
//! follow tools/perf/util/symbol.c.

use address::Avma;

/// Why a list of kernel symbols cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KallsymsError {
    /// The addresses were hidden from who read the list.
    #[error("all {lines} addresses are zero: they were hidden (kernel.kptr_restrict)")]
    Restricted {
        /// Lines with a symbol.
        lines: usize,
    },
    /// No line is one of a symbol.
    #[error("expected lines of \"address type name\", found none in {size} bytes")]
    Empty {
        /// Size of the list in bytes.
        size: usize,
    },
}

/// A symbol of the kernel or of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSymbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The module without brackets; `None` for the kernel itself.
    pub module: Option<&'a [u8]>,
    /// Where it begins.
    pub start: Avma,
}

/// The symbols of a kernel, sorted.
#[derive(Debug)]
pub struct Kallsyms<'a> {
    symbols: Vec<KernelSymbol<'a>>,
}

const PAGE: u64 = 0x1000;

impl<'a> Kallsyms<'a> {
    /// Reads a list. Lines that are none of a symbol are skipped.
    ///
    /// # Errors
    /// Where it has no symbol, or where all addresses are zero.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, KallsymsError> {
        let mut lines = 0;
        let mut zero = 0;
        let mut symbols = Vec::with_capacity(bytes.len() / 40);
        for line in bytes.split(|&byte| byte == b'\n') {
            let Some((kind, symbol)) = parse_line(line) else { continue };
            lines += 1;
            zero += usize::from(symbol.start.0 == 0);
            if matches!(kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B')
                && !is_hidden(symbol.name)
            {
                symbols.push(symbol);
            }
        }
        if lines == 0 {
            return Err(KallsymsError::Empty { size: bytes.len() });
        }
        if zero == lines {
            return Err(KallsymsError::Restricted { lines });
        }
        // Mostly sorted already; of aliases the best is kept, of equally good ones the first.
        symbols.sort_by(|a, b| a.start.cmp(&b.start).then_with(|| rank(b.name).cmp(&rank(a.name))));
        symbols.dedup_by_key(|symbol| symbol.start);
        Ok(Self { symbols })
    }

    /// The symbol that covers the address: up to the next one; the last one of the kernel and of each module to the
    /// end of the page behind its own.
    #[must_use]
    pub fn lookup(&self, address: Avma) -> Option<KernelSymbol<'a>> {
        let behind = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = *self.symbols.get(behind.checked_sub(1)?)?;
        let next_is_near =
            self.symbols.get(behind).is_some_and(|next| next.module == symbol.module);
        let end = (symbol.start.0 | (PAGE - 1)).saturating_add(PAGE);
        (next_is_near || address.0 <= end).then_some(symbol)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

fn parse_line(line: &[u8]) -> Option<(u8, KernelSymbol<'_>)> {
    let mut address = 0_u64;
    let mut digits = 0;
    for &byte in line.iter().take(17) {
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        address = address << 4 | u64::from(digit);
        digits += 1;
    }
    let &[b' ', kind, b' ', ref rest @ ..] = line.get(digits..)? else { return None };
    if !(1..=16).contains(&digits) {
        return None;
    }
    let rest = rest.trim_ascii_end();
    let split = rest.iter().position(|&byte| byte == b'\t' || byte == b' ');
    let (name, module) =
        split.map_or((rest, None), |at| (&rest[..at], Some(rest[at..].trim_ascii())));
    let module = module
        .map(|m| m.strip_prefix(b"[").unwrap_or(m))
        .map(|m| m.strip_suffix(b"]").unwrap_or(m));
    (!name.is_empty()).then_some((kind, KernelSymbol { name, module, start: Avma(address) }))
}

/// Local labels that stand for no function.
fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".L") || name.starts_with(b"L0") || name.starts_with(b"$")
}

/// Which alias is kept: the greater. Fewer underscores, then no wrapper of a system call, then the longer name.
fn rank(name: &[u8]) -> (std::cmp::Reverse<usize>, bool, usize) {
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    let wrapper = name.starts_with(b"SyS_") || name.starts_with(b"compat_SyS_");
    (std::cmp::Reverse(underscores), !wrapper, name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000100 t do_one\n\
        ffffffff81000180 r a_table\nffffffff81000200 T SyS_read\nffffffff81000200 T sys_read\n\
        ffffffff81000280 t .Lloop\nffffffff81000300 W weak_one\ngarbage\n\
        ffffffffc0000000 t mod_init\t[ext4]\nffffffffc0000040 t mod_exit\t[ext4]\nffffffffc0010000 t other [xfs]\n";

    fn name(address: u64) -> Option<(&'static str, Option<&'static str>, u64)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        let symbol = Kallsyms::parse(LIST).unwrap().lookup(Avma(address))?;
        Some((text(symbol.name), symbol.module.map(text), symbol.start.0))
    }

    #[test]
    fn symbols_reach_to_the_next() {
        assert_eq!(name(0xffff_ffff_80ff_ffff), None);
        assert_eq!(name(0xffff_ffff_8100_0001), Some(("_stext", None, 0xffff_ffff_8100_0000)));
        assert_eq!(name(0xffff_ffff_8100_01ff), Some(("do_one", None, 0xffff_ffff_8100_0100)));
        assert_eq!(name(0xffff_ffff_8100_02ff), Some(("sys_read", None, 0xffff_ffff_8100_0200)));
        assert_eq!(name(0xffff_ffff_8100_0300), Some(("weak_one", None, 0xffff_ffff_8100_0300)));
        assert_eq!(name(0xffff_ffff_8100_1fff), Some(("weak_one", None, 0xffff_ffff_8100_0300)));
        assert_eq!(name(0xffff_ffff_8100_2000), None);
        assert_eq!(
            name(0xffff_ffff_c000_0041),
            Some(("mod_exit", Some("ext4"), 0xffff_ffff_c000_0040))
        );
        assert_eq!(name(0xffff_ffff_c000_2000), None);
        assert_eq!(
            name(0xffff_ffff_c001_0000),
            Some(("other", Some("xfs"), 0xffff_ffff_c001_0000))
        );
    }

    #[test]
    fn useless_lists_are_refused() {
        let hidden = b"0000000000000000 T a\n0000000000000000 t b\n";
        assert_eq!(Kallsyms::parse(hidden).unwrap_err(), KallsymsError::Restricted { lines: 2 });
        assert_eq!(
            Kallsyms::parse(b"hello world\n").unwrap_err(),
            KallsymsError::Empty { size: 12 }
        );
        assert_eq!(Kallsyms::parse(b"").unwrap_err(), KallsymsError::Empty { size: 0 });
    }
}
