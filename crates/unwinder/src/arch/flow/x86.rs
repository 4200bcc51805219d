//! The flow of control of x86 instructions, of 64 and 32 bits.
//!
//! Source: Intel SDM, volume 2, "CALL", "JMP", "Jcc", "RET", "HLT", "UD".

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::arch::Arch;
use crate::arch::flow::{Flow, Step};

/// Instructions one after another.
pub(super) struct Instructions<'a> {
    decoder: Decoder<'a>,
    instruction: Instruction,
    arch: Arch,
}

impl<'a> Instructions<'a> {
    pub(super) fn new(arch: Arch, code: &'a [u8], at: u64) -> Self {
        let decoder = Decoder::with_ip(arch.bitness(), code, at, DecoderOptions::NONE);
        Self { decoder, instruction: Instruction::default(), arch }
    }

    /// The next instruction; `None` at the end of the code.
    pub(super) fn next(&mut self) -> Option<Step> {
        if !self.decoder.can_decode() {
            return None;
        }
        let at = self.decoder.ip();
        self.decoder.decode_out(&mut self.instruction);
        let flow = flow(&self.instruction, self.arch);
        Some(Step { at, next: self.instruction.next_ip(), flow })
    }
}

fn flow(instruction: &Instruction, arch: Arch) -> Flow {
    if matches!(instruction.mnemonic(), Mnemonic::Hlt | Mnemonic::INVALID) {
        return Flow::Stop;
    }
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::XbeginXabortXend => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(instruction.near_branch_target()),
        FlowControl::ConditionalBranch => Flow::Branch(instruction.near_branch_target()),
        FlowControl::IndirectBranch => {
            slot(instruction, arch).map_or(Flow::JumpIndirect, Flow::JumpSlot)
        }
        FlowControl::Return => Flow::Return,
        FlowControl::Call if is_near(instruction) => Flow::Call(instruction.near_branch_target()),
        // Instructions that enter the kernel are calls to the decoder.
        FlowControl::Call => Flow::Next,
        FlowControl::IndirectCall => {
            slot(instruction, arch).map_or(Flow::CallIndirect, Flow::CallSlot)
        }
        // A program goes on after `int $0x80`, but not after `int3`.
        FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int => Flow::Next,
        FlowControl::Interrupt | FlowControl::Exception => Flow::Stop,
    }
}

fn is_near(instruction: &Instruction) -> bool {
    matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    )
}

/// The address of the word that an indirect call or jump reads, if the instruction states it.
fn slot(instruction: &Instruction, arch: Arch) -> Option<u64> {
    if instruction.op0_kind() != OpKind::Memory || instruction.segment_prefix() != Register::None {
        return None;
    }
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    let has_register =
        instruction.memory_base() != Register::None || instruction.memory_index() != Register::None;
    let is_stated = arch == Arch::X86 && !has_register;
    is_stated.then(|| instruction.memory_displacement64() & arch.addresses())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(arch: Arch, code: &[u8]) -> Vec<(u64, Flow)> {
        let mut instructions = Instructions::new(arch, code, 0x1000);
        std::iter::from_fn(|| instructions.next()).map(|step| (step.at, step.flow)).collect()
    }

    #[test]
    fn instructions_go_on_where_they_say() {
        let code = [
            &[0x90][..],                        // nop
            &[0x74, 0x02],                      // je
            &[0xe8, 0, 0, 0, 0],                // call
            &[0xff, 0x15, 1, 0, 0, 0],          // call *1(%rip)
            &[0xff, 0xd0],                      // call *%rax
            &[0x0f, 0x05],                      // syscall
            &[0xf3, 0x0f, 0x1e, 0xfa],          // endbr64
            &[0xff, 0x25, 2, 0, 0, 0],          // jmp *2(%rip)
            &[0xff, 0xe0],                      // jmp *%rax
            &[0x3e, 0xff, 0xe0],                // notrack jmp *%rax
            &[0xff, 0x24, 0xc5, 0, 0x20, 0, 0], // jmp *0x2000(,%rax,8)
            &[0xe9, 0xfb, 0xff, 0xff, 0xff],    // jmp
            &[0xc3],                            // ret
            &[0x0f, 0x0b],                      // ud2
            &[0xf4],                            // hlt
        ];
        let expected = [
            (0x1000, Flow::Next),
            (0x1001, Flow::Branch(0x1005)),
            (0x1003, Flow::Call(0x1008)),
            (0x1008, Flow::CallSlot(0x100f)),
            (0x100e, Flow::CallIndirect),
            (0x1010, Flow::Next),
            (0x1012, Flow::Next),
            (0x1016, Flow::JumpSlot(0x101e)),
            (0x101c, Flow::JumpIndirect),
            (0x101e, Flow::JumpIndirect),
            (0x1021, Flow::JumpIndirect),
            (0x1028, Flow::Jump(0x1028)),
            (0x102d, Flow::Return),
            (0x102e, Flow::Stop),
            (0x1030, Flow::Stop),
        ];
        assert_eq!(flows(Arch::X86_64, &code.concat()), expected);
    }

    #[test]
    fn code_of_32_bits_states_its_words() {
        let code = [
            &[0xff, 0x25, 0, 0x20, 0, 0][..],   // jmp *0x2000
            &[0xff, 0xa3, 4, 0, 0, 0],          // jmp *4(%ebx)
            &[0xcd, 0x80],                      // int $0x80
            &[0x65, 0xff, 0x15, 0x10, 0, 0, 0], // call *%gs:0x10
        ];
        let expected = [
            (0x1000, Flow::JumpSlot(0x2000)),
            (0x1006, Flow::JumpIndirect),
            (0x100c, Flow::Next),
            (0x100e, Flow::CallIndirect),
        ];
        assert_eq!(flows(Arch::X86, &code.concat()), expected);
    }

    #[test]
    fn code_that_ends_inside_an_instruction_stops() {
        assert_eq!(flows(Arch::X86_64, &[0xe8, 0, 0]), [(0x1000, Flow::Stop)]);
        assert_eq!(flows(Arch::X86_64, &[]), []);
    }
}
