//! The rules of one file from earlier runs, validated as a whole before the first use.

use address::Svma;
use image_store::Image;

use super::rule_bytes::RuleBytes;
use crate::arch::processor;
use crate::rule::Rule;

/// The rules of addresses of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RuleTable {
    /// The first address.
    first: u64,
    /// Offsets of all addresses from the first, ascending.
    offsets: Vec<u32>,
    /// Index into `rules` for each address.
    numbers: Vec<u16>,
    rules: Vec<Rule>,
}

impl RuleTable {
    /// Creates the table of a file from its first address, the offsets of all addresses, the rule index of each, and
    /// the rules. Returns `None` if the addresses do not ascend or are outside the file's code, or if an index is out
    /// of range. It also rejects rules that do not fit the file's processor.
    #[must_use]
    pub fn new(
        image: &Image,
        first: Svma,
        offsets: Vec<u32>,
        numbers: Vec<u16>,
        rules: &[RuleBytes],
    ) -> Option<Self> {
        let arch = image.arch().and_then(processor)?;
        let rules: Option<Vec<Rule>> = rules.iter().map(|rule| rule.rule(arch)).collect();
        let table = Self { first: first.0, offsets, numbers, rules: rules? };
        table.is_of(image).then_some(table)
    }

    fn is_of(&self, image: &Image) -> bool {
        let Some(&last) = self.offsets.last() else { return self.numbers.is_empty() };
        self.numbers.len() == self.offsets.len()
            && self.first.checked_add(last.into()).is_some()
            && self.offsets.is_sorted_by(|a, b| a < b)
            && self.numbers.iter().all(|&number| usize::from(number) < self.rules.len())
            && self.in_code(image) == self.offsets.len()
    }

    /// Returns the number of addresses in code of the file.
    fn in_code(&self, image: &Image) -> usize {
        // Segments of a mapped file do not overlap; if they do, the table is rejected.
        let below = |svma: u64| match svma.checked_sub(self.first) {
            Some(end) => self.offsets.partition_point(|&offset| u64::from(offset) < end),
            None => 0,
        };
        let code = image.segments().iter().filter(|segment| segment.executable);
        let counts = code.map(|code| {
            let end = code.svma.0.saturating_add(code.mem_size);
            below(end) - below(code.svma.0)
        });
        counts.fold(0, usize::saturating_add)
    }

    /// Returns the rule of an address.
    pub(super) fn find(&self, svma: Svma) -> Option<Rule> {
        let offset = u32::try_from(svma.0.checked_sub(self.first)?).ok()?;
        let at = self.offsets.binary_search(&offset).ok()?;
        self.rules.get(usize::from(*self.numbers.get(at)?)).copied()
    }

    /// Size in memory, in bytes.
    pub(super) const fn heap_bytes(&self) -> u64 {
        (self.offsets.capacity() * size_of::<u32>()
            + self.numbers.capacity() * size_of::<u16>()
            + self.rules.capacity() * size_of::<Rule>()) as u64
    }
}

/// Returns true if an address is in code of a file, so that a table can contain it.
pub(super) fn is_in_code(image: &Image, svma: Svma) -> bool {
    let mut code = image.segments().iter().filter(|segment| segment.executable);
    code.any(|code| svma.0.checked_sub(code.svma.0).is_some_and(|at| at < code.mem_size))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use synth::{ElfBuilder, Section, Segment};

    use super::*;
    use crate::arch::N_SLOTS;
    use crate::rule::SimpleRule;

    /// Code from 0x1000 to 0x1100.
    fn image() -> Image {
        let elf = ElfBuilder {
            segments: vec![Segment::load_text(0x1000, 0x1000, 0x100)],
            sections: vec![Section::text(0x1000, vec![0x90; 0x100])],
            ..ElfBuilder::x86_64()
        };
        Image::from_vec(Path::new("program"), elf.build()).expect("a file")
    }

    fn simple(cfa_offset: i32) -> Rule {
        let mut saved = [0; N_SLOTS];
        saved[0] = -1;
        Rule::Simple(SimpleRule { cfa_register: 7, signal: false, cfa_offset, saved })
    }

    fn table(first: u64, offsets: &[u32], numbers: &[u16]) -> Option<RuleTable> {
        let rules = [simple(8), simple(16)].map(|rule| RuleBytes::of(rule).expect("kept"));
        RuleTable::new(&image(), Svma(first), offsets.to_vec(), numbers.to_vec(), &rules)
    }

    #[test]
    fn rules_are_found_by_their_addresses() {
        let table = table(0x1010, &[0, 4, 0xef], &[1, 0, 1]).expect("a table");
        let rules = [0x1010, 0x1014, 0x10ff].map(|svma| table.find(Svma(svma)));
        assert_eq!(rules, [Some(simple(16)), Some(simple(8)), Some(simple(16))]);
        let others = [0x1011, 0x100f, 0, 0x1100, 0x1_0000_1010].map(Svma);
        assert_eq!(others.map(|svma| table.find(svma)), [None; 5]);
        assert_eq!(RuleTable::default().find(Svma(0)), None);
    }

    #[test]
    fn what_does_not_fit_is_no_table() {
        assert!(table(0x1000, &[], &[]).is_some());
        assert!(table(0x1000, &[0, 0xff], &[0, 1]).is_some());
        let none: [(u64, &[u32], &[u16]); 9] = [
            (0x1000, &[4, 4], &[0, 0]),
            (0x1000, &[8, 4], &[0, 0]),
            (0x1000, &[0, 0x100], &[0, 0]),
            (0xfff, &[0, 1], &[0, 0]),
            (0x1000, &[0], &[2]),
            (0x1000, &[0, 1], &[0]),
            (0x1000, &[], &[0]),
            (u64::MAX, &[0, 1], &[0, 0]),
            (0, &[0x2000], &[0]),
        ];
        for (first, offsets, numbers) in none {
            assert_eq!(table(first, offsets, numbers), None, "{first:#x} {offsets:?} {numbers:?}");
        }
        let bad = RuleBytes([9; RuleBytes::SIZE]);
        let found = RuleTable::new(&image(), Svma(0x1000), vec![0], vec![0], &[bad]);
        assert_eq!(found, None);
    }
}
