//! Seeds of the targets that read ELF files: from the small files of the crates' tests.

use std::fs;
use std::path::Path;

use image_store::Image;
use synth::{CfiBuilder, CfiKind, CfiOps, Cie, DwarfExpr, Endian, Fde, eh_frame_hdr, stored_zip};

use crate::write;

/// Files that are seeds without changes.
const FILES: [&str; 14] = [
    "image-store/testdata/layouts/lld-pie",
    "image-store/testdata/layouts/lld-nopie",
    "image-store/testdata/layouts/mold-pie",
    "image-store/testdata/layouts/bfd-noseparate",
    "image-store/testdata/kernel/kmod.ko",
    "image-store/testdata/kernel/kmod.ko.gz",
    "image-store/testdata/kernel/kmod.ko.xz",
    "image-store/testdata/kernel/kmod.ko.zst",
    "symbolizer/testdata/gcc-zlib",
    "symbolizer/testdata/stubs-aarch64.so",
    "symbolizer/testdata/rust",
    "symbolizer/testdata/split5.dwo",
    "unwind-perf/testdata/debug/v5/mini/program",
    "unwind-perf/testdata/debug/v5/zstd/program",
];
/// Programs and the files that belong to them, with their numbers in inputs of `dwarf`.
const PROGRAMS: [(&str, &[(u8, &str)]); 11] = [
    ("gcc-dwarf3", &[]),
    ("gcc-dwarf4", &[]),
    ("gcc-dwarf5", &[]),
    ("clang-dwarf4", &[]),
    ("clang-dwarf5", &[]),
    ("cpp-gcc", &[]),
    ("rust", &[]),
    ("gcc-stripped", &[(1, "gcc-dwarf5.debug")]),
    ("dwz-a", &[(2, "dwz-alt")]),
    ("split4", &[(3, "split4.dwo")]),
    ("clang-split5", &[(3, "clang-split5.dwp")]),
];
/// Sections of an input of `dwarf` by number.
const SECTIONS: [&str; 16] = [
    "info",
    "abbrev",
    "line",
    "str",
    "line_str",
    "ranges",
    "rnglists",
    "addr",
    "str_offsets",
    "aranges",
    "loclists",
    "loc",
    "types",
    "cu_index",
    "tu_index",
    "sup",
];

pub fn write_all() {
    for file in FILES {
        let name = file.trim_end_matches("/program").rsplit('/').next().expect("a name");
        write("elf", name, &[&[0; 4], &*read(file)].concat());
    }
    let (archive, offset) = stored_zip(b"lib/a.so", &read(FILES[0]));
    write("elf", "in-archive", &[&(offset as u32).to_le_bytes(), &*archive].concat());
    for (program, others) in PROGRAMS {
        let input = debug_info(program, others);
        write("dwarf", program, &input);
        if others.is_empty() {
            // The sections are the same; a word for registers and memory is before them instead of a distance.
            let (address, rest) = input.split_at(8);
            let word = 0x7ffd_0000_1038_u64.to_le_bytes();
            write("values", program, &[address, &word, &rest[1..]].concat());
        }
    }
    for program in ["gcc-dwarf5", "clang-dwarf4"] {
        write("cfi", program, &program_frames(program));
    }
    write("cfi", "expressions", &expressions());
}

fn read(file: &str) -> Vec<u8> {
    fs::read(Path::new("../crates").join(file)).expect("a file of the tests")
}

fn image(file: &str) -> Image {
    Image::from_vec(Path::new(file), read(&format!("symbolizer/testdata/{file}"))).expect("ELF")
}

fn content(image: &Image, section: &str) -> Vec<u8> {
    let data = image.section(section).map(|section| image.section_data(section).expect("sound"));
    data.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

fn debug_info(program: &str, others: &[(u8, &str)]) -> Vec<u8> {
    let main = image(program);
    let text = main.section(".text").expect("code");
    let mut input = text.svma.0.to_le_bytes().to_vec();
    input.push(4);
    for (number, image) in
        [(0, main.clone())].into_iter().chain(others.iter().map(|&(n, file)| (n, image(file))))
    {
        for (index, name) in SECTIONS.iter().enumerate() {
            for suffix in ["", ".dwo"] {
                let bytes = content(&image, &format!(".debug_{name}{suffix}"));
                if !bytes.is_empty() {
                    input.push(number << 4 | index as u8);
                    input.extend((bytes.len() as u16).to_le_bytes());
                    input.extend(bytes);
                }
            }
        }
    }
    input
}

/// Returns an input with the code of a program and its `.debug_frame`, with relocated addresses.
fn program_frames(program: &str) -> Vec<u8> {
    let image = image(program);
    let text = image.section(".text").expect("code").svma.0;
    let mut frames = content(&image, ".debug_frame");
    for at in 0..frames.len().saturating_sub(8) {
        let word = frames[at..at + 8].first_chunk().map(|word| u64::from_le_bytes(*word));
        if let Some(word) = word.filter(|word| (text..text + 0x1000).contains(word)) {
            frames[at..at + 8].copy_from_slice(&(word - text + 0x1000).to_le_bytes());
        }
    }
    cfi_input(&[&[], &[], &frames, &content(&image, ".text")])
}

/// Returns `.eh_frame`, `.eh_frame_hdr`, `.debug_frame` and the code, with a stack of return addresses into it.
fn cfi_input(parts: &[&[u8]; 4]) -> Vec<u8> {
    let stack: Vec<u8> =
        (0..48_u64).flat_map(|at| (0x40_1000 + at % 6 * 24 + 1).to_le_bytes()).collect();
    let mut input = vec![0];
    for part in parts.iter().chain([&&*stack]) {
        input.extend((part.len() as u16).to_le_bytes());
    }
    parts.iter().for_each(|part| input.extend(*part));
    input.extend(stack);
    for register in 0..17_u64 {
        // The frame pointer and the stack pointer are 6 and 7.
        let value = if register == 6 { 0x7ffd_0040 } else { 0x7ffd_0000 + (register ^ 7) * 8 };
        input.extend(value.to_le_bytes());
    }
    input
}

/// Returns rules of all kinds: expressions, other registers, a remembered state, a signal frame, a version 4 CIE.
fn expressions() -> Vec<u8> {
    let ops = || CfiOps::new(Endian::Little);
    let expression = || DwarfExpr::new(Endian::Little);
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0x1_0000);
    let plain = cfi.cie(&Cie::x86_64());
    let signal = cfi.cie(&Cie { augmentation: "zRS".to_owned(), ..Cie::x86_64() });
    let cfa = expression().breg(7, 16).deref().lit(8).plus();
    let rules = [
        ops().def_cfa_offset(16).offset(6, 2).advance(4).remember_state().def_cfa_register(6),
        ops().def_cfa_expression(&DwarfExpr::plt_x86_64(11)),
        ops().def_cfa_expression(&cfa).expression(6, &expression().breg(7, 8)),
        ops().val_expression(16, &expression().constu(0x40_1030)).val_offset(3, 2).same_value(12),
        ops().register(16, 3).undefined(15).gnu_args_size(16).offset_sf(14, -3),
        ops().undefined(16),
    ];
    for (index, rule) in (0_u64..).zip(rules) {
        let cie = if index == 3 { signal } else { plain };
        let (pc_begin, instructions) = (0x1000 + index * 24, rule.into_bytes());
        cfi.fde(cie, &Fde { pc_begin, pc_range: 24, lsda: 0, instructions });
    }
    let eh_frame = cfi.terminator().build();
    let hdr = eh_frame_hdr(Endian::Little, 0x2_0000, 0x1_0000, &eh_frame.fdes);
    let mut other = CfiBuilder::new(CfiKind::DebugFrame, Endian::Little, 0);
    let cie = other.cie(&Cie { version: 4, augmentation: String::new(), ..Cie::x86_64() });
    let instructions = ops().advance(2).def_cfa_offset(24).restore(6).into_bytes();
    other.fde(cie, &Fde { pc_begin: 0x1090, pc_range: 24, lsda: 0, instructions });
    // A call before each return address of the stack, otherwise `nop`.
    let code: Vec<u8> = (0..168).map(|at| if (at + 4) % 24 == 0 { 0xe8 } else { 0x90 }).collect();
    cfi_input(&[&eh_frame.bytes, &hdr, &other.build().bytes, &code])
}
