//! Conversion of a row of the call frame table to a rule: a simple one if possible, otherwise a full row.

use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression,
    UnwindSection, UnwindTableRow,
};

use address::Svma;

use crate::arch::{N_SLOTS, Processor};
use crate::cfi::fast::LastCie;
use crate::cfi::fde::{CfiBytes, Fde};
use crate::rule::{Cfa, FullRow, Recovery, Rule, SectionBytes, SimpleRule};

/// Storage for the rows of one description while its program runs. Hand-written code nests remember and restore deeper
/// than gimli's default of four.
#[derive(Debug)]
pub(crate) struct RowStorage;

impl UnwindContextStorage<usize> for RowStorage {
    type Rules = [(gimli::Register, RegisterRule<usize>); 64];
    type Stack = Box<[UnwindTableRow<usize, Self>; 16]>;
}

/// gimli's scratch memory.
pub(crate) type CfiContext = UnwindContext<usize, RowStorage>;

/// Reusable memory of a thread that reads call frame information.
#[derive(Debug)]
pub struct CfiScratch {
    pub(crate) context: CfiContext,
    pub(crate) last_cie: LastCie,
}

impl CfiScratch {
    pub(crate) fn new() -> Self {
        Self { context: CfiContext::new_in(), last_cie: LastCie::default() }
    }
}

impl Default for CfiScratch {
    fn default() -> Self {
        Self::new()
    }
}

/// The result for an address's row.
pub(crate) enum CompiledRow {
    Rule(Rule),
    /// A row that is not a simple rule; the flag is true for a signal frame.
    Full(Arc<FullRow>, RowKey, bool),
}

/// Identity of a row of a file: its section's address in memory, the offset of its description there, and its start
/// address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RowKey {
    pub(crate) file: u32,
    pub(crate) section: usize,
    pub(crate) fde: usize,
    pub(crate) start: u64,
}

/// Origin of a row: the file, and the owner of its section's bytes.
pub(crate) struct RowSource {
    pub(crate) file: u32,
    pub(crate) bytes: SectionBytes,
}

/// A queried address, and the reader's state for its description.
pub(crate) struct RowQuery<'s, S> {
    /// The section of the description.
    pub(crate) section: &'s S,
    pub(crate) bases: &'s BaseAddresses,
    pub(crate) svma: Svma,
    pub(crate) arch: Processor,
}

/// Compiles a row; `None` if it is damaged.
pub(crate) fn compile_row<'a, S: UnwindSection<CfiBytes<'a>>>(
    row: &UnwindTableRow<usize, RowStorage>,
    fde: &Fde<'a>,
    section: &S,
    arch: Processor,
    source: &RowSource,
) -> Option<CompiledRow> {
    let signal = fde.is_signal_trampoline();
    let column = fde.cie().return_address_register();
    let return_address = arch.register(column.0)?;
    let return_rule = row.register(column);
    let undefined = match (&return_rule, arch) {
        (Some(RegisterRule::Undefined), _) => true,
        // On x86 the column is not a real register: without a rule, its value is unavailable.
        (None | Some(RegisterRule::SameValue), arch) => {
            arch.is_x86() && return_address == arch.return_address
        }
        _ => false,
    };
    if undefined {
        return Some(CompiledRow::Rule(Rule::Outermost));
    }
    if return_address == arch.return_address
        && let Some(rule) = simple_rule(row, arch, signal)
    {
        return Some(CompiledRow::Rule(Rule::Simple(rule)));
    }
    let key = RowKey {
        file: source.file,
        section: section.section().slice().as_ptr() as usize,
        fde: fde.offset(),
        start: row.start_address(),
    };
    full_row(row, arch, source, return_address)
        .map(|row| CompiledRow::Full(Arc::new(row), key, signal))
}

/// Returns the simple rule of a row, if there is one.
fn simple_rule(
    row: &UnwindTableRow<usize, RowStorage>,
    arch: Processor,
    signal: bool,
) -> Option<SimpleRule> {
    if !arch.has_simple_rules {
        return None;
    }
    let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
    let cfa_register = arch.register(register.0)?;
    let word = arch.word.cast_signed();
    let mut saved = [0_i8; N_SLOTS];
    for (register, rule) in row.registers() {
        // Vector and pseudo registers: no CFA depends on them.
        let Some(number) = arch.register(register.0) else { continue };
        let slot = arch.slots.iter().position(|&known| known == number);
        match (rule, slot) {
            (RegisterRule::Offset(offset), Some(slot)) => {
                let words = i8::try_from(offset / word).ok();
                let words = words.filter(|&words| words != 0 && offset % word == 0)?;
                *saved.get_mut(slot)? = words;
            }
            (RegisterRule::SameValue, _) => {}
            (RegisterRule::ValOffset(0), _) if number == arch.sp => {}
            // Stated for registers that calls destroy anyway.
            (RegisterRule::Undefined, None) => {}
            _ => return None,
        }
    }
    if arch.is_x86() && saved[0] == 0 {
        return None;
    }
    Some(SimpleRule { cfa_register, signal, cfa_offset: i32::try_from(offset).ok()?, saved })
}

fn full_row(
    row: &UnwindTableRow<usize, RowStorage>,
    arch: Processor,
    source: &RowSource,
    return_address: u8,
) -> Option<FullRow> {
    let bytes = |expression: &UnwindExpression<usize>| {
        source.bytes.expression(expression.offset, expression.length)
    };
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            Cfa::Register(arch.register(register.0)?, *offset)
        }
        CfaRule::Expression(expression) => Cfa::Expression(bytes(expression)?),
    };
    let mut registers = Vec::new();
    for (register, rule) in row.registers() {
        let Some(number) = arch.register(register.0) else { continue };
        let recovery = match rule {
            RegisterRule::Undefined => Recovery::Undefined,
            RegisterRule::SameValue => Recovery::Same,
            RegisterRule::Offset(offset) => Recovery::SlotAtCfa(*offset),
            RegisterRule::ValOffset(offset) => Recovery::CfaPlus(*offset),
            RegisterRule::Register(register) => Recovery::Register(arch.register(register.0)?),
            RegisterRule::Expression(expression) => Recovery::SlotAtExpression(bytes(expression)?),
            RegisterRule::ValExpression(expression) => Recovery::Expression(bytes(expression)?),
            RegisterRule::Constant(value) => Recovery::Constant(*value),
            _ => return None,
        };
        registers.push((number, recovery));
    }
    registers.sort_unstable_by_key(|&(number, _)| number);
    Some(FullRow { cfa, registers, return_address })
}

/// Returns the row of a signal trampoline that was recognized by its code: the signal frame has all registers.
pub(crate) fn signal_row(arch: Processor, form: usize) -> FullRow {
    let registers = arch
        .signal_frame(form)
        .into_iter()
        .map(|(register, offset)| (register, Recovery::SlotAtCfa(offset as i64)))
        .collect();
    FullRow { cfa: Cfa::Register(arch.sp, 0), registers, return_address: arch.pc }
}
