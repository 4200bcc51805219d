//! Control flow of x86 instructions, of 64 and 32 bits.
//!
//! Source: Intel SDM, volume 2, "CALL", "JMP", "Jcc", "RET", "HLT", "UD".

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::arch::flow::{Flow, FlowStep, SkippedRun, common};
use crate::arch::{Arch, Processor};

/// Consecutive instructions.
pub(super) struct X86Instructions<'a> {
    code: &'a [u8],
    /// Address of the code, and the offset of the next instruction in it.
    start: u64,
    next: usize,
    decoder: Decoder<'a>,
    instruction: Instruction,
    arch: Processor,
}

impl<'a> X86Instructions<'a> {
    pub(super) fn new(arch: Processor, code: &'a [u8], at: u64) -> Self {
        let decoder = Decoder::with_ip(arch.bitness(), code, at, DecoderOptions::NONE);
        Self { code, start: at, next: 0, decoder, instruction: Instruction::default(), arch }
    }

    /// Skips common instructions that stay in a range of code, or call code outside it.
    #[inline]
    pub(super) fn skip_within(&mut self, start: u64, end: u64) -> SkippedRun {
        let mut skipped = SkippedRun::default();
        while let Some(code) = self.rest() {
            let at = self.start.wrapping_add(self.next as u64);
            let mut len = common::plain(code);
            let mut continues = true;
            if len == 0 {
                let Some(step) = common::turn(code, at) else { break };
                let is_inside = |target| start <= target && target < end;
                continues = match step.flow {
                    Flow::Next => true,
                    Flow::Branch(target) if is_inside(target) => true,
                    Flow::Jump(target) if is_inside(target) => false,
                    Flow::Call(target) if !is_inside(target) => false,
                    Flow::Return | Flow::Stop => false,
                    _ => break,
                };
                len = step.next.wrapping_sub(at) as usize;
            }
            self.next += len;
            skipped.n_instructions += 1;
            skipped.continues_at = continues.then_some(at);
        }
        skipped
    }

    /// Returns the next bytes of code, if a common instruction can begin there.
    #[inline]
    fn rest(&self) -> Option<&'a [u8; common::LONGEST]> {
        self.code.get(self.next..)?.first_chunk().filter(|_| self.arch.is(Arch::X86_64))
    }

    /// Returns the next instruction; `None` at the end of the code.
    #[inline]
    pub(super) fn next(&mut self) -> Option<FlowStep> {
        if self.next >= self.code.len() {
            return None;
        }
        let at = self.start.wrapping_add(self.next as u64);
        let common = self.rest().and_then(|code| common(code, at));
        let step = match common {
            Some(step) => step,
            None => self.decode(at)?,
        };
        self.next += usize::try_from(step.next.wrapping_sub(at)).ok()?;
        Some(step)
    }

    /// Decodes an instruction of any kind.
    #[cold]
    fn decode(&mut self, at: u64) -> Option<FlowStep> {
        self.decoder.set_position(self.next).ok()?;
        self.decoder.set_ip(at);
        self.decoder.decode_out(&mut self.instruction);
        let flow = flow(&self.instruction, self.arch);
        Some(FlowStep { at, next: self.instruction.next_ip(), flow })
    }
}

/// Returns the instruction at the start of some code, if it is a common one.
#[inline]
fn common(code: &[u8; common::LONGEST], at: u64) -> Option<FlowStep> {
    match common::plain(code) {
        0 => common::turn(code, at),
        len => Some(FlowStep { at, next: at.wrapping_add(len as u64), flow: Flow::Next }),
    }
}

fn flow(instruction: &Instruction, arch: Processor) -> Flow {
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
        // The decoder classifies instructions that enter the kernel as calls.
        FlowControl::Call => Flow::Next,
        FlowControl::IndirectCall => {
            slot(instruction, arch).map_or(Flow::CallIndirect, Flow::CallSlot)
        }
        // A program continues after `int $0x80`, but not after `int3`.
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

/// Returns the address of the word that an indirect call or jump reads, if the instruction states it.
fn slot(instruction: &Instruction, arch: Processor) -> Option<u64> {
    if instruction.op0_kind() != OpKind::Memory || instruction.segment_prefix() != Register::None {
        return None;
    }
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    let has_register =
        instruction.memory_base() != Register::None || instruction.memory_index() != Register::None;
    let is_stated = arch.is(Arch::X86) && !has_register;
    is_stated.then(|| instruction.memory_displacement64() & arch.addresses())
}

#[cfg(test)]
mod tests {
    use image_store::Image;

    use super::*;
    use crate::arch::{X86_64, processor};

    fn flows(arch: Processor, code: &[u8]) -> Vec<(u64, Flow)> {
        let mut instructions = X86Instructions::new(arch, code, 0x1000);
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
        assert_eq!(flows(X86_64, &code.concat()), expected);
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
        assert_eq!(flows(processor(Arch::X86).unwrap(), &code.concat()), expected);
    }

    #[test]
    fn code_that_ends_inside_an_instruction_stops() {
        assert_eq!(flows(X86_64, &[0xe8, 0, 0]), [(0x1000, Flow::Stop)]);
        assert_eq!(flows(X86_64, &[]), []);
    }

    /// Returns the instruction at the start of some code according to the decoder.
    fn decoded(code: &[u8]) -> FlowStep {
        X86Instructions::new(X86_64, code, 0x1000).decode(0x1000).unwrap()
    }

    /// Every opcode after every prefix, with all `ModRM` bytes.
    #[test]
    fn common_instructions_are_those_of_the_decoder() {
        let prefixes: [&[u8]; 12] = [
            &[],
            &[0x66],
            &[0xf2],
            &[0xf3],
            &[0x2e],
            &[0x41],
            &[0x48],
            &[0x4d],
            &[0x66, 0x48],
            &[0x64, 0xf3],
            &[0x66, 0x66, 0x2e],
            &[0x48, 0x66],
        ];
        let (mut n_common, mut n_all) = (0, 0);
        for prefix in prefixes {
            for opcode in 0..512_usize {
                for modrm in 0..=u8::MAX {
                    let mut code = prefix.to_vec();
                    code.extend((opcode >= 256).then_some(0x0f));
                    code.extend([opcode as u8, modrm, modrm.rotate_left(3), 0x12, 0x34, 0x56]);
                    code.extend([0x81, 0xf2, 0x9a, 0xbc, 0xde, 0xff, 0x0f]);
                    code.resize(20, 0x90);
                    n_all += 1;
                    if let Some(step) = common(code.first_chunk().unwrap(), 0x1000) {
                        assert_eq!(step, decoded(&code), "{code:02x?}");
                        n_common += 1;
                    }
                }
            }
        }
        assert_eq!((n_all, n_common), (1_572_864, 443_883));
    }

    #[test]
    fn instructions_are_passed_that_stay_in_a_range() {
        let mut code = vec![0x90, 0x74, 0x00, 0xc3, 0x48, 0x89, 0xe5, 0x74, 0x7f];
        code.resize(40, 0x90);
        let mut instructions = X86Instructions::new(X86_64, &code, 0x1000);
        let skipped = instructions.skip_within(0x1000, 0x1028);
        assert_eq!(skipped, SkippedRun { n_instructions: 4, continues_at: Some(0x1004) });
        let jump = FlowStep { at: 0x1007, next: 0x1009, flow: Flow::Branch(0x1088) };
        assert_eq!(instructions.next(), Some(jump));
        // The last bytes are decoded one instruction at a time.
        let skipped = instructions.skip_within(0x1000, 0x1028);
        assert_eq!(skipped, SkippedRun { n_instructions: 16, continues_at: Some(0x1018) });
        assert_eq!(instructions.skip_within(0x1000, 0x1028), SkippedRun::default());
        assert_eq!(std::iter::from_fn(|| instructions.next()).count(), 15);
        let mut instructions = X86Instructions::new(X86_64, &code[..19], 0x1000);
        let skipped = instructions.skip_within(0x1000, 0x1028);
        assert_eq!(skipped, SkippedRun { n_instructions: 3, continues_at: None });
    }

    /// Decodes the code of this test binary.
    #[test]
    fn most_instructions_are_common() {
        let path = std::env::current_exe().unwrap();
        let image = Image::open(&host::RealHost, &path, host::Origin::User).unwrap();
        let code = image.section_data(image.section(".text").unwrap()).unwrap();
        let (mut n_common, mut n_all, mut at) = (0, 0, 0);
        while let Some(rest) = code.get(at..).and_then(|code| code.first_chunk()) {
            let step = decoded(rest);
            let common = common(rest, 0x1000);
            assert!(common.is_none_or(|common| common == step), "{:02x?}", &code[at..at + 16]);
            n_all += 1;
            n_common += usize::from(common.is_some());
            at += (step.next - 0x1000) as usize;
        }
        assert!(n_common * 100 >= n_all * 90, "{n_common} of {n_all}");
    }
}
