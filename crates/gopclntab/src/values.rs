//! Values by address: frame sizes, files, lines, positions in the tree of inlined calls. Each table of a function is a
//! list of steps, with the change of the value and the length of the code that has it.
//!
//! Source: `pcvalue` and `step` in src/runtime/symtab.go of Go; design document "Go 1.2 Runtime Symbol Information".

/// A piece of code with one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoValue {
    /// End of the piece, as an offset from the function's first byte.
    pub end: u64,
    /// Its value; -1 if there is none.
    pub value: i32,
}

/// The pieces of a function's code with their values, in order of address.
#[derive(Clone, Debug)]
pub struct GoValues<'i> {
    rest: &'i [u8],
    quantum: u64,
    last: GoValue,
    is_first: bool,
}

impl<'i> GoValues<'i> {
    /// The table at the beginning of some bytes.
    pub(crate) const fn new(bytes: &'i [u8], quantum: u64) -> Self {
        Self { rest: bytes, quantum, last: GoValue { end: 0, value: -1 }, is_first: true }
    }

    /// Reads a number with seven bits per byte; more than 32 bits are damage.
    fn number(&mut self) -> Option<u32> {
        let mut number = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn step(&mut self) -> Option<GoValue> {
        let change = self.number()?;
        if change == 0 && !self.is_first {
            return None;
        }
        let code = u64::from(self.number()?) * self.quantum;
        // All steps but the first have code, so their number is at most the function's length in bytes.
        if code == 0 && !self.is_first {
            return None;
        }
        self.is_first = false;
        let change = (change >> 1).cast_signed() ^ -(change & 1).cast_signed();
        let end = self.last.end.checked_add(code)?;
        self.last = GoValue { end, value: self.last.value.wrapping_add(change) };
        Some(self.last)
    }
}

impl Iterator for GoValues<'_> {
    type Item = GoValue;

    fn next(&mut self) -> Option<GoValue> {
        let step = self.step();
        if step.is_none() {
            self.rest = &[];
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(bytes: &[u8]) -> Vec<(u64, i32)> {
        GoValues::new(bytes, 1).map(|it| (it.end, it.value)).collect()
    }

    #[test]
    fn steps_add_up() {
        // +1 for 4 bytes, +24 for 300, -24 for 1; the end, and bytes after it.
        let bytes = [2, 4, 48, 0xac, 2, 47, 1, 0, 2, 9];
        assert_eq!(pairs(&bytes), [(4, 0), (304, 24), (305, 0)]);
        let doubled: Vec<_> = GoValues::new(&bytes, 4).map(|it| it.end).collect();
        assert_eq!(doubled, [16, 1216, 1220]);
    }

    #[test]
    fn the_first_value_can_be_none() {
        assert_eq!(pairs(&[0, 8, 2, 4, 0]), [(8, -1), (12, 0)]);
    }

    #[test]
    fn damage_ends_a_table() {
        assert_eq!(pairs(&[]), []);
        assert_eq!(pairs(&[2]), []);
        assert_eq!(pairs(&[2, 4, 2]), [(4, 0)]);
        assert_eq!(pairs(&[2, 4, 2, 0, 2, 1]), [(4, 0)]);
        assert_eq!(pairs(&[2, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), [(4, 0)]);
    }
}
