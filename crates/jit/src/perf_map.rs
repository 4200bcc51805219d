//! `/tmp/perf-PID.map`: the code that a just-in-time compiler made, as it says itself.
//!
//! Source: tools/perf/Documentation/jit-interface.txt: `START SIZE symbolname`, both hexadecimal without prefix; a
//! prefix occurs in practice.

use std::collections::BinaryHeap;
use std::fmt;

use address::Avma;

/// A compiled function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitSymbol<'a> {
    /// Its name, which may hold spaces.
    pub name: &'a [u8],
    /// Where it begins.
    pub start: Avma,
}

/// The functions of a map as disjoint ranges: memory is used again, and a later line wins the bytes it covers.
#[derive(Default)]
pub struct PerfMap {
    text: Vec<u8>,
    ranges: Vec<JitRange>,
    skipped: usize,
    left_out: usize,
}

impl fmt::Debug for PerfMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerfMap").field("ranges", &self.ranges.len()).finish_non_exhaustive()
    }
}

/// Lines that are used of a map, the last ones: a process that ran for weeks has written some hundred thousand.
const MOST_LINES: usize = 1 << 21;

/// Bytes of code, and the function that they are of.
#[derive(Clone, Copy, Debug)]
struct JitRange {
    start: u64,
    end: u64,
    function: Function,
}

/// A function by its beginning, and its name by its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Function {
    start: u64,
    name: usize,
    name_len: usize,
}

impl PerfMap {
    /// Reads a map. Lines of another form are counted and skipped.
    #[must_use]
    pub fn parse(text: Vec<u8>) -> Self {
        Self::parse_last(text, MOST_LINES)
    }

    fn parse_last(text: Vec<u8>, most: usize) -> Self {
        let mut lines = Vec::new();
        let (mut taken, mut skipped, mut left_out) = (0, 0, 0);
        // The last ones first.
        let mut end = Some(text.len());
        while let Some(line_end) = end {
            let before = memchr::memrchr(b'\n', &text[..line_end]);
            let start = before.map_or(0, |newline| newline + 1);
            let line = text[start..line_end].trim_ascii_end();
            end = before;
            if line.trim_ascii_start().is_empty() {
                continue;
            }
            if taken == most {
                left_out += 1;
                continue;
            }
            taken += 1;
            match parse_line(line, start) {
                // An empty range is no code.
                Some(range) if range.start < range.end => lines.push(range),
                Some(_) => {}
                None => skipped += 1,
            }
        }
        lines.reverse();
        Self { ranges: disjoint(&lines), skipped, left_out, text }
    }

    /// Bytes that a map takes as it was read and as it is looked up.
    #[must_use]
    pub fn bytes_of(text: &[u8]) -> u64 {
        const LINE: usize = size_of::<JitRange>() * 2 + size_of::<u64>() * 4;
        let lines = memchr::memchr_iter(b'\n', text).count() + 1;
        (text.len() + lines.min(MOST_LINES) * LINE) as u64
    }

    /// How many lines were not looked at, because there are too many.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The function at the address.
    #[must_use]
    pub fn lookup(&self, address: Avma) -> Option<JitSymbol<'_>> {
        let next = self.ranges.partition_point(|range| range.start <= address.0);
        let range = self.ranges.get(next.checked_sub(1)?).filter(|range| address.0 < range.end)?;
        let Function { start, name, name_len } = range.function;
        let name = self.text.get(name..)?.get(..name_len)?;
        Some(JitSymbol { name, start: Avma(start) })
    }

    /// Returns true if a function begins at the address.
    #[must_use]
    pub fn begins_at(&self, address: Avma) -> bool {
        self.lookup(address).is_some_and(|function| function.start == address)
    }

    /// How many lines could not be read.
    #[must_use]
    pub const fn skipped(&self) -> usize {
        self.skipped
    }
}

/// The range of a line without spaces at its end, which stands at `offset` in the text.
fn parse_line(line: &[u8], offset: usize) -> Option<JitRange> {
    let (start, rest) = parse_hex(line.trim_ascii_start())?;
    let (size, rest) = parse_hex(rest.trim_ascii_start())?;
    let name = rest.trim_ascii_start();
    if name.is_empty() || !rest.first().is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let function = Function { start, name: offset + line.len() - name.len(), name_len: name.len() };
    Some(JitRange { start, end: start.saturating_add(size), function })
}

fn parse_hex(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (number, rest) = text.split_at(digits);
    Some((u64::from_str_radix(std::str::from_utf8(number).ok()?, 16).ok()?, rest))
}

/// Cuts overlapping lines into disjoint ranges: at every boundary, the last of the lines that are open there wins.
fn disjoint(lines: &[JitRange]) -> Vec<JitRange> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_unstable_by_key(|&line| lines[line].start);
    let mut boundaries: Vec<u64> = lines.iter().flat_map(|line| [line.start, line.end]).collect();
    boundaries.sort_unstable();
    boundaries.dedup();
    let mut ranges: Vec<JitRange> = Vec::with_capacity(lines.len());
    let mut open = BinaryHeap::new();
    let mut next = order.into_iter().peekable();
    for window in boundaries.windows(2) {
        let &[start, end] = window else { continue };
        while let Some(line) = next.next_if(|&line| lines[line].start <= start) {
            open.push(line);
        }
        while open.peek().is_some_and(|&line| lines[line].end <= start) {
            open.pop();
        }
        let Some(function) = open.peek().map(|&line| lines[line].function) else { continue };
        match ranges.last_mut() {
            Some(last) if last.end == start && last.function == function => last.end = end,
            _ => ranges.push(JitRange { start, end, function }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(map: &str, addresses: &[u64]) -> Vec<String> {
        let map = PerfMap::parse(map.into());
        let found = addresses.iter().map(|&address| map.lookup(Avma(address)));
        found
            .map(|s| s.map_or_else(String::new, |s| String::from_utf8_lossy(s.name).into_owned()))
            .collect()
    }

    #[test]
    fn prefixes_and_spaces() {
        let map = "7f0010 10 py::f:/a b.py\n0x7f0020 0x8 LazyCompile:*go x.js:1\r\n\nbad line\n7f0030 0 empty\n7f0040 10\n";
        assert_eq!(
            names(map, &[0x7f_000f, 0x7f_0010, 0x7f_001f, 0x7f_0027, 0x7f_0028, 0x7f_0030]),
            ["", "py::f:/a b.py", "py::f:/a b.py", "LazyCompile:*go x.js:1", "", ""]
        );
        assert_eq!(PerfMap::parse(map.into()).skipped(), 2);
    }

    #[test]
    fn of_too_many_lines_the_last_are_used() {
        let map = PerfMap::parse_last(b"100 10 a\n\n100 10 b\n200 10 c\n".to_vec(), 2);
        let name = |address| map.lookup(Avma(address)).map(|symbol| symbol.name);
        assert_eq!(
            (name(0x100), name(0x200), map.left_out()),
            (Some(&b"b"[..]), Some(&b"c"[..]), 1)
        );
    }

    #[test]
    fn later_lines_win_the_bytes_they_cover() {
        let map = "100 100 old\n140 20 new\n180 200 newest\n1f0 8 last\n";
        assert_eq!(
            names(map, &[0x100, 0x13f, 0x140, 0x15f, 0x160, 0x180, 0x1f0, 0x1f8, 0x37f, 0x380]),
            ["old", "old", "new", "new", "old", "newest", "last", "newest", "newest", ""]
        );
        let map = PerfMap::parse(map.into());
        assert_eq!(map.lookup(Avma(0x160)).unwrap().start, Avma(0x100));
        assert_eq!(map.lookup(Avma(0x1f9)).unwrap().start, Avma(0x180));
    }
}
