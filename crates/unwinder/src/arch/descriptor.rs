//! A processor as one value: its registers and words, its calling conventions, and functions that read its code. Each
//! processor's file has one.

use std::fmt;

use address::Arch;

use crate::arch::effect::EffectForm;
use crate::arch::flow::FlowForm;
use crate::arch::{N_SLOTS, NARROW, UNUSED, WIDE};

/// A processor. Registers have their DWARF numbers; registers without one have numbers after these.
pub(crate) struct ArchDescriptor {
    pub(crate) arch: Arch,
    /// Size of a word, in bytes: of a return address, of a saved register.
    pub(crate) word: u64,
    /// DWARF numbers below this are register numbers here.
    pub(crate) columns: u8,
    /// A DWARF number above these, and the number of its register here.
    pub(super) further_column: Option<(u16, u8)>,
    pub(crate) sp: u8,
    pub(crate) fp: u8,
    /// The slot of a simple rule that restores the frame pointer.
    pub(crate) fp_slot: usize,
    /// Offset of the frame record from the value of the frame pointer, in bytes; `None` if no convention states it. The
    /// record is the caller's frame pointer and then the return address. Its end is the caller's stack pointer.
    pub(crate) frame_record: Option<i64>,
    /// The column of the return address.
    pub(crate) return_address: u8,
    /// The number under which the program counter itself can be restored, as in signal frames.
    pub(crate) pc: u8,
    /// The registers that the slots of a simple rule restore: the return address, then callee-saved ones.
    pub(crate) slots: [u8; N_SLOTS],
    /// True if rows of its CFI can be simple rules. Rows that save registers above the CFA cannot.
    pub(crate) has_simple_rules: bool,
    /// The register of each bit of the recorder's register mask; [`UNUSED`] if it has none.
    pub(crate) of_mask_bits: &'static [u8],
    /// The bit of the recorder's register mask for the program counter.
    pub(crate) pc_bit: u32,
    /// The registers that are -1 in samples of kernel mode if they are unknown.
    pub(crate) may_be_unknown: &'static [u8],
    /// Mask of return address bits; pointer authentication uses the others.
    pub(super) return_addresses: u64,
    /// Decoder for the control flow of its instructions; `None` if there is none.
    pub(super) flow: Option<FlowForm>,
    /// Register with the address of the table of contents, by its number in instructions.
    pub(crate) table_of_contents: Option<u32>,
    /// Interpreter of its instructions, on processors with a link register; `None` if there is none.
    pub(super) effect: Option<EffectForm>,
    pub(crate) conventions: Conventions,
    pub(super) code: CodeForms,
}

/// The conventions between callers and functions.
pub(crate) struct Conventions {
    /// The registers that paths of a function track: callee-saved ones, and that of the return address if a slot of
    /// simple rules restores it. Padded with [`UNUSED`].
    pub(crate) preserved: [u8; N_SLOTS],
    /// The callee-saved registers of the x86 family, padded with [`UNUSED`]; other processors have only [`UNUSED`].
    pub(crate) callee_saved: [u8; 6],
    /// The registers that a called function may change.
    pub(crate) caller_saved: &'static [u8],
    /// Register of a function's first argument, by its number in instructions. Set on processors with a link register
    /// if the C library's entry code makes one call with `main` as its first argument.
    pub(crate) first_argument: Option<u32>,
    /// Distance of the CFA above the caller's stack pointer, in bytes.
    pub(crate) cfa_above_sp: u64,
    /// The registers for an exception handler's data: a function that continues in a handler saves them. Empty if other
    /// functions save them, too.
    ///
    /// Source: `EH_RETURN_DATA_REGNO` of GCC's processors.
    pub(crate) handler_data: &'static [u8],
}

/// Functions that read the code of a processor, and the byte patterns that they recognize.
pub(super) struct CodeForms {
    /// Alignment of instructions, in bytes.
    pub(super) alignment: usize,
    /// The bit of an address that selects the instruction set of the code there, as for Thumb.
    pub(super) mode_bit: u64,
    /// Size of the longest call instruction, in bytes.
    pub(super) longest_call: usize,
    /// Returns true if code of that length can end with a call.
    pub(super) ends_with_call: fn(&[u8]) -> bool,
    /// Returns the target of a direct call at the end of the code; the number is the address after the call.
    pub(super) direct_call_target: fn(&[u8], u64) -> Option<u64>,
    /// Returns the address of the word that a call at the end of the code reads its target from; the number as before.
    pub(super) slot_of_call: fn(&[u8], u64) -> Option<u64>,
    /// Size of the system call instruction, in bytes.
    pub(super) system_call: usize,
    pub(super) trampoline: Trampoline,
    /// Returns the offset of each saved register from the stack pointer at a signal trampoline, by the form of the
    /// frame.
    pub(super) signal_frame: fn(usize) -> Vec<(u8, u64)>,
    /// Returns true if a signal frame of a form is on the stack, by the values that only the kernel writes there.
    pub(super) is_signal_frame: Option<SignalFrameTest>,
    /// Initial bytes of instructions that fill gaps between functions.
    pub(super) padding: &'static [&'static [u8]],
    /// Whole instructions that fill the code after a call that does not return.
    pub(super) fillers: &'static [&'static [u8]],
    /// Size of the longest instruction that `moves_stack_pointer` recognizes, in bytes.
    pub(super) longest_push: usize,
    /// Returns true if the code ends with an instruction that moves the stack pointer down by a number of bytes and, if
    /// a register is given, stores it there. `None` if the case is not covered.
    pub(super) moves_stack_pointer: fn(&[u8], i64, Option<u8>) -> Option<bool>,
}

/// Tests for a signal frame. Arguments: its form, the stack pointer, a reader of the word at an offset from that, and a
/// test for code addresses.
pub(super) type SignalFrameTest =
    fn(usize, u64, &dyn Fn(u64) -> Option<u64>, &dyn Fn(u64) -> bool) -> Option<bool>;

/// The code that returns from a signal handler.
pub(super) enum Trampoline {
    /// It has one form: two instructions; the first has `first` bytes.
    Plain { code: &'static [u8], first: usize },
    /// It has several forms.
    Forms {
        /// Returns true if code begins with one.
        begins: fn(&[u8]) -> bool,
        /// Returns the form of the signal frame on the stack if the address at an index of the code is in a trampoline.
        form: fn(&[u8], usize) -> Option<usize>,
    },
}

/// Returns the size of a processor's word, in bytes.
pub(super) const fn word_of(arch: Arch) -> u64 {
    match arch.bits() {
        Some(32) => NARROW,
        _ => WIDE,
    }
}

/// Returns the slot that restores the frame pointer. Processors without simple rules have none; then it returns the
/// last slot, which restores nothing.
pub(super) const fn slot_of(fp: u8, slots: &[u8; N_SLOTS]) -> usize {
    let mut slot = 0;
    while slot + 1 < N_SLOTS && slots[slot] != fp {
        slot += 1;
    }
    slot
}

/// For processors with calls that state no word.
pub(super) const fn no_slot(_code: &[u8], _next: u64) -> Option<u64> {
    None
}

/// For processors without a test for pushes.
pub(super) const fn no_push(_code: &[u8], _bytes: i64, _register: Option<u8>) -> Option<bool> {
    None
}

impl ArchDescriptor {
    /// Returns true if it is the processor `arch`.
    pub(crate) fn is(&self, arch: Arch) -> bool {
        self.arch == arch
    }

    /// Index of the processor among all.
    pub(crate) const fn index(&self) -> usize {
        self.arch as usize
    }

    /// Returns true if its words have 64 bits.
    pub(crate) const fn is_wide(&self) -> bool {
        self.word == WIDE
    }

    /// Mask of the bits of an address.
    pub(crate) const fn addresses(&self) -> u64 {
        if self.word == NARROW { 0xffff_ffff } else { u64::MAX }
    }

    /// Returns true for the x86 family: calls push the return address, and iced decodes the code.
    #[inline]
    pub(crate) const fn is_x86(&self) -> bool {
        matches!(self.arch, Arch::X86_64 | Arch::X86)
    }

    /// Operand size in bits, as iced's decoder for the x86 family expects it.
    pub(crate) const fn bitness(&self) -> u32 {
        8 * self.word as u32
    }

    /// Number of bytes that a call pushes: its return address, or nothing.
    pub(crate) const fn pushed_by_call(&self) -> u64 {
        if self.is_x86() { self.word } else { 0 }
    }

    /// Returns the register of a DWARF number. Other numbers, as of vectors, do not matter for any frame.
    #[inline]
    pub(crate) const fn register(&self, dwarf: u16) -> Option<u8> {
        match self.further_column {
            _ if dwarf < self.columns as u16 => Some(dwarf as u8),
            Some((further, register)) if further == dwarf => Some(register),
            _ => None,
        }
    }

    /// The bit of the recorder's register mask for the stack pointer.
    pub(crate) fn sp_bit(&self) -> Option<u32> {
        let bit = self.of_mask_bits.iter().position(|&register| register == self.sp);
        bit.map(|bit| bit as u32)
    }

    /// Removes the bits of a return address that no address has; pointer authentication sets them.
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

/// The empty set of callee-saved registers, for processors outside the x86 family.
pub(super) const NO_REGISTERS: [u8; 6] = [UNUSED; 6];
