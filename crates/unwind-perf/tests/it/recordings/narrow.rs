//! 32-bit processes in recordings of x86-64 machines: their registers, their files, and their vdso without a file.

use std::fs;

use serde_json::Value;
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, SampleBuilder, Section, Segment,
    StackBuilder, Symbol, UserRegs, eh_frame_hdr, x86_64_reg as reg,
};

use crate::support::mapped::{Map, Recording, samples};
use crate::support::run::empty_folder;

const LE: Endian = Endian::Little;
/// Load address of the program, minus its stated address.
const LOAD: u64 = 0x5655_5000;
const VDSO: u64 = 0xf7f0_0000;
const SP: u32 = 0xffff_d000;
/// Return addresses: of `main` in `start`, of `work` and of the vdso in `main`.
const IN_START: u64 = LOAD + 0x1010;
const IN_MAIN: u64 = LOAD + 0x1110;
const BEHIND_VDSO: u64 = LOAD + 0x1130;

/// Returns a program with `start`, which has no caller; `main` with a frame of 0x20 bytes; `work` with a frame of 8
/// bytes.
fn program() -> Vec<u8> {
    let mut text = vec![0x90; 0x1000];
    let mut put = |returns_to: u64, call: &[u8]| {
        let end = (returns_to - LOAD - 0x1000) as usize;
        text[end - call.len()..end].copy_from_slice(call);
    };
    put(IN_START, &[0xe8, 0xf0, 0, 0, 0]);
    put(IN_MAIN, &[0xe8, 0xf0, 0, 0, 0]);
    put(BEHIND_VDSO, &[0x65, 0xff, 0x15, 0x10, 0, 0, 0]); // call *%gs:0x10
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, LE, 0x3000);
    let cie = cfi.cie(&Cie::x86());
    let ops = || CfiOps::new(LE);
    let rows = [ops().undefined(8), ops().def_cfa_offset(0x20), ops().def_cfa_offset(8)];
    for (rows, pc_begin) in rows.into_iter().zip([0x1000, 0x1100, 0x1200]) {
        let instructions = rows.into_bytes();
        cfi.fde(cie, &Fde { pc_begin, pc_range: 0x100, lsda: 0, instructions });
    }
    let built = cfi.terminator().build();
    let header = eh_frame_hdr(LE, 0x2000, 0x3000, &built.fdes);
    let names = ["start", "main", "work"].into_iter().zip([0x1000, 0x1100, 0x1200]);
    let elf = ElfBuilder {
        segments: vec![
            Segment::load_text(0x1000, 0x1000, 0x1000),
            Segment::load_rodata(0x2000, 0x2000, 0x2000),
        ],
        sections: vec![
            Section::text(0x1000, text),
            Section::loaded(".eh_frame", 0x3000, built.bytes),
            Section::loaded(".eh_frame_hdr", 0x2000, header),
        ],
        symbols: names.map(|(name, at)| Symbol::function(name, at, 0x100)).collect(),
        ..ElfBuilder::x86()
    };
    elf.build()
}

/// Returns the end reason and the frames (function or module, found-by) of one sample.
fn unwound(name: &str, regs: &UserRegs, stack: &StackBuilder) -> (String, Vec<(String, String)>) {
    let folder = empty_folder(name);
    fs::write(folder.join("program"), program()).expect("written");
    let mut recording = Recording::new();
    recording.map(1, Map::code(LOAD + 0x1000, 0x1000, 0x1000, "/program"));
    recording.map(1, Map::code(VDSO, 0x1000, 0, "[vdso]"));
    let time = recording.next();
    let pc = regs.values(1 << reg::IP)[0];
    let sample = SampleBuilder::at(pc, 1, 1, time)
        .with_regs_of_32_bits(&regs.usual_values())
        .with_stack(&stack.bytes());
    recording.data.sample(&sample);
    recording.write(&folder);
    let lines = samples(&folder, &["--sysroot", "."]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let frame = |frame: &Value| {
        let name =
            if frame["function"].is_string() { &frame["function"] } else { &frame["module"] };
        (text(name), text(&frame["found_by"]))
    };
    let frames = lines[0]["frames"].as_array().expect("frames");
    (text(&lines[0]["end"]), frames.iter().map(frame).collect())
}

fn found(end: &str, frames: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let own = |&(name, by): &(&str, &str)| (name.to_owned(), by.to_owned());
    (end.to_owned(), frames.iter().map(own).collect())
}

fn stack() -> StackBuilder {
    StackBuilder::new(SP.into(), LE, 4)
}

#[test]
fn a_chain_of_frames() {
    let mut stack = stack();
    stack.word(7).word(IN_MAIN).words(0, 7).word(IN_START);
    let regs = UserRegs::x86((LOAD + 0x1220) as u32, SP);
    let expected = found("root", &[("work", "sampled"), ("main", "cfi"), ("start", "cfi")]);
    assert_eq!(unwound("narrow-chain", &regs, &stack), expected);
}

/// The vdso's entry for system calls has pushed ecx, edx and ebp.
#[test]
fn a_system_call() {
    let mut stack = stack();
    stack.word(5).word(22).word(11).word(BEHIND_VDSO).words(0, 7).word(IN_START);
    let regs = UserRegs::x86((VDSO + 0x579) as u32, SP);
    let regs = regs.set(reg::CX, 11).set(reg::DX, 22).set(reg::BP, 5);
    let expected = found("root", &[("[vdso32]", "sampled"), ("main", "code"), ("start", "cfi")]);
    assert_eq!(unwound("narrow-call", &regs, &stack), expected);
}

/// In other functions of the vdso nothing is proven, so the chain ends.
#[test]
fn another_function_of_the_vdso() {
    let mut stack = stack();
    stack.word(5).word(22).word(11).word(IN_MAIN).words(0, 7).word(IN_START);
    let regs = UserRegs::x86((VDSO + 0x800) as u32, SP).set(reg::CX, 11).set(reg::DX, 22);
    let expected = found("no-module", &[("[vdso32]", "sampled")]);
    assert_eq!(unwound("narrow-other", &regs, &stack), expected);
}

/// A handler, `work`, returns to the vdso; above that return address the kernel has saved the registers of `main`.
#[test]
fn a_signal() {
    let pc = LOAD + 0x1140;
    for segment in [0x23, 0x33] {
        let mut stack = stack();
        stack.word(7).word(VDSO + 0x600).word(14);
        // Segments, edi, esi, ebp; esp; ebx to eax, the trap; eip, cs, flags, esp again, ss.
        stack.words(0x2b, 4).words(1, 3).word_of_label("main").words(2, 6).word(pc);
        stack.word(segment).word(0x202).word_of_label("main").word(0x2b).words(0, 9);
        stack.label("main").words(0, 7).word(IN_START);
        let regs = UserRegs::x86((LOAD + 0x1220) as u32, SP);
        let handler = [("work", "sampled"), ("[vdso32]", "cfi")];
        let interrupted = [("main", "cfi"), ("start", "cfi")];
        let expected = if segment == 0x23 {
            found("root", &[handler, interrupted].concat())
        } else {
            // No 32-bit code has that segment.
            found("no-module", &handler)
        };
        assert_eq!(unwound("narrow-signal", &regs, &stack), expected);
    }
}
