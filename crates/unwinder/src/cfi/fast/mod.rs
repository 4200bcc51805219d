//! The fast way from a frame description to a packed rule: an interpreter of the call frame instructions that
//! compilers write, on the bytes themselves. Whatever else it meets (expressions, registers in registers, unusual
//! encodings, damage) it leaves to the general way, which gives the same rule where both know one.

mod reader;

use crate::arch::{Arch, N_REGISTERS, N_SLOTS};
use crate::rule::{Rule, SimpleRule};

use reader::Reader;

/// What a common information entry says, as far as this way needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cie {
    code_align: u64,
    data_align: i64,
    has_augmentation: bool,
    signal: bool,
    initial: Row,
}

/// A row of the table while it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    cfa_register: u8,
    cfa_offset: i64,
    /// By slot, in words from the CFA; 0 where the register was not saved.
    saved: [i8; N_SLOTS],
    /// The return address is stated to be undefined.
    undefined: bool,
}

/// Pairs of remember and restore that are open at a time.
const DEPTH: usize = 8;

/// `DW_EH_PE_pcrel | DW_EH_PE_sdata4`.
const PCREL_SDATA4: u8 = 0x1b;

/// An entry of `.eh_frame` at `offset`: its body behind the length, and where the body begins. `None` for the 64-bit
/// form, a terminator, and entries that leave the section.
fn entry(section: &[u8], offset: usize) -> Option<(Reader<'_>, usize)> {
    let mut reader = Reader { bytes: section.get(offset..)? };
    let len = u32::from_le_bytes(reader.take()?);
    if len == 0 || len == u32::MAX {
        return None;
    }
    let bytes = reader.bytes.get(..len as usize)?;
    Some((Reader { bytes }, offset + 4))
}

impl Cie {
    /// Reads the entry at `offset` of a little-endian `.eh_frame`; `None` for what this way does not know.
    ///
    /// Source: LSB core, "The `.eh_frame` section"; DWARF 5, section 6.4.1.
    fn parse(section: &[u8], offset: usize, arch: Arch) -> Option<Self> {
        let (mut reader, _) = entry(section, offset)?;
        if u32::from_le_bytes(reader.take()?) != 0 || !matches!(reader.u8()?, 1 | 3) {
            return None;
        }
        let end = reader.bytes.iter().position(|&byte| byte == 0)?;
        let augmentation = reader.bytes.get(..end)?;
        reader.skip(end as u64 + 1)?;
        let code_align = reader.uleb()?;
        let data_align = reader.sleb()?;
        if reader.uleb()? != u64::from(arch.return_address()) {
            return None;
        }
        let mut cie = Self {
            code_align,
            data_align,
            has_augmentation: false,
            signal: false,
            initial: Row { cfa_register: 0, cfa_offset: 0, saved: [0; N_SLOTS], undefined: false },
        };
        let mut encoding = 0;
        if let Some((b'z', letters)) = augmentation.split_first() {
            let len = reader.uleb()?;
            let mut data = Reader { bytes: reader.bytes.get(..usize::try_from(len).ok()?)? };
            reader.skip(len)?;
            cie.has_augmentation = true;
            for letter in letters {
                match letter {
                    b'R' => encoding = data.u8()?,
                    b'L' => drop(data.u8()?),
                    // The personality: only the usual four-byte encodings.
                    b'P' if matches!(data.u8()? & 0x0f, 0x03 | 0x0b) => drop(data.take::<4>()?),
                    b'S' => cie.signal = true,
                    b'B' => {}
                    _ => return None,
                }
            }
        } else if !augmentation.is_empty() {
            return None;
        }
        if encoding != PCREL_SDATA4 {
            return None;
        }
        let mut row = cie.initial;
        run(reader, &cie, &mut row, u64::MAX, arch)?;
        cie.initial = row;
        Some(cie)
    }
}

/// A cache of one common information entry: neighbours in a file share theirs.
#[derive(Default, Debug)]
pub(crate) struct LastCie {
    key: Option<(u32, usize)>,
    cie: Option<Cie>,
}

/// A rule, and where it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) rule: Rule,
    /// In a function that is no signal trampoline, for it is too long, and not in front of one.
    pub(crate) is_inside: bool,
}

/// Functions of up to so many bytes may be signal trampolines: those of C libraries have 9 to 16.
const SHORT: u64 = 64;

/// The rule of an address, by the description at `offset` of a little-endian `.eh_frame`. The outer `None`: ask the
/// general way.
pub(crate) fn rule_of(
    section: &[u8],
    section_svma: u64,
    offset: usize,
    svma: u64,
    arch: Arch,
    file: u32,
    last: &mut LastCie,
) -> Option<Found> {
    let (mut reader, body) = entry(section, offset)?;
    let pointer = u32::from_le_bytes(reader.take()?) as usize;
    let cie_at = body.checked_sub(pointer).filter(|_| pointer != 0)?;
    if last.key != Some((file, cie_at)) {
        *last = LastCie { key: Some((file, cie_at)), cie: Cie::parse(section, cie_at, arch) };
    }
    let cie = last.cie.as_ref()?;
    let place = section_svma.wrapping_add(body as u64 + 4);
    let start = place.wrapping_add_signed(i64::from(i32::from_le_bytes(reader.take()?)));
    let len = u64::from(u32::from_le_bytes(reader.take()?));
    let target = svma.checked_sub(start).filter(|&target| target < len)?;
    if cie.has_augmentation {
        let skipped = reader.uleb()?;
        reader.skip(skipped)?;
    }
    let mut row = cie.initial;
    run(reader, cie, &mut row, target, arch)?;
    let rule = if row.undefined || (arch == Arch::X86_64 && row.saved[0] == 0) {
        Rule::Outermost
    } else {
        Rule::Simple(SimpleRule {
            cfa_register: row.cfa_register,
            signal: cie.signal,
            cfa_offset: i32::try_from(row.cfa_offset).ok()?,
            saved: row.saved,
        })
    };
    let is_inside = len > SHORT && target + 1 < len;
    Some(Found { rule, is_inside })
}

/// Runs instructions until the location passes `target`.
///
/// Source: DWARF 5, section 6.4.2 and figure 40; `DW_CFA_GNU_args_size` and `DW_CFA_AARCH64_negate_ra_state`.
fn run(mut reader: Reader<'_>, cie: &Cie, row: &mut Row, target: u64, arch: Arch) -> Option<()> {
    let mut location = 0_u64;
    let mut remembered = [*row; DEPTH];
    let mut depth = 0;
    while let Some(op) = reader.u8() {
        let low = u64::from(op & 0x3f);
        let advance = match (op >> 6, op) {
            (1, _) => low,
            (0, 0x02) => reader.u8()?.into(),
            (0, 0x03) => u16::from_le_bytes(reader.take()?).into(),
            (0, 0x04) => u32::from_le_bytes(reader.take()?).into(),
            (2, _) => {
                let offset = reader.uleb()?;
                row.save(low, i64::try_from(offset).ok()?, cie, arch)?;
                continue;
            }
            (3, _) => {
                row.restore(low, cie, arch)?;
                continue;
            }
            _ => {
                match op {
                    0x00 => {}
                    0x0a => {
                        *remembered.get_mut(depth)? = *row;
                        depth += 1;
                    }
                    0x0b => {
                        depth = depth.checked_sub(1)?;
                        *row = *remembered.get(depth)?;
                    }
                    _ => row.change(op, &mut reader, cie, arch)?,
                }
                continue;
            }
        };
        location = location.checked_add(advance.checked_mul(cie.code_align)?)?;
        if location > target {
            break;
        }
    }
    Some(())
}

impl Row {
    /// The instructions that change the row and are not packed into the opcode byte.
    fn change(&mut self, op: u8, reader: &mut Reader<'_>, cie: &Cie, arch: Arch) -> Option<()> {
        match op {
            0x05 => {
                let register = reader.uleb()?;
                self.save(register, i64::try_from(reader.uleb()?).ok()?, cie, arch)
            }
            0x11 => {
                let register = reader.uleb()?;
                self.save(register, reader.sleb()?, cie, arch)
            }
            0x06 => self.restore(reader.uleb()?, cie, arch),
            0x07 => {
                let register = reader.uleb()?;
                if register == u64::from(arch.return_address()) {
                    self.undefined = true;
                    return Some(());
                }
                // Of a register that calls destroy anyway it says nothing new.
                slot_of(register, arch).is_none().then_some(())
            }
            0x0c => self
                .def_cfa_register(reader.uleb()?)
                .and_then(|()| self.def_cfa_offset(reader.uleb()?)),
            0x0d => self.def_cfa_register(reader.uleb()?),
            0x0e => self.def_cfa_offset(reader.uleb()?),
            0x12 => {
                self.def_cfa_register(reader.uleb()?)?;
                self.cfa_offset = reader.sleb()?.checked_mul(cie.data_align)?;
                Some(())
            }
            0x13 => {
                self.cfa_offset = reader.sleb()?.checked_mul(cie.data_align)?;
                Some(())
            }
            0x2d if arch == Arch::Aarch64 => Some(()),
            0x2e => reader.uleb().map(drop),
            _ => None,
        }
    }

    fn def_cfa_register(&mut self, register: u64) -> Option<()> {
        self.cfa_register =
            u8::try_from(register).ok().filter(|&register| usize::from(register) < N_REGISTERS)?;
        Some(())
    }

    fn def_cfa_offset(&mut self, offset: u64) -> Option<()> {
        self.cfa_offset = i64::try_from(offset).ok()?;
        Some(())
    }

    fn save(&mut self, register: u64, factored: i64, cie: &Cie, arch: Arch) -> Option<()> {
        if register >= N_REGISTERS as u64 {
            return Some(());
        }
        let slot = slot_of(register, arch)?;
        let offset = factored.checked_mul(cie.data_align)?;
        let words = i8::try_from(offset / 8).ok().filter(|&words| words != 0 && offset % 8 == 0)?;
        *self.saved.get_mut(slot)? = words;
        if slot == 0 {
            self.undefined = false;
        }
        Some(())
    }

    fn restore(&mut self, register: u64, cie: &Cie, arch: Arch) -> Option<()> {
        if register >= N_REGISTERS as u64 {
            return Some(());
        }
        let slot = slot_of(register, arch)?;
        *self.saved.get_mut(slot)? = *cie.initial.saved.get(slot)?;
        if slot == 0 {
            self.undefined = cie.initial.undefined;
        }
        Some(())
    }
}

fn slot_of(register: u64, arch: Arch) -> Option<usize> {
    arch.slots().iter().position(|&known| u64::from(known) == register)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use address::{Avma, FileOffset, Pid, Svma};
    use gimli::{EhFrame, UnwindSection as _};
    use module_map::{FileIdentity, Library, LoadedImage, MapEvent, Timeline};

    use crate::cfi::fde::endian_of;
    use crate::cfi::{Compiled, Scratch, Sections, compile};

    fn opened(path: &Path, library: &Library) -> Arc<LoadedImage> {
        let mut timeline = Timeline::new();
        timeline.map(&MapEvent {
            pid: Pid(1),
            kernel: false,
            start: Avma(0x1000),
            len: 0x1000,
            offset: FileOffset(0),
            executable: true,
            writable: false,
            path: path.as_os_str().as_encoded_bytes(),
            identity: FileIdentity::default(),
        });
        let module = timeline.modules().first().expect("one map").clone();
        module.file(library).expect("an ELF file of the test data").clone()
    }

    /// All descriptions of a file: at the start, the end and every few bytes between, the fast way gives no rule or
    /// the one that the general way gives. Returns how many addresses were asked and how many rules the fast way gave.
    fn agreement(path: &Path) -> (usize, usize) {
        let library = Library::default();
        let file = opened(path, &library);
        let sections = Sections::new(file.clone());
        let arch = sections.arch.expect("a known processor");
        let image = file.image();
        let section = image.section(".eh_frame").expect("every one has it");
        let bytes = image.section_data(section).expect("not compressed");
        let frame = EhFrame::new(&bytes, endian_of(image));
        let mut entries = frame.entries(sections.bases());
        let mut scratch = Scratch::new();
        let (mut asked, mut given) = (0, 0);
        while let Ok(Some(entry)) = entries.next() {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) =
                partial.parse(|section, bases, offset| section.cie_from_offset(bases, offset))
            else {
                continue;
            };
            let last = fde.end_address().saturating_sub(1);
            for svma in (fde.initial_address()..last).step_by(3).take(40).chain([last]).map(Svma) {
                asked += 1;
                let Some(lean) = sections.lean_rule(svma, arch, &mut scratch.last_cie) else {
                    continue;
                };
                given += 1;
                let found = sections.find(svma, &library).expect("covered").expect("not damaged");
                match compile(&found, sections.bases(), svma, arch, &mut scratch.context) {
                    Compiled::Rule(rule) => {
                        assert_eq!(lean.rule, rule, "{} at {svma}", path.display())
                    }
                    Compiled::Full(row, _) => panic!("{} at {svma}: {row:?}", path.display()),
                }
            }
        }
        (asked, given)
    }

    #[test]
    fn both_ways_give_the_same_rules() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysroot");
        let lib = root.join("usr/lib/x86_64-linux-gnu");
        for name in ["libc.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6.0.30", "libm.so.6"] {
            let (asked, given) = agreement(&lib.join(name));
            // What is left: PLT stubs, signal trampolines, stack-realigned and hand-written code.
            assert!(given * 100 >= asked * 98, "{name}: {given} of {asked}");
        }
    }
}
