//! A processor as one value: its registers and words, the conventions of its code, and functions that read its code. A
//! file for each processor has one.

use std::fmt;

use address::Arch;

use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{N_SLOTS, NARROW, UNUSED, WIDE};

/// A processor. Registers have their DWARF numbers; those without have one behind these.
pub(crate) struct ArchDescriptor {
    pub(crate) arch: Arch,
    /// Bytes of a word: of a return address, of a saved register.
    pub(crate) word: u64,
    /// The DWARF numbers below this are numbers of registers here.
    pub(crate) columns: u8,
    /// A DWARF number beyond these, and the number that its register has here.
    pub(super) further_column: Option<(u16, u8)>,
    pub(crate) sp: u8,
    pub(crate) fp: u8,
    /// The slot of a simple rule that restores the frame pointer.
    pub(crate) fp_slot: usize,
    /// The place of the record that a frame pointer leads to, the caller's frame pointer and then the return address, in
    /// bytes from the value of the frame pointer. The caller's stack pointer is the end of the record. `None` if nothing
    /// states that.
    pub(crate) frame_record: Option<i64>,
    /// The column of the return address.
    pub(crate) return_address: u8,
    /// The number under which the program counter itself can be restored, as signal frames do.
    pub(crate) pc: u8,
    /// The registers that the slots of a simple rule restore: the return address, then callee-saved ones.
    pub(crate) slots: [u8; N_SLOTS],
    /// Whether rows of its call frame information can be simple rules: those that save registers above the frame's
    /// address cannot.
    pub(crate) has_simple_rules: bool,
    /// The register of each bit of the recorder's register mask; [`UNUSED`] if it has none.
    pub(crate) of_mask_bits: &'static [u8],
    /// The bit of the recorder's register mask for the program counter.
    pub(crate) pc_bit: u32,
    /// The registers that are -1 in samples of kernel mode if they are not known.
    pub(crate) may_be_unknown: &'static [u8],
    /// The bits that return addresses have; pointer authentication uses others.
    pub(super) return_addresses: u64,
    /// How its instructions are decoded for where they go on; `None` if they are not.
    pub(super) flow: Option<FlowForm>,
    /// The register that has the address of the table of contents, by its number in instructions.
    pub(crate) table_of_contents: Option<u32>,
    /// How its instructions are run, on processors with a link register; `None` if they are not.
    pub(super) effect: Option<EffectForm>,
    pub(crate) conventions: Conventions,
    pub(super) code: CodeForms,
}

/// What callers and functions agree upon.
pub(crate) struct Conventions {
    /// The registers that the paths of a function are followed for: callee-saved ones, and that of the return address if
    /// a slot of simple rules restores it; padded with [`UNUSED`].
    pub(crate) preserved: [u8; N_SLOTS],
    /// The callee-saved registers of the x86 family; padded with [`UNUSED`], which is all that others have.
    pub(crate) callee_saved: [u8; 6],
    /// The registers that a called function may change.
    pub(crate) caller_saved: &'static [u8],
    /// The register of the first argument of a function, by its number in instructions, on processors with a link
    /// register whose C library begins programs with one call that gets `main` as its first argument.
    pub(crate) first_argument: Option<u32>,
    /// The distance of the frame's address (CFA) from the stack pointer of the caller, in bytes.
    pub(crate) cfa_above_sp: u64,
    /// The registers in which an exception handler gets its data: those that a function which goes on in one saves. Empty
    /// if other functions save them, too.
    ///
    /// Source: `EH_RETURN_DATA_REGNO` of GCC's processors.
    pub(crate) handler_data: &'static [u8],
}

/// Functions that read the code of a processor, and the bytes that they recognize.
pub(super) struct CodeForms {
    /// Instructions begin at multiples of this number of bytes.
    pub(super) alignment: usize,
    /// The bit of an address that states the instruction set of the code there, as of Thumb.
    pub(super) mode_bit: u64,
    /// Bytes of the longest instruction that is a call.
    pub(super) longest_call: usize,
    /// Whether code of that length can end with a call.
    pub(super) ends_with_call: fn(&[u8]) -> bool,
    /// The address that a direct call at the end of the code calls; the number is the address behind it.
    pub(super) direct_call_target: fn(&[u8], u64) -> Option<u64>,
    /// The address of the word that a call at the end of the code reads its target from; the number as before.
    pub(super) slot_of_call: fn(&[u8], u64) -> Option<u64>,
    /// Bytes of the instruction that calls the kernel.
    pub(super) system_call: usize,
    pub(super) trampoline: Trampoline,
    /// The offset from the stack pointer, at a signal trampoline, of each saved register, by the form of the frame.
    pub(super) signal_frame: fn(usize) -> Vec<(u8, u64)>,
    /// Whether a signal frame of a form is on the stack, by the values that only the kernel writes there.
    pub(super) is_signal_frame: Option<SignalFrameTest>,
    /// The beginnings of instructions that fill gaps between functions.
    pub(super) padding: &'static [&'static [u8]],
    /// The whole instructions that fill the code behind a call that does not return.
    pub(super) fillers: &'static [&'static [u8]],
    /// Bytes of the longest instruction that `moves_stack_pointer` recognizes.
    pub(super) longest_push: usize,
    /// Whether the code ends with an instruction that moves the stack pointer down by a number of bytes; if a register is
    /// stated, one that stores it there. `None` if that is not looked at.
    pub(super) moves_stack_pointer: fn(&[u8], i64, Option<u8>) -> Option<bool>,
}

/// Tests for a signal frame: its form, the stack pointer, the word at an offset from that, and whether an address is one of
/// code.
pub(super) type SignalFrameTest =
    fn(usize, u64, &dyn Fn(u64) -> Option<u64>, &dyn Fn(u64) -> bool) -> Option<bool>;

/// The code that returns from a signal handler.
pub(super) enum Trampoline {
    /// It has one form: two instructions, of which the first has `first` bytes.
    Plain { code: &'static [u8], first: usize },
    /// It has several forms.
    Forms {
        /// Whether code begins with one.
        begins: fn(&[u8]) -> bool,
        /// The form of the signal frame on the stack if the address at an index of the code is in a trampoline.
        form: fn(&[u8], usize) -> Option<usize>,
    },
}

/// Bytes of a word of a processor.
pub(super) const fn word_of(arch: Arch) -> u64 {
    match arch.bits() {
        Some(32) => NARROW,
        _ => WIDE,
    }
}

/// The slot that restores the frame pointer. A processor without simple rules has none; the last slot, which is returned
/// then, restores nothing.
pub(super) const fn slot_of(fp: u8, slots: &[u8; N_SLOTS]) -> usize {
    let mut slot = 0;
    while slot + 1 < N_SLOTS && slots[slot] != fp {
        slot += 1;
    }
    slot
}

/// For processors whose calls state no word.
pub(super) const fn no_slot(_code: &[u8], _next: u64) -> Option<u64> {
    None
}

/// For processors whose pushes are not looked at.
pub(super) const fn no_push(_code: &[u8], _bytes: i64, _register: Option<u8>) -> Option<bool> {
    None
}

impl ArchDescriptor {
    /// Whether it is that processor.
    pub(crate) fn is(&self, arch: Arch) -> bool {
        self.arch == arch
    }

    /// Its number among all processors.
    pub(crate) const fn index(&self) -> usize {
        self.arch as usize
    }

    /// Whether its words have 64 bits.
    pub(crate) const fn is_wide(&self) -> bool {
        self.word == WIDE
    }

    /// The bits that an address has.
    pub(crate) const fn addresses(&self) -> u64 {
        if self.word == NARROW { 0xffff_ffff } else { u64::MAX }
    }

    /// Whether it is one of the x86 family: calls push the return address, and iced decodes the code.
    #[inline]
    pub(crate) const fn is_x86(&self) -> bool {
        matches!(self.arch, Arch::X86_64 | Arch::X86)
    }

    /// Bits of an instruction's usual operands, as decoders of the x86 family want it.
    pub(crate) const fn bitness(&self) -> u32 {
        8 * self.word as u32
    }

    /// How many bytes a call puts on the stack: its return address, or nothing.
    pub(crate) const fn pushed_by_call(&self) -> u64 {
        if self.is_x86() { self.word } else { 0 }
    }

    /// The register that a DWARF number stands for. Others, as of vectors, tell nothing of any frame.
    #[inline]
    pub(crate) const fn register(&self, dwarf: u16) -> Option<u8> {
        match self.further_column {
            _ if dwarf < self.columns as u16 => Some(dwarf as u8),
            Some((further, register)) if further == dwarf => Some(register),
            _ => None,
        }
    }

    /// The bit of the recorder's register mask that stands for the stack pointer.
    pub(crate) fn sp_bit(&self) -> Option<u32> {
        let bit = self.of_mask_bits.iter().position(|&register| register == self.sp);
        bit.map(|bit| bit as u32)
    }

    /// A return address without the bits that no address has, as pointer authentication puts them there.
    #[inline]
    pub(crate) const fn strip(&self, pc: u64) -> u64 {
        pc & self.return_addresses
    }
}

impl PartialEq for ArchDescriptor {
    fn eq(&self, other: &Self) -> bool {
        self.arch == other.arch
    }
}

impl Eq for ArchDescriptor {}

impl fmt::Debug for ArchDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arch.fmt(f)
    }
}

/// No callee-saved registers, for processors outside of the x86 family.
pub(super) const NO_REGISTERS: [u8; 6] = [UNUSED; 6];
