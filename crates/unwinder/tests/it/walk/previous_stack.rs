//! Test of consecutive samples of one thread: cached data of the previous sample must not change the result.

use std::collections::BTreeMap;

use synth::{UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{BASE, FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, ops, usual};

/// Functions with frames that begin at the stack pointer or at rbp, with and without saved registers.
const FUNCTIONS: u64 = BASE + 0x2000;

fn program() -> Program {
    let rows = [
        ops().def_cfa_offset(0x20),
        ops().def_cfa_offset(0x20).offset(6, 2),
        ops().def_cfa(6, 16).offset(6, 2),
        ops().def_cfa_offset(0x30).offset(3, 3).offset(6, 2),
        ops().def_cfa(3, 8).offset(6, 2),
        ops().def_cfa_offset(8),
    ];
    let starts = (FUNCTIONS..).step_by(0x100);
    let empty = Program::empty(Arch::X86_64).root();
    starts.zip(rows).fold(empty, |program, (start, row)| program.function(start, 0x100, row))
}

/// Pseudo-random numbers (Knuth's linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }

    /// A word of a stack: usually a return address, else an address on the stack, or 0.
    fn word(&mut self) -> u64 {
        match self.below(16) {
            0..11 => FUNCTIONS + self.below(6) * 0x100 + 0x40 + self.below(3),
            11..14 => SP + 8 * self.below(WORDS),
            14 => IN_ROOT,
            _ => 0,
        }
    }
}

const WORDS: u64 = 96;

#[test]
fn known_frames_change_nothing() {
    let mut numbers = Numbers(1);
    let mut world = program().load();
    let (mut frames, mut ends) = (0, BTreeMap::<String, usize>::new());
    for _ in 0..300 {
        let mut words: Vec<u64> = (0..WORDS).map(|_| numbers.word()).collect();
        let samples: Vec<(UserRegs, Vec<u8>)> = (0..20)
            .map(|_| {
                for _ in 0..numbers.below(4) {
                    words[numbers.below(WORDS) as usize] = numbers.word();
                }
                // Calls and returns move the stack pointer; the recorded part may be shorter than before.
                let top = numbers.below(24) as usize;
                let len = words.len() - numbers.below(40) as usize;
                let bytes = words[top..len].iter().flat_map(|word| word.to_le_bytes()).collect();
                let regs = UserRegs::x86_64(numbers.word(), SP + 8 * top as u64)
                    .set(reg::BP, SP + 8 * numbers.below(WORDS))
                    .set(reg::BX, SP + 8 * numbers.below(WORDS));
                (regs, bytes)
            })
            .collect();
        let together = world.walk_all(&samples);
        for (sample, found) in samples.iter().zip(&together) {
            let alone = world.walk_all(std::slice::from_ref(sample));
            assert_eq!(alone[0], *found);
            frames += found.0.len();
            *ends.entry(found.1.to_string()).or_insert(0) += 1;
        }
    }
    // The samples cover long chains and all their possible ends.
    let expected = [
        (EndReason::AnonymousMemory, 918),
        (EndReason::MemoryNotRecorded, 63),
        (EndReason::OtherStack, 273),
        (EndReason::NoProgress, 862),
        (EndReason::NotMapped, 1842),
        (EndReason::Root, 1271),
        (EndReason::StackExhausted, 771),
    ];
    let expected = expected.map(|(end, n)| (end.to_string(), n));
    assert_eq!((frames, ends), (11_738, BTreeMap::from(expected)));
}

#[test]
fn a_frame_may_be_reached_in_another_way() {
    // The leaf of the last sample has no call frame information, so its caller was found by rbp.
    let main = ops().def_cfa_offset(0x20);
    let program = Program::with_main(Arch::X86_64, main, ops().def_cfa_offset(16))
        .code(IN_MAIN - 5, &[0xe8, 0, 0, 0, 0]);
    let words = [SP + 0x40, IN_MAIN, 0, 0, 0, IN_ROOT, 0, 0];
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let at = |pc: u64| UserRegs::x86_64(pc, SP).set(reg::BP, SP);
    let samples = [TEST, TEST, FREE].map(|pc| (at(pc), bytes.clone()));
    let found = program.load().walk_all(&samples);
    assert_eq!(found[0], (usual(TEST).to_vec(), EndReason::Root));
    let mut last = usual(FREE);
    last[1] = (IN_MAIN - 1, FoundBy::FramePointer);
    assert_eq!(found[2], (last.to_vec(), EndReason::Root));
    assert_eq!((&found[1], found[1].0[1]), (&found[0], (MAIN + 0xf, FoundBy::Cfi)));
}
