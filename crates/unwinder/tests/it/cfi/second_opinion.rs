//! Comparison with framehop's own unwinder on stacks that its registers suffice for: the return addresses must be
//! equal.

use framehop::aarch64::{CacheAarch64, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use synth::{CfiKind, UserRegs, aarch64_reg, x86_64_reg};
use unwinder::{Arch, FoundBy};

use crate::world::{BASE, EH_FRAME, IN_MAIN, Program, SP, TEST, ops, outer, outer_arm, stack};

fn module(program: &Program) -> Module<Vec<u8>> {
    let mut cfi = program.cfi(CfiKind::EhFrame, EH_FRAME);
    let bytes = cfi.terminator().build().bytes;
    let section = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: Some(0x1000..0x5000),
        text: Some(program.text.clone()),
        eh_frame_svma: Some(EH_FRAME..EH_FRAME + bytes.len() as u64),
        eh_frame: Some(bytes),
        ..ExplicitModuleSectionInfo::default()
    };
    Module::new("program".to_owned(), BASE..BASE + 0x9000, BASE, section)
}

/// Returns all frames as looked-up addresses, the sampled one first.
fn chain<U: Unwinder<Module = Module<Vec<u8>>>>(
    mut unwinder: U,
    mut cache: U::Cache,
    module: Module<Vec<u8>>,
    (pc, regs): (u64, U::UnwindRegs),
    stack: &[u8],
) -> Vec<u64> {
    unwinder.add_module(module);
    let mut read = |address: u64| {
        let at = usize::try_from(address.checked_sub(SP).ok_or(())?).map_err(|_| ())?;
        let bytes = stack.get(at..).and_then(<[u8]>::first_chunk::<8>).ok_or(())?;
        Ok(u64::from_le_bytes(*bytes))
    };
    let mut frames = unwinder.iter_frames(pc, regs, &mut cache, &mut read);
    let mut addresses = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        addresses.push(match frame {
            FrameAddress::InstructionPointer(address) => address,
            FrameAddress::ReturnAddress(address) => u64::from(address) - 1,
        });
    }
    addresses
}

fn ours(program: &Program, regs: &UserRegs, stack: &[u8]) -> Vec<u64> {
    let (frames, _) = program.load().walk(regs, stack);
    assert!(frames.iter().skip(1).all(|&(_, found_by)| found_by == FoundBy::Cfi));
    frames.into_iter().map(|(address, _)| address).collect()
}

#[test]
fn on_x86_64() {
    let rows = ops()
        .advance(1)
        .def_cfa_offset(16)
        .offset(6, 2)
        .advance(3)
        .def_cfa_register(6)
        .advance(0x40)
        .def_cfa(7, 8);
    let program = Program::new(Arch::X86_64, rows);
    for (at, words) in [(0_u64, 0), (1, 1), (3, 1), (4, 4), (0x43, 9), (0x44, 0)] {
        let mut stack = stack();
        stack.words(1, words).label("behind");
        outer(stack.word(IN_MAIN));
        let rbp = stack.address("behind") - 8;
        let bytes = stack.bytes();
        let regs = UserRegs::x86_64(TEST + at, SP).set(x86_64_reg::BP, rbp);
        let start = (TEST + at, UnwindRegsX86_64::new(TEST + at, SP, rbp));
        let theirs =
            chain(UnwinderX86_64::new(), CacheX86_64::new(), module(&program), start, &bytes);
        assert_eq!(theirs.len(), 3);
        assert_eq!(ours(&program, &regs, &bytes), theirs, "at {at:#x}");
    }
}

#[test]
fn on_aarch64() {
    let rows = ops()
        .advance(1)
        .def_cfa_offset(32)
        .offset(29, 4)
        .offset(30, 3)
        .advance(4)
        .def_cfa_register(29);
    let program = Program::new(Arch::Aarch64, rows);
    for (at, saved) in [(0_u64, false), (4, true), (16, true), (20, true), (0x40, true)] {
        let mut stack = stack();
        if saved {
            stack.word(SP + 0x100).word(IN_MAIN).words(1, 2);
        }
        outer_arm(&mut stack);
        let bytes = stack.bytes();
        let lr = if saved { 1 } else { IN_MAIN };
        let regs =
            UserRegs::aarch64(TEST + at, SP).set(aarch64_reg::FP, SP).set(aarch64_reg::LR, lr);
        let start = (TEST + at, UnwindRegsAarch64::new(lr, SP, SP));
        let theirs =
            chain(UnwinderAarch64::new(), CacheAarch64::new(), module(&program), start, &bytes);
        assert_eq!(theirs.len(), 3);
        assert_eq!(ours(&program, &regs, &bytes), theirs, "at {at:#x}");
    }
}
