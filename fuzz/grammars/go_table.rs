//! The function table of a Go program and the description of its module, written by `synth` and then damaged: names and
//! lines for addresses, and walks by its frame sizes.
//!
//! ```text
//!   1 byte     bits 0 and 1: the version; bit 2: the head does not state where the code is; bit 3: the table is among
//!              data that is relocated; bit 4: segments that share their bytes; bit 5: aarch64
//!   1 byte     how many times the functions are repeated
//!   1 byte     how many functions; then each (see `function`)
//!   the rest   damage: a byte for the part, two for the offset, the byte there (see `damage`)
//! ```
#![no_main]

#[path = "../fuzz_targets/cost.rs"]
mod cost;
#[path = "../fuzz_targets/input.rs"]
mod input;
#[path = "../fuzz_targets/walk.rs"]
mod walk;

use std::path::Path;

use address::{Pid, Svma};
use host::MemoryHost;
use image_store::Image;
use input::Input;
use libfuzzer_sys::fuzz_target;
use module_map::Timeline;
use profile::Strings;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};
use synth::{
    ElfBuilder, GoFunctionSpec, GoTableBuilder, GoTableBytes, Section, Segment, elf_const,
};
use unwinder::Arch;

const TEXT: u64 = 0x1000;
const TEXT_SIZE: u32 = 0x4000;
/// Addresses of the parts, each with enough space for the largest input.
const TABLE: u64 = 0x10_0000;
const TREES: u64 = 0x40_0000;
const MODULE: u64 = 0x50_0000;
const MODULE_SIZE: u64 = 0x1000;
/// Code that returns soon: other targets try paths through code.
const CODE: [u8; 16] = [
    0x90, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0xc3,
];
/// Distance of mappings from the stated addresses.
const BIAS: u64 = 0x4000_0000;
const MAGICS: [u32; 4] = [0xffff_fffa, 0xffff_fff0, 0xffff_fff1, 0xffff_fff1];
/// Limits: segments that share their bytes, functions, and items of each of their lists.
const MOST_SEGMENTS: usize = 3000;
const MOST_FUNCTIONS: u64 = 64;
const MOST_ITEMS: u64 = 40;
/// Maximum number of functions with repetitions.
const MOST_REPEATED: usize = 2000;
const ADDRESSES: u64 = 64;
const WALKS: u64 = 12;

/// Returns pieces of code with a value each: mostly small ones, as in compiler output.
fn pieces(input: &mut Input<'_>) -> Vec<(u32, i32)> {
    let items = input.number(1);
    let size = |input: &mut Input<'_>| match input.number(1) {
        byte @ 0..0xf0 => byte as u32,
        _ => input.number(4) as u32,
    };
    (0..items % MOST_ITEMS).map(|_| (size(input), size(input).cast_signed())).collect()
}

fn text(input: &mut Input<'_>) -> String {
    let kind = input.number(1);
    let len = input.number(1) as usize;
    match kind {
        0..0xe0 => String::from_utf8_lossy(input.bytes(len % 24)).replace('\0', "."),
        _ => ["main.", "go.shape.[", "/a/b.go:", "[...]."][kind as usize % 4].repeat(len * 8),
    }
}

fn function(input: &mut Input<'_>) -> GoFunctionSpec {
    let calls = input.number(1) % MOST_ITEMS;
    GoFunctionSpec {
        name: text(input),
        start: input.number(2) as u32 % TEXT_SIZE,
        flags: input.number(1) as u8,
        frame_sizes: pieces(input),
        file: text(input),
        lines: pieces(input),
        inlined: pieces(input),
        calls: (0..calls).map(|_| (text(input), input.number(2) as u32)).collect(),
    }
}

/// Returns the bytes of the table, the trees and the description.
fn table(input: &mut Input<'_>, flags: u64) -> GoTableBytes {
    let repeated = 1 + input.number(1) as usize;
    let of_each = input.number(1) % MOST_FUNCTIONS;
    let functions: Vec<_> = (0..of_each).map(|_| function(input)).collect();
    let all = functions.iter().cycle().take((functions.len() * repeated).min(MOST_REPEATED));
    let mut builder = GoTableBuilder::new(TEXT, TEXT_SIZE);
    builder.magic = MAGICS[(flags & 3) as usize];
    if flags & 4 != 0 {
        builder.stated_text = 0;
    }
    builder.functions = all.cloned().collect();
    builder.functions.sort_by_key(|function| function.start);
    builder.build(TABLE, TREES)
}

/// Overwrites bytes of the parts, most of them in the heads and lists.
fn damage(input: &mut Input<'_>, bytes: &mut GoTableBytes) {
    while !input.0.is_empty() {
        let kind = input.number(1);
        let (at, byte) = (input.number(2) as usize, input.number(1) as u8);
        let part = match kind % 4 {
            0 | 1 => &mut bytes.table,
            2 => &mut bytes.trees,
            _ => &mut bytes.module,
        };
        let at = if kind & 8 != 0 { at % 128 } else { at };
        if let Some(place) = part.get_mut(at) {
            *place = byte;
        }
    }
}

fn writable(p_type: u32) -> Segment {
    let flags = elf_const::PF_R | elf_const::PF_W;
    Segment { flags, p_type, ..Segment::load_rodata(MODULE, MODULE, MODULE_SIZE) }
}

/// Returns the file, with a segment for each part. Its bytes are contiguous, so that it is small.
fn file(flags: u64, bytes: &GoTableBytes) -> Vec<u8> {
    let is_hidden = flags & 8 != 0;
    let mut parts = vec![
        (".text", TEXT, CODE.repeat(TEXT_SIZE as usize / CODE.len()), elf_const::PF_X),
        (if is_hidden { ".data.rel.ro" } else { ".gopclntab" }, TABLE, bytes.table.clone(), 0),
        (".rodata", TREES, bytes.trees.clone(), 0),
        (".go.module", MODULE, bytes.module.clone(), elf_const::PF_W),
    ];
    if is_hidden {
        parts.push((".go.buildinfo", MODULE + MODULE_SIZE, vec![0; 32], elf_const::PF_W));
    }
    let (mut segments, mut sections, mut offset) = (Vec::new(), Vec::new(), 0x4_0000);
    for (name, addr, content, right) in parts {
        let size = content.len() as u64;
        let segment = Segment::load_rodata(offset, addr, size);
        segments.push(Segment { flags: elf_const::PF_R | right, ..segment });
        let section = Section { offset: Some(offset), ..Section::loaded(name, addr, content) };
        sections.push(section);
        offset = (offset + size).next_multiple_of(0x1000) + addr % 0x1000;
    }
    if flags & 0x10 != 0 {
        let shared = segments[3];
        segments.splice(0..0, vec![shared; MOST_SEGMENTS]);
        segments.push(writable(elf_const::PT_LOAD));
    }
    let is_arm = flags & 0x20 != 0;
    let empty = if is_arm { ElfBuilder::aarch64() } else { ElfBuilder::x86_64() };
    ElfBuilder { segments, sections, e_entry: TEXT, ..empty }.build()
}

/// Resolves names and lines of addresses all over the code: the answers for some do not depend on the others.
fn name(image: &Image) {
    let addresses: Vec<Svma> =
        (0..ADDRESSES).map(|at| Svma(TEXT + at * u64::from(TEXT_SIZE) / ADDRESSES)).collect();
    let answers = |addresses: &[Svma]| {
        let mut strings = Strings::default();
        let request = SymbolRequest { source: SymbolSource::of(image), addresses };
        let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut strings);
        symbols.addresses[0].iter().map(|it| it.frames.len()).collect::<Vec<_>>()
    };
    let all = answers(&addresses);
    assert_eq!(all.len(), addresses.len());
    assert_eq!(all, answers(&addresses));
}

fn walk_through(image: Image, is_arm: bool) {
    let store = walk::store(MemoryHost::new());
    store.provide(b"/go", image);
    let mut timeline = Timeline::new();
    timeline.map(&walk::mapping(b"/go", BIAS + TEXT, u64::from(TEXT_SIZE), 0x4_0000));
    let (space, _) = timeline.space(Pid(1));
    walk::check_space(&space);
    let pcs = || (0..WALKS).map(|at| BIAS + TEXT + at * u64::from(TEXT_SIZE) / WALKS);
    let stack: Vec<u8> = pcs().cycle().take(64).flat_map(|pc| (pc + 3).to_le_bytes()).collect();
    let arch = if is_arm { Arch::Aarch64 } else { Arch::X86_64 };
    walk::walk_all(arch, &space, &store, &stack, &[0x7ffd_0000; 33], pcs());
}

/// Returns true if the file of an input is of aarch64, and its bytes.
fn make(bytes: &[u8]) -> (bool, Vec<u8>) {
    let mut input = Input(bytes);
    let flags = input.number(1);
    let mut table = table(&mut input, flags);
    damage(&mut input, &mut table);
    (flags & 0x20 != 0, file(flags, &table))
}

fn run(is_arm: bool, elf: Vec<u8>) -> u64 {
    let len = elf.len() as u64;
    let image = Image::from_vec(Path::new("/go"), elf).expect("an ELF file");
    name(&image);
    walk_through(image, is_arm);
    len
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded_of(bytes, || make(bytes), |(is_arm, elf)| run(is_arm, elf));
});
