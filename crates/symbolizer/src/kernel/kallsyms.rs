//! `/proc/kallsyms`, of the running kernel or stored with a recording.
//!
//! Source: `s_show` in kernel/kallsyms.c: `address type name[\t[module]]`; symbol types and the ends of symbols follow
//! tools/perf/util/symbol.c.

use address::Avma;

/// The reason that a list of kernel symbols cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KallsymsError {
    /// The addresses were hidden from the process that read the list.
    #[error("the kernel hides the addresses: all {lines} are zero (kernel.kptr_restrict)")]
    Restricted {
        /// Number of lines with a symbol.
        lines: usize,
    },
    /// No line has a symbol.
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
    /// Its address.
    pub start: Avma,
}

/// A function of the kernel or of a module, up to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFunction<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its start.
    pub start: Avma,
    /// Start of the next one.
    pub end: Avma,
}

/// The symbols of a kernel: the text of the list, and its lines sorted by address.
#[derive(Debug)]
pub struct Kallsyms {
    text: Vec<u8>,
    /// Address, and offset of the line.
    symbols: Vec<(Avma, usize)>,
    n_damaged: usize,
}

const PAGE: u64 = 0x1000;
/// Bytes before a name: an address of 16 digits, a type, two spaces, and the previous line's end.
const MAX_HEAD: usize = 20;
/// Length of the longest line. Source: `KSYM_NAME_LEN` in include/linux/kallsyms.h is 512, `MODULE_NAME_LEN` less than
/// 64.
const MAX_LINE: usize = 1024;

impl Kallsyms {
    /// Parses a list. Lines without a symbol, or longer than the kernel writes, are skipped.
    ///
    /// # Errors
    /// If it has no symbol, or if all addresses are zero.
    pub fn parse(text: Vec<u8>) -> Result<Self, KallsymsError> {
        let mut lines = 0;
        let mut zero = 0;
        let mut n_damaged = 0;
        // Intact lists have no NUL, so lines are only searched for NULs if the list has one.
        let has_zeros = memchr::memchr(0, &text).is_some();
        let mut symbols = Vec::with_capacity(text.len() / 40);
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', &text).chain([text.len()]);
        for end in ends {
            let at = std::mem::replace(&mut start, end + 1);
            let whole = text.get(at..end).unwrap_or_default();
            let line = Some(whole).filter(|line| line.len() <= MAX_LINE);
            let Some((kind, address, name)) = line.and_then(line_head) else {
                n_damaged += usize::from(is_damaged(whole));
                continue;
            };
            n_damaged += usize::from(has_zeros && whole.contains(&0));
            lines += 1;
            zero += usize::from(address.0 == 0);
            if matches!(kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B') && !is_hidden(name) {
                symbols.push((address, at));
            }
        }
        if lines == 0 {
            return Err(KallsymsError::Empty { size: text.len() });
        }
        if zero == lines {
            return Err(KallsymsError::Restricted { lines });
        }
        // The kernel's own symbols are already sorted, which this stable sort exploits.
        symbols.sort_by_key(|&(start, _)| start);
        retain_best(&mut symbols, |at| symbol_at(&text, at).map(|symbol| rank(symbol.name)));
        Ok(Self { text, symbols, n_damaged })
    }

    /// Returns the symbol that covers the address. It extends to the next one; the last one of the kernel and of each
    /// module extends to the end of the page after its own.
    #[must_use]
    pub fn lookup(&self, address: Avma) -> Option<KernelSymbol<'_>> {
        let after = self.symbols.partition_point(|&(start, _)| start <= address);
        let &(_, at) = self.symbols.get(after.checked_sub(1)?)?;
        let symbol = symbol_at(&self.text, at)?;
        let next = self.symbols.get(after).and_then(|&(_, at)| symbol_at(&self.text, at));
        let next_is_near = next.is_some_and(|next| next.module == symbol.module);
        let end = (symbol.start.0 | (PAGE - 1)).saturating_add(PAGE);
        (next_is_near || address.0 <= end).then_some(symbol)
    }

    /// Returns the function that covers the address, if it stays valid while the kernel runs with the same modules.
    /// The last symbol of the kernel or of a module has no end, and code generated at run time changes.
    #[must_use]
    pub fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        let after = self.symbols.partition_point(|&(start, _)| start <= address);
        let &(_, at) = self.symbols.get(after.checked_sub(1)?)?;
        let &(end, next) = self.symbols.get(after)?;
        let symbol = symbol_at(&self.text, at)?;
        let KernelSymbol { name, start, .. } = symbol;
        lasts(&symbol, &symbol_at(&self.text, next)?).then_some(KernelFunction { name, start, end })
    }

    /// Calls `visit` for each symbol by ascending address, with the name if it is a function that
    /// [`Self::stable_function`] returns.
    pub fn for_each(&self, visit: &mut dyn FnMut(Avma, Option<&[u8]>)) {
        let mut symbols =
            self.symbols.iter().map(|&(start, at)| (start, symbol_at(&self.text, at))).peekable();
        while let Some((start, symbol)) = symbols.next() {
            let next = symbols.peek().and_then(|(_, next)| next.as_ref());
            let lasting = symbol.as_ref().zip(next).filter(|(symbol, next)| lasts(symbol, next));
            visit(start, lasting.map(|(symbol, _)| symbol.name));
        }
    }

    /// Returns the address of the kernel's own symbol with this name, of any type.
    #[must_use]
    pub fn address_of(&self, name: &[u8]) -> Option<Avma> {
        let lines = memchr::memmem::find_iter(&self.text, name).filter_map(|at| {
            // Only the bytes around the name are checked: an address and a type before it, and white space after it.
            let before = self.text.get(at.saturating_sub(MAX_HEAD)..at)?;
            let ends = |next: &u8| next.is_ascii_whitespace();
            if before.last() != Some(&b' ') || !self.text.get(at + name.len()).is_none_or(ends) {
                return None;
            }
            let start = memchr::memrchr(b'\n', before);
            if start.is_none() && at > MAX_HEAD {
                return None;
            }
            symbol_at(&self.text, at - before.len() + start.map_or(0, |newline| newline + 1))
        });
        let mut named = lines.filter(|symbol| symbol.name == name && symbol.module.is_none());
        named.next().map(|symbol| symbol.start)
    }

    /// Number of damaged lines.
    #[must_use]
    pub const fn n_damaged(&self) -> usize {
        self.n_damaged
    }

    /// Number of symbols.
    #[must_use]
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns true if there are no symbols.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

/// Returns true if a symbol before another one is a function with an end that no code generated at run time changes.
fn lasts(symbol: &KernelSymbol<'_>, next: &KernelSymbol<'_>) -> bool {
    let is_made = |module: &[u8]| module == b"bpf" || module.starts_with(b"__builtin__");
    next.module == symbol.module && !symbol.module.is_some_and(is_made)
}

/// Retains the symbol with the greatest rank at each address; among equal ranks the first.
fn retain_best<R: Ord>(symbols: &mut Vec<(Avma, usize)>, rank: impl Fn(usize) -> R) {
    symbols.dedup_by(|later, kept| {
        let aliases = later.0 == kept.0;
        if aliases && rank(later.1) > rank(kept.1) {
            *kept = *later;
        }
        aliases
    });
}

/// Returns the symbol of the line at an offset.
fn symbol_at(text: &[u8], at: usize) -> Option<KernelSymbol<'_>> {
    let rest = text.get(at..)?;
    let near = rest.get(..MAX_LINE + 1).unwrap_or(rest);
    let end = match memchr::memchr(b'\n', near) {
        Some(end) => end,
        // The last line.
        None if near.len() == rest.len() => rest.len(),
        None => return None,
    };
    parse_line(near.get(..end)?).map(|(_, symbol)| symbol)
}

/// Returns type, address, and a slice that begins with the name. This has a fast path for addresses of 16 digits, which
/// nearly all lines have.
fn line_head(line: &[u8]) -> Option<(u8, Avma, &[u8])> {
    if let Some((&[ref digits @ .., b' ', kind, b' '], name)) = line.split_first_chunk::<19>()
        && name.first().is_some_and(|first| !first.is_ascii_whitespace())
        && let Some(address) = hex_16(digits)
    {
        return Some((kind, Avma(address), name));
    }
    parse_line(line).map(|(kind, symbol)| (kind, symbol.start, symbol.name))
}

/// Converts 16 hexadecimal digits. This is for speed, since a list has some hundred thousand lines: it helped to reduce
/// reading one from 103 to 40 million instructions. The standard library converts one digit at a time.
fn hex_16(digits: &[u8]) -> Option<u64> {
    let (high, low) = digits.split_first_chunk::<8>()?;
    Some(hex_8(*high)? << 32 | hex_8(*low.first_chunk::<8>()?)?)
}

/// Converts eight digits together, each in a byte of one word.
fn hex_8(digits: [u8; 8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_be_bytes(digits);
    // Letters have bit 6: `A` is 0x41, `a` 0x61; digits begin at 0x30.
    let letters = (word >> 6) & ONES;
    let values = (word & (ONES * 0xf)) + letters * 9;
    let has_high_half = (word | (letters << 5)) & (ONES * 0xf0) == ONES * 0x30 + letters * 0x30;
    let ten_or_more = ((values + ONES * 6) >> 4) & ONES;
    if !has_high_half || ten_or_more != letters || values & (ONES * 0x10) != 0 {
        return None;
    }
    let pairs = (values | (values >> 4)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | (pairs >> 8)) & 0x0000_ffff_0000_ffff;
    Some((fours | (fours >> 16)) & 0xffff_ffff)
}

/// Returns true if a line without a symbol is damaged. Symbols without an address, as `nm` lists them, begin with
/// spaces.
fn is_damaged(line: &[u8]) -> bool {
    line.first().is_some_and(|first| !first.is_ascii_whitespace() && *first != b'#')
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

/// Returns true for local labels, which do not name functions.
fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".L") || name.starts_with(b"L0") || name.starts_with(b"$")
}

/// Rank of an alias; the greatest is retained. Fewer leading underscores, then no system call wrapper, then the longer
/// name.
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
        let list = Kallsyms::parse(LIST.to_vec()).unwrap();
        let symbol = list.lookup(Avma(address))?;
        let kept = LIST.windows(symbol.name.len()).find(|&window| window == symbol.name);
        let module = symbol.module.map(|module| if module == b"ext4" { "ext4" } else { "xfs" });
        Some((text(kept?), module, symbol.start.0))
    }

    #[test]
    fn a_symbol_is_found_by_its_name() {
        let list = Kallsyms::parse(LIST.to_vec()).unwrap();
        let text = list.address_of(b"_text");
        assert_eq!(text, Some(Avma(0xffff_ffff_8100_0000)));
        assert_eq!(list.address_of(b"a_table"), Some(Avma(0xffff_ffff_8100_0180)));
        assert_eq!(list.address_of(b"mod_init"), None);
        assert_eq!(list.address_of(b"text"), None);
    }

    #[test]
    fn heads_of_lines_are_as_whole_lines() {
        for first in 0..=u8::MAX {
            for at in 0..21 {
                let mut line = *b"fFfF09aA81000180 T name";
                line[at] = first;
                let whole = parse_line(&line).map(|(kind, symbol)| (kind, symbol.start));
                let head = line_head(&line).map(|(kind, start, _)| (kind, start));
                assert_eq!(head, whole, "{first:#x} at {at}");
            }
        }
    }

    #[test]
    fn damaged_lines_are_counted() {
        let n_damaged = |text: &[u8]| Kallsyms::parse(text.to_vec()).unwrap().n_damaged();
        assert_eq!(n_damaged(LIST), 1);
        let intact = b"ffffffff81000000 T _text\n# a list\n\n                 U undefined\n";
        assert_eq!(n_damaged(intact), 0);
        let damaged = b"ffffffff81000000 T _te\0t\nffffffff\0\0\0 T a\nffffffff81000000\n";
        assert_eq!(n_damaged(damaged), 3);
    }

    /// A line that no kernel writes is ignored, even if it contains a name many times.
    #[test]
    fn lines_that_are_too_long_are_skipped() {
        let long = b"_text".repeat(MAX_LINE);
        let parts: [&[u8]; 3] = [b"ffffffff80000000 T ", &long, b"\nffffffff81000000 T _text"];
        let list = Kallsyms::parse(parts.concat()).unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!(list.address_of(b"_text"), Some(Avma(0xffff_ffff_8100_0000)));
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
    fn what_may_go_or_has_no_end_does_not_last() {
        let text =
            [LIST, b"ffffffffc0020000 t bpf_prog_1 [bpf]\nffffffffc0020100 t bpf_prog_2 [bpf]\n"];
        let list = Kallsyms::parse(text.concat()).unwrap();
        let function = |address| {
            let KernelFunction { name, start, end } = list.stable_function(Avma(address))?;
            Some((name, start.0, end.0))
        };
        let do_one = (&b"do_one"[..], 0xffff_ffff_8100_0100, 0xffff_ffff_8100_0200);
        assert_eq!(function(0xffff_ffff_8100_01ff), Some(do_one));
        let mod_init = (&b"mod_init"[..], 0xffff_ffff_c000_0000, 0xffff_ffff_c000_0040);
        assert_eq!(function(0xffff_ffff_c000_0001), Some(mod_init));
        let others = [0xffff_ffff_8100_0301, 0xffff_ffff_c000_0041, 0xffff_ffff_c002_0001, 0x1000];
        assert_eq!(others.map(function), [None; 4]);
        let mut visited = Vec::new();
        list.for_each(&mut |start, name| visited.push((start, name.map(<[u8]>::to_vec))));
        assert_eq!(visited.len(), list.len());
        assert!(visited.is_sorted_by_key(|(start, _)| *start));
        let name_at = |start| list.stable_function(start).map(|function| function.name);
        assert!(visited.iter().all(|(start, name)| name.as_deref() == name_at(*start)));
        assert_eq!(visited.iter().filter(|(_, name)| name.is_some()).count(), 4);
    }

    #[test]
    fn useless_lists_are_refused() {
        let hidden = b"0000000000000000 T a\n0000000000000000 t b\n";
        assert_eq!(
            Kallsyms::parse(hidden.to_vec()).unwrap_err(),
            KallsymsError::Restricted { lines: 2 }
        );
        assert_eq!(
            Kallsyms::parse(b"hello world\n".to_vec()).unwrap_err(),
            KallsymsError::Empty { size: 12 }
        );
        assert_eq!(Kallsyms::parse(Vec::new()).unwrap_err(), KallsymsError::Empty { size: 0 });
    }
}
