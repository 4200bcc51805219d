//! What one instruction of x86-64 does to the state of a path, and where it goes on.
//!
//! Source: Intel SDM, volume 2; the decoder says what else an instruction writes.

use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use crate::code::value::{FP, State, Sum, Value, Words};

pub(super) const SP: u8 = 7;
const RAX: u8 = 0;
/// By the number in an instruction: the DWARF number.
const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// What a function that is called may change.
const CALLER_SAVED: [u8; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];

/// Where a path goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Next {
    /// Behind the instruction.
    On,
    /// Behind it, or there.
    Branch(u64),
    /// There.
    Jump(u64),
    /// Behind a call, if that returns.
    Call,
    /// In the caller.
    Return,
    /// In another function, for which the caller is the same; through the word at that address, where it is stated.
    TailCall(Option<u64>),
    /// Nowhere: the thread or the process ends.
    End,
    /// Nowhere: a trap.
    Stop,
    /// At one of several places: entries of the table at that address, each so many bytes from it.
    Switch(u64),
    /// In the code whose address a register has.
    Register,
    /// It is not known.
    #[default]
    Lost,
}

/// Runs one instruction.
pub(super) fn run(
    instruction: &Instruction,
    state: &mut State,
    words: &mut Words,
    factory: &mut InstructionInfoFactory,
) -> Next {
    match instruction.mnemonic() {
        Mnemonic::Hlt | Mnemonic::Ud2 | Mnemonic::Int3 | Mnemonic::INVALID => return Next::Stop,
        Mnemonic::Syscall => return system_call(state),
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::XbeginXabortXend => {}
        FlowControl::UnconditionalBranch => return Next::Jump(instruction.near_branch_target()),
        FlowControl::ConditionalBranch => return Next::Branch(instruction.near_branch_target()),
        FlowControl::IndirectBranch => return indirect_jump(instruction, state),
        FlowControl::Return => return Next::Return,
        FlowControl::Call | FlowControl::IndirectCall => {
            CALLER_SAVED.iter().for_each(|&register| state.set(register, None));
            return Next::Call;
        }
        FlowControl::Interrupt | FlowControl::Exception => return Next::Stop,
    }
    if known_effect(instruction, state, words).unwrap_or_else(|| {
        other_effect(instruction, state, factory);
        store_of(instruction, state, None)
    }) {
        Next::On
    } else {
        Next::Lost
    }
}

/// Source: `asm/unistd_64.h`: `exit` is 60, `exit_group` 231.
fn system_call(state: &mut State) -> Next {
    let number = state.get(RAX).and_then(Sum::as_constant);
    if matches!(number, Some(60 | 231)) {
        return Next::End;
    }
    for register in [RAX, 2, 11] {
        state.set(register, None);
    }
    Next::On
}

fn indirect_jump(instruction: &Instruction, state: &State) -> Next {
    if instruction.op0_kind() == OpKind::Register {
        let target = general(instruction.op0_register())
            .and_then(|register| state.get(register)?.as_constant());
        let table = || state.table().map_or(Next::Register, Next::Switch);
        return target.map_or_else(table, Next::Jump);
    }
    if instruction.op0_kind() != OpKind::Memory || instruction.memory_index() != Register::None {
        // The table of a switch.
        return Next::Lost;
    }
    let slot = instruction.is_ip_rel_memory_operand();
    Next::TailCall(slot.then(|| instruction.ip_rel_memory_address()))
}

/// The DWARF number of a general register that is named in its full width.
fn general(register: Register) -> Option<u8> {
    if !register.is_gpr64() {
        return None;
    }
    DWARF.get(register.number()).copied()
}

/// The effect of the instructions that move stack pointers and saved registers. `None` for all others; false where no more
/// can be followed.
fn known_effect(instruction: &Instruction, state: &mut State, words: &mut Words) -> Option<bool> {
    let target = general(instruction.op0_register());
    match instruction.mnemonic() {
        Mnemonic::Push => {
            let value = operand(instruction, 0, state, words);
            let sp = state.get(SP)?.plus(instruction.stack_pointer_increment().into());
            state.set(SP, Some(sp));
            Some(state.store(Some(sp), -i64::from(instruction.stack_pointer_increment()), value))
        }
        Mnemonic::Pop if target.is_some() => {
            let sp = state.get(SP)?;
            let value = state.load(Some(sp), words);
            state.set(SP, Some(sp.plus(8)));
            state.set(target?, value);
            Some(true)
        }
        Mnemonic::Leave if instruction.code() == Code::Leaveq => {
            let frame = state.get(FP);
            state.set(FP, state.load(frame, words));
            state.set(SP, frame.map(|frame| frame.plus(8)));
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
        Mnemonic::Movsxd if target.is_some() && instruction.memory_index_scale() == 4 => {
            // How compilers read the table of a switch: a distance from the table's start.
            let base = general(instruction.memory_base()).and_then(|base| state.get(base));
            let is_table = instruction.memory_displacement64() == 0;
            state.set_table(base.and_then(Sum::as_constant).filter(|_| is_table));
            state.set(target?, None);
            Some(true)
        }
        Mnemonic::Lea if target.is_some() => {
            state.set(target?, address(instruction, state));
            Some(true)
        }
        Mnemonic::Add | Mnemonic::Sub if target.is_some() => {
            let by = immediate(instruction, 1)?;
            let by = if instruction.mnemonic() == Mnemonic::Add { by } else { by.wrapping_neg() };
            state.set(target?, state.get(target?).map(|value| value.plus(by)));
            Some(true)
        }
        Mnemonic::Xor => {
            let (one, other) = (instruction.op0_register(), instruction.op1_register());
            let register = general(one.full_register()).filter(|_| one == other && is_wide(one))?;
            state.set(register, Some(Sum::constant(0)));
            Some(true)
        }
        _ => None,
    }
}

/// Whether writing the register writes all of the 64 bits.
fn is_wide(register: Register) -> bool {
    register.is_gpr64() || register.is_gpr32()
}

/// A constant that is moved to part of a register, as the numbers of system calls are.
fn narrow_constant(instruction: &Instruction, state: &mut State) -> Option<bool> {
    let target = instruction.op0_register();
    let register = general(target.full_register())?;
    let value = immediate(instruction, 1)?.cast_unsigned();
    let value = match target {
        _ if target.is_gpr32() => value & 0xffff_ffff,
        Register::AL => state.get(register)?.as_constant()? & !0xff | value & 0xff,
        _ => return None,
    };
    state.set(register, Some(Sum::constant(value)));
    Some(true)
}

fn immediate(instruction: &Instruction, operand: u32) -> Option<i64> {
    let value = instruction.try_immediate(operand).ok()?;
    Some(value.cast_signed())
}

/// The value of an operand of 64 bits.
fn operand(instruction: &Instruction, index: u32, state: &State, words: &mut Words) -> Value {
    match instruction.op_kind(index) {
        OpKind::Register => state.get(general(instruction.op_register(index))?),
        OpKind::Memory if instruction.memory_size().size() == 8 => {
            state.load(address(instruction, state), words)
        }
        OpKind::Memory => None,
        _ => immediate(instruction, index).map(|value| Sum::constant(value.cast_unsigned())),
    }
}

/// The address of the operand in memory.
fn address(instruction: &Instruction, state: &State) -> Value {
    if instruction.is_ip_rel_memory_operand() {
        return Some(Sum::constant(instruction.ip_rel_memory_address()));
    }
    let is_plain = instruction.memory_index() == Register::None
        && matches!(
            instruction.segment_prefix(),
            Register::None | Register::SS | Register::DS | Register::CS | Register::ES
        );
    let base = general(instruction.memory_base()).filter(|_| is_plain)?;
    Some(state.get(base)?.plus(instruction.memory_displacement64().cast_signed()))
}

/// What an instruction writes to its first operand, if that is memory.
fn store_of(instruction: &Instruction, state: &mut State, value: Value) -> bool {
    if instruction.op_count() == 0
        || instruction.op0_kind() != OpKind::Memory
        || matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Nop)
    {
        return true;
    }
    let size = instruction.memory_size().size();
    state.store(address(instruction, state), i64::try_from(size).unwrap_or(64), value)
}

/// The registers that any other instruction writes are not known behind it; how far it moves the stack pointer is.
fn other_effect(
    instruction: &Instruction,
    state: &mut State,
    factory: &mut InstructionInfoFactory,
) {
    let sp = state.get(SP);
    let moved = i64::from(instruction.stack_pointer_increment());
    for used in factory.info(instruction).used_registers() {
        let is_written = matches!(
            used.access(),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        if let Some(register) = general(used.register().full_register()).filter(|_| is_written) {
            state.set(register, None);
        }
    }
    if moved != 0 {
        state.set(SP, sp.map(|sp| sp.plus(moved)));
    }
}
