//! The effect of one x86 instruction, of 64 or 32 bits, on the state of a path, and its successors.
//!
//! Source: Intel SDM, volume 2; the decoder lists the other registers that an instruction writes.

use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use crate::arch::{Arch, JumpTable, MemoryWords, PathState, Processor, Sum, SymbolicValue};

/// rax or eax.
const RAX: u8 = 0;
/// DWARF numbers by register number in an instruction, on x86-64. On 32 bits, both are equal.
const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// The successors of an instruction on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum X86Successor {
    /// The next instruction.
    Next,
    /// The next instruction, or that address.
    Branch(u64),
    /// That address.
    Jump(u64),
    /// The next instruction, if the call returns.
    Call,
    /// The caller.
    Return,
    /// Another function with the same caller; through the word at that address, if it is stated.
    TailCall(Option<u64>),
    /// None: the thread or the process ends.
    End,
    /// None: a trap.
    Stop,
    /// Another function, as after a tail call, through a word at that offset from ebx. In an entry of a procedure
    /// linkage table, ebx is the table of such words.
    LinkageSlot(i64),
    /// One of several targets: entries of a table, each an offset from some address.
    Switch(JumpTable),
    /// The code at an address in a register.
    Register,
    /// Unknown.
    #[default]
    Lost,
}

/// Runs one instruction.
pub(super) fn run(
    instruction: &Instruction,
    state: &mut PathState,
    words: &mut MemoryWords,
    factory: &mut InstructionInfoFactory,
) -> X86Successor {
    match instruction.mnemonic() {
        Mnemonic::Hlt | Mnemonic::Ud2 | Mnemonic::Int3 | Mnemonic::INVALID => {
            return X86Successor::Stop;
        }
        Mnemonic::Syscall => return system_call(state),
        Mnemonic::Sysenter | Mnemonic::Int if is_system_call(instruction, state.arch) => {
            return system_call(state);
        }
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::XbeginXabortXend => {}
        FlowControl::UnconditionalBranch => {
            return X86Successor::Jump(instruction.near_branch_target());
        }
        FlowControl::ConditionalBranch => {
            return X86Successor::Branch(instruction.near_branch_target());
        }
        FlowControl::IndirectBranch => return indirect_jump(instruction, state),
        FlowControl::Return => return X86Successor::Return,
        FlowControl::Call | FlowControl::IndirectCall => {
            if is_system_call(instruction, state.arch) && system_call(state) == X86Successor::End {
                return X86Successor::End;
            }
            state
                .arch
                .conventions
                .caller_saved
                .iter()
                .for_each(|&register| state.set(register, None));
            return X86Successor::Call;
        }
        FlowControl::Interrupt | FlowControl::Exception => return X86Successor::Stop,
    }
    if known_effect(instruction, state, words).unwrap_or_else(|| {
        other_effect(instruction, state, factory);
        store_of(instruction, state, None)
    }) {
        X86Successor::Next
    } else {
        X86Successor::Lost
    }
}

/// Returns true if a 32-bit instruction enters the kernel: `sysenter`, `int $0x80`, or the call of the vdso's entry,
/// through a word of the thread.
///
/// Source: `sysinfo` in glibc's and musl's thread control block of i386 is at `%gs:0x10`.
fn is_system_call(instruction: &Instruction, arch: Processor) -> bool {
    const SYSINFO: u64 = 0x10;
    arch.is(Arch::X86)
        && match instruction.mnemonic() {
            Mnemonic::Int => instruction.immediate8() == 0x80,
            Mnemonic::Call => {
                instruction.op0_kind() == OpKind::Memory
                    && instruction.segment_prefix() == Register::GS
                    && instruction.memory_displacement64() == SYSINFO
            }
            _ => true,
        }
}

/// Source: `asm/unistd_64.h`: `exit` is 60, `exit_group` 231; `asm/unistd_32.h`: 1 and 252.
fn system_call(state: &mut PathState) -> X86Successor {
    let number = state.get(RAX).and_then(Sum::as_constant);
    let is_end = if state.arch.is(Arch::X86) {
        matches!(number, Some(1 | 252))
    } else {
        matches!(number, Some(60 | 231))
    };
    if is_end {
        return X86Successor::End;
    }
    if state.arch.is(Arch::X86) {
        state.set(RAX, None);
        return X86Successor::Next;
    }
    for register in [RAX, 2, 11] {
        state.set(register, None);
    }
    X86Successor::Next
}

fn indirect_jump(instruction: &Instruction, state: &PathState) -> X86Successor {
    let arch = state.arch;
    if instruction.op0_kind() == OpKind::Register {
        let target = general(instruction.op0_register(), arch)
            .and_then(|register| state.get(register)?.as_constant());
        let table = || state.table().map_or(X86Successor::Register, X86Successor::Switch);
        return target.map_or_else(table, |target| X86Successor::Jump(target & arch.addresses()));
    }
    if instruction.op0_kind() != OpKind::Memory {
        return X86Successor::Lost;
    }
    let is_absolute = arch.is(Arch::X86) && instruction.memory_base() == Register::None;
    let at = instruction.memory_displacement64();
    match (instruction.memory_index(), instruction.segment_prefix()) {
        (Register::None, Register::None) if is_absolute => X86Successor::TailCall(Some(at)),
        (Register::None, Register::None)
            if arch.is(Arch::X86) && instruction.memory_base() == Register::EBX =>
        {
            X86Successor::LinkageSlot(displacement(instruction, arch))
        }
        (Register::None, _) => {
            let slot = instruction.is_ip_rel_memory_operand();
            X86Successor::TailCall(slot.then(|| instruction.ip_rel_memory_address()))
        }
        // The table of a switch: addresses, in code that is not relocated.
        (_, Register::None | Register::DS)
            if is_absolute && instruction.memory_index_scale() == 4 =>
        {
            X86Successor::Switch(JumpTable { at, base: 0 })
        }
        _ => X86Successor::Lost,
    }
}

/// Returns the DWARF number of a general register in its full width.
fn general(register: Register, arch: Processor) -> Option<u8> {
    if arch.is(Arch::X86) {
        return register.is_gpr32().then(|| register.number() as u8).filter(|&number| number < 8);
    }
    if !register.is_gpr64() {
        return None;
    }
    DWARF.get(register.number()).copied()
}

/// Returns the DWARF number of the general register that contains a register.
fn general_of(part: Register, arch: Processor) -> Option<u8> {
    let full = if arch.is(Arch::X86) { part.full_register32() } else { part.full_register() };
    general(full, arch)
}

/// Returns the displacement of a memory operand.
fn displacement(instruction: &Instruction, arch: Processor) -> i64 {
    let value = instruction.memory_displacement64();
    if arch.is(Arch::X86) { (value as i32).into() } else { value.cast_signed() }
}

/// Applies the instructions that move stack pointers and saved registers. Returns `None` for all others, and false if
/// the path cannot be followed further.
fn known_effect(
    instruction: &Instruction,
    state: &mut PathState,
    words: &mut MemoryWords,
) -> Option<bool> {
    let arch = state.arch;
    let target = general(instruction.op0_register(), arch);
    if let Some(target) = target.filter(|_| reads_table(instruction, arch)) {
        state.set_table(table_of(instruction, state));
        state.set(target, None);
        return Some(true);
    }
    match instruction.mnemonic() {
        Mnemonic::Push => {
            let value = operand(instruction, 0, state, words);
            let sp = state.sp()?.plus(instruction.stack_pointer_increment().into());
            state.set(arch.sp, Some(sp));
            Some(state.store(Some(sp), -i64::from(instruction.stack_pointer_increment()), value))
        }
        Mnemonic::Pop if target.is_some() => {
            let sp = state.sp()?;
            let value = state.load(Some(sp), words);
            state.set(arch.sp, Some(sp.plus(state.word())));
            state.set(target?, value);
            Some(true)
        }
        Mnemonic::Leave if matches!(instruction.code(), Code::Leaveq | Code::Leaved) => {
            let frame = state.get(arch.fp);
            state.set(arch.fp, state.load(frame, words));
            state.set(arch.sp, frame.map(|frame| frame.plus(state.word())));
            Some(true)
        }
        Mnemonic::Mov if target.is_some() => {
            let value = operand(instruction, 1, state, words);
            state.set(target?, value);
            Some(true)
        }
        Mnemonic::Mov if instruction.op0_kind() == OpKind::Memory => {
            let value = operand(instruction, 1, state, words);
            Some(store_of(instruction, state, value))
        }
        Mnemonic::Mov => narrow_constant(instruction, state),
        Mnemonic::Lea if target.is_some() => {
            state.set(target?, address(instruction, state));
            Some(true)
        }
        Mnemonic::Add | Mnemonic::Sub if target.is_some() => {
            let by = immediate(instruction, 1, arch)?;
            let by = if instruction.mnemonic() == Mnemonic::Add { by } else { by.wrapping_neg() };
            state.set(target?, state.get(target?).map(|value| value.plus(by)));
            Some(true)
        }
        Mnemonic::Xor => {
            let (one, other) = (instruction.op0_register(), instruction.op1_register());
            let register = general_of(one, arch).filter(|_| one == other && is_wide(one))?;
            state.set(register, Some(Sum::constant(0)));
            Some(true)
        }
        _ => None,
    }
}

/// Returns true if an instruction reads an entry of a switch's table, in the form of compilers or of hand-written
/// position-independent 32-bit code. Entries are distances from the table's start, or from an address that the code has
/// computed.
fn reads_table(instruction: &Instruction, arch: Processor) -> bool {
    let is_read = match instruction.mnemonic() {
        Mnemonic::Movsxd => !arch.is(Arch::X86),
        Mnemonic::Mov | Mnemonic::Add => {
            arch.is(Arch::X86)
                && instruction.op1_kind() == OpKind::Memory
                && instruction.memory_base() != Register::None
                && instruction.memory_index() != Register::None
        }
        _ => false,
    };
    is_read && instruction.memory_index_scale() == 4
}

/// Returns the table that an instruction reads an entry of.
fn table_of(instruction: &Instruction, state: &PathState) -> Option<JumpTable> {
    let arch = state.arch;
    let base = state.get(general(instruction.memory_base(), arch)?)?.as_constant()?;
    let distance = displacement(instruction, arch);
    if arch.is(Arch::X86) {
        let at = base.wrapping_add_signed(distance) & arch.addresses();
        return Some(JumpTable { at, base });
    }
    (distance == 0).then_some(JumpTable { at: base, base })
}

/// Returns true if writing the register writes all of its bits.
fn is_wide(register: Register) -> bool {
    register.is_gpr64() || register.is_gpr32()
}

/// Applies the move of a constant to part of a register, used for numbers of system calls.
fn narrow_constant(instruction: &Instruction, state: &mut PathState) -> Option<bool> {
    let target = instruction.op0_register();
    let register = general_of(target, state.arch)?;
    let value = immediate(instruction, 1, state.arch)?.cast_unsigned();
    let value = match target {
        _ if target.is_gpr32() => value & 0xffff_ffff,
        Register::AL => state.get(register)?.as_constant()? & !0xff | value & 0xff,
        _ => return None,
    };
    state.set(register, Some(Sum::constant(value)));
    Some(true)
}

fn immediate(instruction: &Instruction, operand: u32, arch: Processor) -> Option<i64> {
    let value = instruction.try_immediate(operand).ok()?;
    Some(if arch.is(Arch::X86) { (value as i32).into() } else { value.cast_signed() })
}

/// Returns the value of a word-sized operand.
fn operand(
    instruction: &Instruction,
    index: u32,
    state: &PathState,
    words: &mut MemoryWords,
) -> SymbolicValue {
    match instruction.op_kind(index) {
        OpKind::Register => state.get(general(instruction.op_register(index), state.arch)?),
        OpKind::Memory if instruction.memory_size().size() as i64 == state.word() => {
            state.load(address(instruction, state), words)
        }
        OpKind::Memory => None,
        _ => immediate(instruction, index, state.arch)
            .map(|value| Sum::constant(value.cast_unsigned())),
    }
}

/// Returns the address of the memory operand.
fn address(instruction: &Instruction, state: &PathState) -> SymbolicValue {
    if instruction.is_ip_rel_memory_operand() {
        return Some(Sum::constant(instruction.ip_rel_memory_address()));
    }
    let is_plain = instruction.memory_index() == Register::None
        && matches!(
            instruction.segment_prefix(),
            Register::None | Register::SS | Register::DS | Register::CS | Register::ES
        );
    let added = displacement(instruction, state.arch);
    if is_plain && state.arch.is(Arch::X86) && instruction.memory_base() == Register::None {
        return Some(Sum::constant(instruction.memory_displacement64()));
    }
    let base = general(instruction.memory_base(), state.arch).filter(|_| is_plain)?;
    Some(state.get(base)?.plus(added))
}

/// Applies the write of an instruction to its first operand, if that is memory.
fn store_of(instruction: &Instruction, state: &mut PathState, value: SymbolicValue) -> bool {
    if instruction.op_count() == 0
        || instruction.op0_kind() != OpKind::Memory
        || matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Nop)
    {
        return true;
    }
    let size = instruction.memory_size().size();
    state.store(address(instruction, state), i64::try_from(size).unwrap_or(64), value)
}

/// Makes the registers that any other instruction writes unknown; the change of the stack pointer is known.
fn other_effect(
    instruction: &Instruction,
    state: &mut PathState,
    factory: &mut InstructionInfoFactory,
) {
    let sp = state.sp();
    let moved = i64::from(instruction.stack_pointer_increment());
    for used in factory.info(instruction).used_registers() {
        let is_written = matches!(
            used.access(),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        if let Some(register) = general_of(used.register(), state.arch).filter(|_| is_written) {
            state.set(register, None);
        }
    }
    if moved != 0 {
        state.set(state.arch.sp, sp.map(|sp| sp.plus(moved)));
    }
}
