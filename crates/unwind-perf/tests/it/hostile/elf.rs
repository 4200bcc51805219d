//! Headers of ELF files: segments of notes and sections that share their bytes, relocations of kernel modules, code
//! with overlapping call frame information.

use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, SymbolSection,
    eh_frame_hdr, elf_const,
};

use super::Input;
use super::program::{
    START, TEXT, TEXT_SIZE, chains, elf, map, recorder, recording, spread, stacks, touch,
};

/// Size of a section header, in bytes.
const HEADER: usize = 64;

/// 5,000 segments of notes over the same megabyte of empty ones.
#[test]
fn segments_that_share_their_notes() {
    let mut file = elf(Vec::new());
    let note =
        Segment { p_type: elf_const::PT_NOTE, ..Segment::load_rodata(TEXT, TEXT, TEXT_SIZE) };
    file.segments.extend(vec![note; 5000]);
    file.sections[0].bytes.fill(0);
    Input::program(recording(spread(100)), file.build()).withstand("notes").expect_status(0);
}

/// 50,000 sections, all of them named by the same 100,000 bytes.
#[test]
fn sections_that_share_a_long_name() {
    const SECTIONS: usize = 50_000;
    let name = Section::new(&"n".repeat(100_000), 1, Vec::new());
    let other = Section::new("x", 1, Vec::new());
    let sections = std::iter::once(name).chain(vec![other; SECTIONS]).collect();
    let mut bytes = elf(sections).build();
    let table = u64::from_le_bytes(bytes[40..48].try_into().expect("a word")) as usize;
    // The third header is that of the long name.
    let long: [u8; 4] = bytes[table + 2 * HEADER..][..4].try_into().expect("a number");
    for section in 3..3 + SECTIONS {
        bytes[table + section * HEADER..][..4].copy_from_slice(&long);
    }
    Input::program(recording(spread(100)), bytes).withstand("section-names").expect_status(1);
}

/// Sections of a kernel module aligned to multiples of 2^30, with relocations that move all their words.
#[test]
fn sections_of_a_module_that_are_aligned_far_apart() {
    const SECTIONS: usize = 20_000;
    let code = |number: usize| {
        let flags = elf_const::SHF_ALLOC | elf_const::SHF_EXECINSTR;
        Section { flags, ..Section::new(&format!(".text.{number}"), 1, vec![0x90; 16]) }
    };
    let symbol = |number: usize| synth::Symbol {
        section: SymbolSection::Section(format!(".text.{number}")),
        ..synth::Symbol::function("f", 0, 16)
    };
    let module = ElfBuilder {
        e_type: 1,
        sections: (0..SECTIONS).map(code).collect(),
        symbols: (0..2000).map(symbol).collect(),
        ..ElfBuilder::x86_64()
    };
    let mut module = module.build();
    let table = u64::from_le_bytes(module[40..48].try_into().expect("a word")) as usize;
    for section in 1..=SECTIONS {
        module[table + section * HEADER + 48..][..8]
            .copy_from_slice(&(1_u64 << (section % 62)).to_le_bytes());
    }
    let mut data = recorder(chains());
    let addr = 0xffff_ffff_c000_0000;
    let map =
        synth::Record::Mmap { pid: u32::MAX, tid: 0, addr, len: 0x10_0000, pgoff: 0, name: b"[m]" };
    data.record_with(&map, 1, synth::SampleId::default());
    let callchain: Vec<u64> =
        std::iter::once(u64::MAX - 127).chain((0..5000).map(|at| addr + at * 16)).collect();
    let sample = synth::SampleBuilder { misc: 1, ..synth::SampleBuilder::at(addr, 1, 1, 2) };
    data.sample(&synth::SampleBuilder { callchain, ..sample });
    let mut input = Input::folded(data.build()).file("m.ko", module);
    input.arguments.extend(["--module".to_owned(), "[m]=m.ko".to_owned()]);
    input.withstand("module-alignment").expect_status(0);
}

/// 60,000 descriptions that start one after another, and all end at the end of the code; each pushes the state
/// repeatedly.
#[test]
fn descriptions_inside_each_other() {
    let (address, hdr) = (0x20_0000, 0x80_0000);
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, address);
    let cie = cfi.cie(&Cie::x86_64());
    for number in 0..60_000 {
        let pc_begin = TEXT + number * 16;
        let pc_range = TEXT + TEXT_SIZE - pc_begin;
        let ops = CfiOps::new(Endian::Little).raw(&[0x0a; 16]).def_cfa_offset(16);
        cfi.fde(cie, &Fde { pc_begin, pc_range, lsda: 0, instructions: ops.into_bytes() });
    }
    let built = cfi.terminator().build();
    let header = eh_frame_hdr(Endian::Little, hdr, address, &built.fdes);
    let mut file = elf(vec![
        Section::loaded(".eh_frame", address, built.bytes.clone()),
        Section::loaded(".eh_frame_hdr", hdr, header.clone()),
    ]);
    file.segments.push(Segment::load_rodata(address, address, built.bytes.len() as u64));
    file.segments.push(Segment::load_rodata(hdr, hdr, header.len() as u64));
    Input::program(stacks(300, 500), file.build())
        .withstand("nested-descriptions")
        .expect_status(0);
}

/// 65,000 mappings of a file with 20,000 segments that could all match.
#[test]
fn segments_for_every_mapping() {
    let mut file = elf(Vec::new());
    let more = (0..20_000)
        .map(|number| Segment::load_text(TEXT, 0x1_0000_0000 + number * 0x20_0000, TEXT_SIZE));
    file.segments.extend(more);
    let mut data = recorder(chains());
    for number in 0..20_000 {
        map(&mut data, START + number * 0x2000, 0x1000, TEXT, b"/opt/a");
    }
    let addresses: Vec<u64> = (0..20_000).map(|number| START + number * 0x2000 + 8).collect();
    touch(&mut data, &addresses);
    Input::program(data.build(), file.build()).withstand("segments-mappings").expect_status(1);
}
