//! Tests of the sections and forms of call frame information, on x86-64.

use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, UserRegs, elf_const,
    gnu_build_id_note,
};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    BASE, EH_FRAME, Form, HEADER, IN_MAIN, Program, SP, TEST, World, ops, outer, stack, usual,
};

/// A program with `test`, which has a frame of one word.
fn program() -> Program {
    Program::new(Arch::X86_64, ops().def_cfa_offset(16))
}

/// Checks that the chain of [`program`] is correct, or that it ends at once for this reason.
fn check(world: &mut World, wrong: Option<EndReason>) {
    let mut stack = stack();
    outer(stack.word(1).word(IN_MAIN));
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST + 8, SP), &stack.bytes());
    match wrong {
        None => assert_eq!((frames, end), (usual(TEST + 8).to_vec(), EndReason::Root)),
        Some(reason) => assert_eq!((frames.len(), end), (1, reason)),
    }
}

/// The usual file with changed sections.
fn changed(program: &Program, change: impl Fn(&mut Section)) -> World {
    let mut elf = program.elf();
    elf.sections.iter_mut().for_each(change);
    World::new(Arch::X86_64, &elf.build())
}

/// A file with `.eh_frame` of these bytes and no header.
fn with_eh_frame(bytes: Vec<u8>) -> World {
    let mut program = Program::empty(Arch::X86_64);
    program.sections.push(Section::loaded(".eh_frame", EH_FRAME, bytes));
    program.load()
}

fn fde(start: u64, len: u64, ops: CfiOps) -> Fde {
    Fde { pc_begin: start - BASE, pc_range: len, lsda: 0, instructions: ops.into_bytes() }
}

#[test]
fn without_a_header() {
    let mut program = program();
    program.form = Form::NoHeader;
    check(&mut program.load(), None);
}

/// The program header also locates the sections of call frame information.
#[test]
fn without_section_headers() {
    let program = program();
    let mut elf = program.elf();
    elf.section_headers = false;
    let mut world = World::new(Arch::X86_64, &elf.build());
    check(&mut world, Some(EndReason::NoUnwindInfo));
    let header = elf.sections.iter().find(|section| section.name == ".eh_frame_hdr");
    let size = header.map_or(0, |section| section.bytes.len() as u64);
    elf.segments.push(synth::Segment {
        p_type: elf_const::PT_GNU_EH_FRAME,
        ..synth::Segment::load_rodata(HEADER, HEADER, size)
    });
    let mut world = World::new(Arch::X86_64, &elf.build());
    check(&mut world, None);
    let starts = |address: u64| {
        let module = world.timeline.modules().iter().next().expect("the program");
        let file = world.images.image(module).expect("it is there");
        let starts = unwinder::FunctionStarts::new(file.clone());
        starts.start_of(address::Svma(address - BASE), &world.images).map(|start| start.0 + BASE)
    };
    assert_eq!(
        [TEST + 8, IN_MAIN, crate::world::FREE].map(starts),
        [Some(TEST), Some(crate::world::MAIN), None]
    );
}

#[test]
fn headers_in_other_encodings_are_passed_over() {
    // Encoding of the pointer, of the count, of the table.
    for (at, byte) in [(1, 0xff), (1, 0x1c), (2, 0xff), (2, 0x0b), (3, 0xff), (3, 0x1b)] {
        let mut world = changed(&program(), |section| {
            if section.name == ".eh_frame_hdr" {
                section.bytes[at] = byte;
            }
        });
        check(&mut world, None);
    }
}

#[test]
fn a_header_whose_count_is_too_large_or_too_small() {
    for count in [u32::MAX, 1000, 0, 1] {
        let mut world = changed(&program(), |section| {
            if section.name == ".eh_frame_hdr" {
                section.bytes[8..12].copy_from_slice(&count.to_le_bytes());
            }
        });
        check(&mut world, None);
    }
}

#[test]
fn a_header_cut_short() {
    for len in [0, 3, 8, 11, 12, 20] {
        let mut world = changed(&program(), |section| {
            if section.name == ".eh_frame_hdr" {
                section.bytes.truncate(len);
            }
        });
        check(&mut world, None);
    }
}

#[test]
fn a_header_that_points_nowhere() {
    let mut world = changed(&program(), |section| {
        if section.name == ".eh_frame_hdr" {
            for pair in section.bytes[12..].chunks_mut(8) {
                pair[4..].copy_from_slice(&(EH_FRAME + 0x3000 - HEADER).to_le_bytes()[..4]);
            }
        }
    });
    check(&mut world, Some(EndReason::BadUnwindInfo));
}

#[test]
fn debug_frame_in_all_versions_and_both_lengths() {
    for version in [1, 3, 4] {
        for dwarf64 in [false, true] {
            let program = program();
            let mut cfi = CfiBuilder::new(CfiKind::DebugFrame, Endian::Little, 0);
            cfi.dwarf64 = dwarf64;
            for (start, len, cie, ops) in &program.functions {
                let cie = Cie { version, augmentation: String::new(), ..cie.clone() };
                let cie = cfi.cie(&cie);
                cfi.fde(cie, &fde(start + BASE, *len, ops.clone()));
            }
            let bytes = cfi.build().bytes;
            let mut file = Program::empty(Arch::X86_64);
            file.sections.push(Section::new(".debug_frame", elf_const::SHT_PROGBITS, bytes));
            check(&mut file.load(), None);
        }
    }
}

#[test]
fn debug_frame_beside_an_eh_frame_that_does_not_know_the_function() {
    let whole = program();
    let mut file = Program::empty(Arch::X86_64).root();
    let mut debug = CfiBuilder::new(CfiKind::DebugFrame, Endian::Little, 0);
    for (start, len, cie, ops) in whole.functions.iter().skip(1) {
        let cie = debug.cie(&Cie { augmentation: String::new(), ..cie.clone() });
        debug.fde(cie, &fde(start + BASE, *len, ops.clone()));
    }
    let bytes = debug.build().bytes;
    file.sections.push(Section::new(".debug_frame", elf_const::SHT_PROGBITS, bytes));
    check(&mut file.load(), None);
}

#[test]
fn debug_frame_in_the_debug_file() {
    const ID: [u8; 4] = [0xab, 0xcd, 0xef, 0x01];
    let note = || Section {
        sh_type: elf_const::SHT_NOTE,
        ..Section::loaded(".note.gnu.build-id", 0x7000, gnu_build_id_note(Endian::Little, &ID))
    };
    let program = program();
    let mut debug = CfiBuilder::new(CfiKind::DebugFrame, Endian::Little, 0);
    for (start, len, cie, ops) in &program.functions {
        let cie = debug.cie(&Cie { augmentation: String::new(), ..cie.clone() });
        debug.fde(cie, &fde(start + BASE, *len, ops.clone()));
    }
    let frames = Section::new(".debug_frame", elf_const::SHT_PROGBITS, debug.build().bytes);
    let mut file = Program::empty(Arch::X86_64);
    file.sections.push(note());
    let mut debug_file = file.elf();
    debug_file.sections.push(frames);

    let debug_files = [("/debug/.build-id/ab/cdef01.debug", debug_file.build())];
    let elf = file.elf().build();
    check(&mut World::with_debug_files(Arch::X86_64, &elf, &debug_files), None);
    check(&mut file.load(), Some(EndReason::NoUnwindInfo));
}

/// `.debug_frame` of these functions.
fn debug_frame(functions: &[(u64, u64, Cie, CfiOps)]) -> Section {
    let mut debug = CfiBuilder::new(CfiKind::DebugFrame, Endian::Little, 0);
    for (start, len, cie, ops) in functions {
        let cie = debug.cie(&Cie { augmentation: String::new(), ..cie.clone() });
        debug.fde(cie, &fde(start + BASE, *len, ops.clone()));
    }
    Section::new(".debug_frame", elf_const::SHT_PROGBITS, debug.build().bytes)
}

/// `.gnu_debugdata` with call frame information of these functions. It is not compressed; its first bytes show that.
fn mini_debug_info(functions: &[(u64, u64, Cie, CfiOps)]) -> Section {
    let mut elf = Program::empty(Arch::X86_64).elf();
    elf.sections.push(debug_frame(functions));
    Section::new(".gnu_debugdata", elf_const::SHT_PROGBITS, elf.build())
}

#[test]
fn debug_frame_in_the_mini_debug_info() {
    let program = program();
    let mut file = Program::empty(Arch::X86_64);
    file.sections.push(mini_debug_info(&program.functions));
    check(&mut file.load(), None);
    // The file's own section has precedence over contradicting mini debug info.
    let wrong: Vec<_> = program
        .functions
        .iter()
        .map(|(start, len, cie, _)| (*start, *len, cie.clone(), ops().def_cfa_offset(0x100)))
        .collect();
    let mut file = Program::empty(Arch::X86_64);
    file.sections.push(mini_debug_info(&wrong));
    file.sections.push(debug_frame(&program.functions));
    check(&mut file.load(), None);
}

#[test]
fn mini_debug_info_is_unpacked_only_for_what_nothing_else_describes() {
    let whole = program();
    for (missing, unpacked) in [(0, false), (1, true)] {
        let (inside, outside) = whole.functions.split_at(whole.functions.len() - missing);
        let mut file = Program::empty(Arch::X86_64);
        file.functions = inside.to_vec();
        file.sections.push(mini_debug_info(outside));
        let mut world = file.load();
        let before = world.images.held().left();
        check(&mut world, None);
        assert_eq!(world.images.held().left() < before, unpacked, "{missing}");
    }
}

#[test]
fn eh_frame_versions_lengths_and_address_encodings() {
    let encodings = [0x1b, 0x00, 0x03, 0x0b, 0x1c];
    for version in [1, 3] {
        for dwarf64 in [false, true] {
            for encoding in encodings {
                let cie = Cie { version, pointer_encoding: encoding, ..Cie::x86_64() };
                let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
                cfi.dwarf64 = dwarf64;
                for (start, len, _, ops) in program().functions {
                    let cie = cfi.cie(&cie);
                    cfi.fde(cie, &fde(start + BASE, len, ops));
                }
                check(&mut with_eh_frame(cfi.terminator().build().bytes), None);
            }
        }
    }
}

#[test]
fn entries_of_both_lengths_beside_each_other() {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    for (index, (start, len, cie, ops)) in program().functions.into_iter().enumerate() {
        cfi.dwarf64 = index % 2 == 1;
        let cie = cfi.cie(&cie);
        cfi.fde(cie, &fde(start + BASE, len, ops));
    }
    check(&mut with_eh_frame(cfi.build().bytes), None);
}

#[test]
fn a_terminator_in_the_middle() {
    // `ld -r` concatenates the sections of objects, terminators included.
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    for (start, len, cie, ops) in program().functions {
        let cie = cfi.cie(&cie);
        cfi.fde(cie, &fde(start + BASE, len, ops)).terminator();
    }
    check(&mut with_eh_frame(cfi.build().bytes), None);
}

#[test]
fn descriptions_of_nothing_are_passed_over() {
    // A function that the linker dropped: no bytes at the exact address of `test`; and one at address 0.
    for form in [Form::Header, Form::NoHeader] {
        let mut program = program()
            .function(TEST, 0, ops().def_cfa_offset(0x100))
            .function(TEST + 4, 0, ops().def_cfa_offset(0x100))
            .function(BASE, TEST, ops().def_cfa_offset(0x100));
        program.form = form;
        check(&mut program.load(), None);
    }
}

#[test]
fn of_overlapping_descriptions_the_one_that_begins_last_counts() {
    for form in [Form::Header, Form::NoHeader] {
        let mut program = program().function(TEST - 0x80, 0x200, ops().def_cfa_offset(0x100));
        program.form = form;
        check(&mut program.load(), None);
    }
}

#[test]
fn damaged_descriptions_are_distinguished_from_missing_ones() {
    let bad = Some(EndReason::BadUnwindInfo);
    // An opcode that does not exist; an operand that ends past the description.
    for rows in [ops().raw(&[0x3e]), ops().raw(&[0x0f, 0x7f])] {
        check(&mut Program::new(Arch::X86_64, rows).load(), bad);
    }
    // A description with another description as its CIE.
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    let cie = cfi.cie(&Cie::x86_64());
    cfi.fde(cie, &fde(TEST, 0x100, ops()));
    let mut built = cfi.build();
    let cie_id = (built.fdes[0].1 - EH_FRAME + 4) as usize;
    built.bytes[cie_id] = 4;
    let header = synth::eh_frame_hdr(Endian::Little, HEADER, EH_FRAME, &built.fdes);
    let mut program = Program::empty(Arch::X86_64);
    program.sections.push(Section::loaded(".eh_frame", EH_FRAME, built.bytes));
    program.sections.push(Section::loaded(".eh_frame_hdr", HEADER, header));
    check(&mut program.load(), bad);
}

#[test]
fn damage_in_the_middle_leaves_the_rest_usable() {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    for (start, len, cie, ops) in program().functions {
        // An entry of 12 bytes that is neither.
        cfi.raw(&12_u32.to_le_bytes()).raw(&[0x77; 12]);
        let cie = cfi.cie(&cie);
        cfi.fde(cie, &fde(start + BASE, len, ops));
    }
    check(&mut with_eh_frame(cfi.build().bytes), None);
}

#[test]
fn a_length_beyond_the_section_ends_it() {
    for length in [0x7000_0000_u32, 0xffff_fff0] {
        let mut cfi = program().cfi(CfiKind::EhFrame, EH_FRAME);
        cfi.raw(&length.to_le_bytes()).raw(&[1; 20]);
        check(&mut with_eh_frame(cfi.build().bytes), None);
    }
}

#[test]
fn text_at_another_address_than_its_offset() {
    // lld: p_vaddr = p_offset + 0x1000. The process maps the pages of the file.
    let usual = program().elf();
    let segments = usual.segments.iter().map(|s| synth::Segment { offset: s.offset - 0x800, ..*s });
    let elf = ElfBuilder { segments: segments.collect(), ..usual.clone() };
    let mut world = World::new(Arch::X86_64, &elf.build());
    // Mapped again, at the offsets that the headers state.
    let path = world.path().to_vec();
    world.map(BASE + 0x1000, 0x4000, 0x800, &path, [true, false]);
    world.map(BASE + 0x5000, 0x4000, 0x4800, &path, [false, false]);
    check(&mut world, None);
}

#[test]
fn sections_without_bytes() {
    let mut world = changed(&program(), |section| {
        if section.name.starts_with(".eh_frame") {
            section.bytes.clear();
        }
    });
    check(&mut world, Some(EndReason::NoUnwindInfo));
    let empty = Program::empty(Arch::X86_64);
    let frames = [(TEST, FoundBy::Sampled)];
    empty.check(&UserRegs::x86_64(TEST, SP), stack().words(1, 4), &frames, EndReason::NoUnwindInfo);
}
