//! Functions of an ELF file of x86-64 or i386: their bounds and names, the targets of PLT stubs, and jumps between
//! functions. Contains only the parts that the oracle needs; instructions are recognized, not disassembled.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

use super::jump::{Jump, jump, relative};
use super::tables::{NamedSymbol, Slot, described, named, number, slots};

/// An opened file. All addresses are as stated in the file.
pub(super) struct Binary {
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// Functions by call frame information, sorted.
    described: Vec<Range<u64>>,
    /// Functions by symbol, sorted by start.
    named: Vec<NamedSymbol>,
    plt: Vec<Range<u64>>,
    /// Values that the loader writes into slots of the global offset table.
    slots: BTreeMap<u64, Slot>,
    build_id: Vec<u8>,
    /// For i386: start of the slot table, which code has in ebx.
    narrow: Option<u64>,
}

struct Segment {
    offset: u64,
    size: u64,
    start: u64,
    executable: bool,
}

/// The instruction before a return address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// A call of this address.
    Direct(u64),
    /// A call through this slot of the global offset table, which holds a function of some name.
    Slot(u64),
    /// A call through a register or memory.
    Indirect,
    /// Not a call.
    No,
    /// The file has no code there.
    Unknown,
}

/// Certainty of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Answer {
    No,
    Open,
    Yes,
}

/// Maximum number of functions that are examined for one chain of jumps.
const JUMPS: usize = 64;
/// Longer functions are not searched for jumps, in bytes.
const LONGEST: u64 = 1 << 18;

impl Binary {
    /// Opens a file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        Self::parse(bytes).with_context(|| path.display().to_string())
    }

    fn parse(bytes: Vec<u8>) -> Result<Self> {
        let file = object::File::parse(bytes.as_slice())?;
        let narrow = match file.architecture() {
            object::Architecture::X86_64 => None,
            object::Architecture::I386 => {
                let table = |name: &str| Some(file.section_by_name(name)?.address());
                Some(table(".got.plt").or_else(|| table(".got")).unwrap_or(0))
            }
            _ => bail!("not of x86"),
        };
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            let executable = match segment.flags() {
                object::SegmentFlags::Elf { p_flags, .. } => p_flags.0 & 1 != 0,
                _ => false,
            };
            Segment { offset, size, start: segment.address(), executable }
        });
        let segments = segments.collect();
        let described = described(&file);
        let named = named(&file);
        let plt = file
            .sections()
            .filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt")))
            .map(|section| section.address()..section.address() + section.size())
            .collect();
        let slots = slots(&file);
        let build_id = file.build_id()?.unwrap_or_default().to_vec();
        drop(file);
        Ok(Self { bytes, segments, described, named, plt, slots, build_id, narrow })
    }

    /// Returns true if the file's build-id starts with the recorded one.
    pub(super) fn is_recorded(&self, recorded: &str) -> bool {
        let own: String = self.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
        own.starts_with(recorded)
    }

    /// Returns the address of a byte of code by its offset in the file.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|s| s.executable && offset.wrapping_sub(s.offset) < s.size)?;
        Some(segment.start.wrapping_add(offset - segment.offset))
    }

    fn code(&self, range: Range<u64>) -> Option<&[u8]> {
        let segment = self
            .segments
            .iter()
            .find(|s| s.executable && range.start.wrapping_sub(s.start) < s.size)?;
        let start =
            usize::try_from(segment.offset.checked_add(range.start - segment.start)?).ok()?;
        let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }

    /// Returns the instruction that ends at an address.
    ///
    /// Source: Intel SDM, CALL: `E8 rel32`, or `FF /2` with its addressing bytes.
    pub(super) fn call_before(&self, address: u64) -> Call {
        let Some(code) = self.code(address.wrapping_sub(7)..address) else { return Call::Unknown };
        let at = |back: usize| code.get(7 - back).copied().unwrap_or(0);
        let indirect =
            [2, 3, 4, 6, 7].into_iter().any(|len| at(len) == 0xff && at(len - 1) & 0x38 == 0x10);
        if (at(6), at(5)) == (0xff, 0x15) {
            const GS: u8 = 0x65;
            let slot = match self.narrow {
                None => relative(address, code, 3),
                Some(_) if at(7) == GS => None,
                Some(_) => number(code, 3),
            };
            return match slot.and_then(|slot| Some((slot, self.slots.get(&slot)?))) {
                Some((_, Slot::Own(target))) => Call::Direct(*target),
                Some((slot, Slot::NamedSymbol(_))) => Call::Slot(slot),
                None => Call::Indirect,
            };
        }
        let direct = (at(5) == 0xe8).then(|| relative(address, code, 3)).flatten();
        match direct.filter(|&target| self.code(target..target.wrapping_add(1)).is_some()) {
            Some(target) if !indirect => Call::Direct(target),
            _ if indirect => Call::Indirect,
            _ => Call::No,
        }
    }

    /// Returns true if a signal handler returns to the code at an address.
    pub(super) fn is_signal_trampoline(&self, address: u64) -> bool {
        const RT_SIGRETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
        const NARROW: [u8; 7] = [0xb8, 0xad, 0, 0, 0, 0xcd, 0x80];
        const NARROW_WITHOUT_INFO: [u8; 8] = [0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80];
        let is = |code: &[u8]| self.code(address..address + code.len() as u64) == Some(code);
        match self.narrow {
            None => is(&RT_SIGRETURN),
            Some(_) => is(&NARROW) || is(&NARROW_WITHOUT_INFO),
        }
    }

    /// Returns the bounds of the functions that contain an address, by both sources; they can differ.
    pub(super) fn bounds(&self, address: u64) -> Vec<Range<u64>> {
        let mut all: Vec<Range<u64>> = self.symbols_at(address).map(|s| s.range.clone()).collect();
        let after = self.described.partition_point(|range| range.start <= address);
        all.extend(
            self.described[..after].last().filter(|range| range.contains(&address)).cloned(),
        );
        all
    }

    /// Returns the names of the functions that contain an address.
    pub(super) fn names_at(&self, address: u64) -> impl Iterator<Item = &str> {
        self.symbols_at(address).map(|symbol| symbol.name.as_str())
    }

    fn symbols_at(&self, address: u64) -> impl Iterator<Item = &NamedSymbol> {
        const NEIGHBOURS: usize = 16;
        let after = self.named.partition_point(|symbol| symbol.range.start <= address);
        let near = &self.named[after.saturating_sub(NEIGHBOURS)..after];
        near.iter().filter(move |symbol| symbol.range.contains(&address))
    }

    /// Returns the start of the function of that name, if it is unique and not chosen at run time.
    pub(super) fn defined(&self, name: &str) -> Option<u64> {
        let mut all = self.named.iter().filter(|symbol| symbol.name == name);
        let first = all.next()?;
        (!first.indirect && all.all(|other| other.range.start == first.range.start))
            .then_some(first.range.start)
    }

    /// Returns true if an address is in a procedure linkage table.
    pub(super) fn in_plt(&self, address: u64) -> bool {
        self.plt.iter().any(|range| range.contains(&address))
    }

    /// Returns the name of the target of a PLT stub, or of the function in a slot of the global offset table.
    pub(super) fn imported(&self, stub_or_slot: u64) -> Option<&str> {
        let in_stub = || {
            let code = self.code(stub_or_slot..stub_or_slot.wrapping_add(16))?;
            let at = |bytes: [u8; 2]| code.windows(2).position(|pair| pair == bytes);
            match (self.narrow, at([0xff, 0x25])) {
                (None, at) => relative(stub_or_slot.wrapping_add(at? as u64 + 6), code, at? + 2),
                (Some(_), Some(at)) => number(code, at + 2),
                (Some(table), None) => Some(table + number(code, at([0xff, 0xa3])? + 2)?),
            }
        };
        match self.slots.get(&in_stub().unwrap_or(stub_or_slot))? {
            Slot::NamedSymbol(name) => Some(name),
            Slot::Own(_) => None,
        }
    }

    /// Returns whether the function at `target` is one of `callee`, or reaches one by jumps. The answer is open if it
    /// jumps through a register or memory, or if its bounds are unknown. Adds the PLT stubs among its targets
    /// to `stubs`.
    pub(super) fn hands_over(
        &self,
        target: u64,
        callee: &[Range<u64>],
        stubs: &mut Vec<u64>,
    ) -> Answer {
        let reached = |address: u64| callee.iter().any(|range| range.contains(&address));
        if reached(target) {
            return Answer::Yes;
        }
        let mut answer = Answer::No;
        let mut starts = vec![target];
        let mut done = 0;
        while let Some(&start) = starts.get(done) {
            done += 1;
            let bounds = self.bounds(start).into_iter().max_by_key(|range| range.end - range.start);
            let Some(bounds) = bounds.filter(|range| range.end - range.start <= LONGEST) else {
                answer = Answer::Open;
                continue;
            };
            let code = self.code(bounds.clone()).unwrap_or_default();
            for at in 0..code.len() {
                match jump(bounds.start, code, at) {
                    Jump::To(to) | Jump::Near(to) if reached(to) => return Answer::Yes,
                    Jump::Indirect => answer = Answer::Open,
                    Jump::To(to) if self.in_plt(to) && to % 8 == 0 => stubs.push(to),
                    Jump::To(to)
                        if !bounds.contains(&to)
                            && !starts.contains(&to)
                            && self.bounds(to).iter().any(|range| range.start == to) =>
                    {
                        starts.push(to);
                    }
                    _ => {}
                }
            }
            // Hand-written code can fall through into the next function.
            if reached(bounds.end) || done > JUMPS {
                return Answer::Open;
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use synth::{ElfBuilder, Section, Segment, Symbol};

    use super::{Answer, Binary, Call};

    /// `f` at 0x1000 calls `g` at 0x1020, which jumps to `h` at 0x1040; `i` at 0x1060 jumps through rax.
    fn binary() -> Binary {
        let mut text = vec![0x90; 0x100];
        let mut put = |at: usize, bytes: &[u8]| text[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x08, &[0xe8, 0x13, 0, 0, 0]);
        put(0x10, &[0xff, 0xd0]);
        put(0x28, &[0xe9, 0x13, 0, 0, 0]);
        put(0x68, &[0xff, 0xe0]);
        put(0x80, &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
        let names = ["f", "g", "h", "i"];
        let symbols = (0..).zip(names).map(|(n, name)| Symbol::function(name, 0x1000 + 32 * n, 32));
        let elf = ElfBuilder {
            segments: vec![Segment::load_text(0x1000, 0x1000, 0x100)],
            sections: vec![Section::text(0x1000, text)],
            symbols: symbols.collect(),
            ..ElfBuilder::x86_64()
        };
        Binary::parse(elf.build()).unwrap()
    }

    #[test]
    fn calls_are_found_before_return_addresses() {
        let binary = binary();
        assert_eq!(binary.call_before(0x100d), Call::Direct(0x1020));
        assert_eq!(binary.call_before(0x1012), Call::Indirect);
        assert_eq!(binary.call_before(0x1030), Call::No);
        assert_eq!(binary.call_before(0x5000), Call::Unknown);
        assert!(binary.is_signal_trampoline(0x1080));
        assert_eq!((binary.address(0x1008), binary.address(0x5000)), (Some(0x1008), None));
    }

    #[test]
    fn jumps_hand_over() {
        let binary = binary();
        let reach = |target, callee| {
            let mut stubs = Vec::new();
            binary.hands_over(target, &binary.bounds(callee), &mut stubs)
        };
        assert_eq!(reach(0x1020, 0x1024), Answer::Yes);
        assert_eq!(reach(0x1020, 0x1050), Answer::Yes);
        assert_eq!(reach(0x1020, 0x1004), Answer::No);
        assert_eq!(reach(0x1060, 0x1004), Answer::Open);
        assert_eq!(binary.defined("h"), Some(0x1040));
        assert_eq!(binary.names_at(0x1045).collect::<Vec<_>>(), ["h"]);
    }
}
