//! A row of the call frame table during the execution of its instructions.

use gimli::constants as dw;

use crate::arch::{Arch, N_SLOTS, Processor};
use crate::cfi::fast::reader::CfiReader;
use crate::cfi::signed::{NEGATE_RA_STATE_WITH_PC, SET_RA_STATE};
use crate::rule::{Rule, SimpleRule};

/// The parts of a row that a simple rule can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CfiRow {
    cfa_register: u8,
    cfa_offset: i64,
    /// By slot, in words from the CFA; 0 if the register was not saved.
    saved: [i8; N_SLOTS],
    /// True if the return address is stated to be undefined.
    undefined: bool,
}

/// The context that all descriptions of one common information entry share.
#[derive(Clone, Copy, Debug)]
pub(super) struct CfiProgram {
    pub(super) arch: Processor,
    /// Bytes of code for each unit of location.
    pub(super) code_align: u64,
    /// Bytes for each unit of a saved register's offset.
    pub(super) data_align: i64,
    /// The initial row of each description.
    pub(super) initial: CfiRow,
}

/// Maximum nesting of remember and restore.
const DEPTH: usize = 8;

impl CfiProgram {
    /// Runs instructions from the initial row until the location, in bytes from the function's start, passes `target`.
    /// `None` for instructions that the fast path does not support.
    ///
    /// Source: DWARF 5, section 6.4.2 and figure 40.
    pub(super) fn run(&self, mut reader: CfiReader<'_>, target: u64) -> Option<CfiRow> {
        let mut row = self.initial;
        let mut location = 0_u64;
        let mut remembered = [row; DEPTH];
        let mut depth = 0;
        while let Some(op) = reader.u8() {
            // The two upper bits are an opcode; if they are 0, the whole byte is one.
            let (upper, operand) = (dw::DwCfa(op & 0xc0), u64::from(op & 0x3f));
            let advance = match (upper, dw::DwCfa(op)) {
                (dw::DW_CFA_advance_loc, _) => operand,
                (dw::DW_CFA_offset, _) => {
                    let factored = i64::try_from(reader.uleb()?).ok()?;
                    row.save(operand, factored, self)?;
                    continue;
                }
                (dw::DW_CFA_restore, _) => {
                    row.restore(operand, self)?;
                    continue;
                }
                (_, dw::DW_CFA_advance_loc1) => reader.u8()?.into(),
                (_, dw::DW_CFA_advance_loc2) => u16::from_le_bytes(reader.take()?).into(),
                (_, dw::DW_CFA_advance_loc4) => u32::from_le_bytes(reader.take()?).into(),
                (_, dw::DW_CFA_remember_state) => {
                    *remembered.get_mut(depth)? = row;
                    depth += 1;
                    continue;
                }
                (_, dw::DW_CFA_restore_state) => {
                    depth = depth.checked_sub(1)?;
                    row = *remembered.get(depth)?;
                    continue;
                }
                (_, op) => {
                    row.change(op, &mut reader, self)?;
                    continue;
                }
            };
            location = location.checked_add(advance.checked_mul(self.code_align)?)?;
            if location > target {
                break;
            }
        }
        Some(row)
    }
}

impl CfiRow {
    /// A row without information.
    pub(super) const EMPTY: Self =
        Self { cfa_register: 0, cfa_offset: 0, saved: [0; N_SLOTS], undefined: false };

    /// Returns the rule of the row; `None` if its numbers are too large.
    pub(super) fn rule(&self, signal: bool, arch: Processor) -> Option<Rule> {
        // On x86 the column is not a real register: without a rule, its value is unavailable.
        if self.undefined || (arch.is_x86() && self.saved[0] == 0) {
            return Some(Rule::Outermost);
        }
        Some(Rule::Simple(SimpleRule {
            cfa_register: self.cfa_register,
            signal,
            cfa_offset: i32::try_from(self.cfa_offset).ok()?,
            saved: self.saved,
        }))
    }

    /// Applies the instructions that change the row and take a whole opcode byte.
    ///
    /// Source: DWARF 5, figure 40; `DW_CFA_GNU_args_size` of the LSB core, which does not concern registers; DWARF for
    /// the Arm 64-bit Architecture on signed return addresses, which are stripped anyway.
    fn change(
        &mut self,
        op: dw::DwCfa,
        reader: &mut CfiReader<'_>,
        program: &CfiProgram,
    ) -> Option<()> {
        match op {
            dw::DW_CFA_nop => Some(()),
            dw::DW_CFA_offset_extended => {
                let register = reader.uleb()?;
                self.save(register, i64::try_from(reader.uleb()?).ok()?, program)
            }
            dw::DW_CFA_offset_extended_sf => {
                let register = reader.uleb()?;
                self.save(register, reader.sleb()?, program)
            }
            dw::DW_CFA_restore_extended => self.restore(reader.uleb()?, program),
            dw::DW_CFA_undefined => {
                let register = reader.uleb()?;
                if register == u64::from(program.arch.return_address) {
                    self.undefined = true;
                    return Some(());
                }
                // For a register that calls destroy anyway, it adds no information.
                slot_of(register, program.arch).is_none().then_some(())
            }
            dw::DW_CFA_def_cfa => {
                self.def_cfa_register(reader.uleb()?, program)?;
                self.def_cfa_offset(reader.uleb()?)
            }
            dw::DW_CFA_def_cfa_register => self.def_cfa_register(reader.uleb()?, program),
            dw::DW_CFA_def_cfa_offset => self.def_cfa_offset(reader.uleb()?),
            dw::DW_CFA_def_cfa_sf => {
                self.def_cfa_register(reader.uleb()?, program)?;
                self.def_cfa_offset_factored(reader.sleb()?, program)
            }
            dw::DW_CFA_def_cfa_offset_sf => self.def_cfa_offset_factored(reader.sleb()?, program),
            dw::DW_CFA_AARCH64_negate_ra_state | dw::DwCfa(NEGATE_RA_STATE_WITH_PC)
                if program.arch.is(Arch::Aarch64) =>
            {
                Some(())
            }
            dw::DwCfa(SET_RA_STATE) if program.arch.is(Arch::Aarch64) => {
                reader.uleb()?;
                reader.sleb().map(drop)
            }
            dw::DW_CFA_GNU_args_size => reader.uleb().map(drop),
            _ => None,
        }
    }

    fn def_cfa_register(&mut self, register: u64, program: &CfiProgram) -> Option<()> {
        self.cfa_register =
            u8::try_from(register).ok().filter(|&register| register < program.arch.columns)?;
        Some(())
    }

    fn def_cfa_offset(&mut self, offset: u64) -> Option<()> {
        self.cfa_offset = i64::try_from(offset).ok()?;
        Some(())
    }

    fn def_cfa_offset_factored(&mut self, factored: i64, program: &CfiProgram) -> Option<()> {
        self.cfa_offset = factored.checked_mul(program.data_align)?;
        Some(())
    }

    fn save(&mut self, register: u64, factored: i64, program: &CfiProgram) -> Option<()> {
        if register >= program.arch.columns.into() {
            return Some(());
        }
        let slot = slot_of(register, program.arch)?;
        let offset = factored.checked_mul(program.data_align)?;
        let word = program.arch.word.cast_signed();
        let words = i8::try_from(offset / word).ok();
        let words = words.filter(|&words| words != 0 && offset % word == 0)?;
        *self.saved.get_mut(slot)? = words;
        if slot == 0 {
            self.undefined = false;
        }
        Some(())
    }

    fn restore(&mut self, register: u64, program: &CfiProgram) -> Option<()> {
        if register >= program.arch.columns.into() {
            return Some(());
        }
        let slot = slot_of(register, program.arch)?;
        *self.saved.get_mut(slot)? = *program.initial.saved.get(slot)?;
        if slot == 0 {
            self.undefined = program.initial.undefined;
        }
        Some(())
    }
}

fn slot_of(register: u64, arch: Processor) -> Option<usize> {
    arch.slots.iter().position(|&known| u64::from(known) == register)
}
