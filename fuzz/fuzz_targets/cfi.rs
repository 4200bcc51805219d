//! Call frame information: rules for the addresses of a piece of code, and walks with any registers and stack.
//!
//! ```text
//!   1 byte    bit 0: aarch64
//!   5 x 2     lengths of .eh_frame, .eh_frame_hdr, .debug_frame, the code and the stack, which follow in that order
//!   the rest  registers of 8 bytes by their numbers in a recorder's mask
//! ```
#![no_main]

mod cost;
mod input;
mod walk;

use std::path::Path;

use address::Pid;
use host::MemoryHost;
use image_store::Image;
use input::Input;
use libfuzzer_sys::fuzz_target;
use module_map::Timeline;
use synth::{ElfBuilder, Section, Segment};
use unwinder::Arch;

/// Addresses of the sections; each has a page of code or up to 64 KiB.
const TEXT: u64 = 0x1000;
const EH_FRAME: u64 = 0x1_0000;
const EH_FRAME_HDR: u64 = 0x2_0000;
/// Distance of mappings from the stated addresses.
const BIAS: u64 = 0x40_0000;
/// Number of requested addresses.
const PCS: usize = 48;

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let is_aarch64 = input.number(1) & 1 != 0;
    let [eh_frame, hdr, debug_frame, code, stack] = [(); 5].map(|()| input.number(2) as usize);
    let [eh_frame, hdr, debug_frame] = [eh_frame, hdr, debug_frame].map(|len| input.bytes(len));
    let (code, stack) = (input.bytes(code.clamp(1, 0x1000)), input.bytes(stack));
    let registers: Vec<u64> = (0..33).map(|_| input.number(8)).collect();
    if code.is_empty() {
        return;
    }
    let len = code.len() as u64;
    let mut sections = vec![Section::text(TEXT, code.to_vec())];
    for (name, address, content) in
        [(".eh_frame", EH_FRAME, eh_frame), (".eh_frame_hdr", EH_FRAME_HDR, hdr)]
    {
        if !content.is_empty() {
            sections.push(Section::loaded(name, address, content.to_vec()));
        }
    }
    if !debug_frame.is_empty() {
        sections.push(Section::new(".debug_frame", 1, debug_frame.to_vec()));
    }
    let elf = ElfBuilder {
        segments: vec![
            Segment::load_text(0x1000, TEXT, len),
            Segment::load_rodata(0x2000, EH_FRAME, eh_frame.len() as u64),
        ],
        sections,
        ..if is_aarch64 { ElfBuilder::aarch64() } else { ElfBuilder::x86_64() }
    };
    let image = Image::from_vec(Path::new("/app"), elf.build()).expect("an ELF file");
    let store = walk::store(MemoryHost::new());
    store.provide(b"/app", image);
    let mut timeline = Timeline::new();
    timeline.map(&walk::mapping(b"/app", BIAS + TEXT, 0x1000, 0x1000));
    timeline.map(&walk::mapping(b"/app", BIAS + EH_FRAME, 0x1_0000, 0x2000));
    let (space, _) = timeline.space(Pid(1));
    walk::check_space(&space);
    let arch = if is_aarch64 { Arch::Aarch64 } else { Arch::X86_64 };
    let pcs = (0..len).step_by(code.len().div_ceil(PCS)).map(|at| BIAS + TEXT + at);
    walk::walk_all(arch, &space, &store, stack, &registers, pcs);
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
