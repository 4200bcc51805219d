//! Exact bytes of entries in both sections.

use super::*;

fn fde(pc_begin: u64, pc_range: u64, instructions: CfiOps) -> Fde {
    Fde { pc_begin, pc_range, lsda: 0, instructions: instructions.into_bytes() }
}

#[test]
fn eh_frame_cie_and_fde() {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0x2000);
    let cie = cfi.cie(&Cie::x86_64());
    let ops = CfiOps::new(Endian::Little).advance(1).def_cfa_offset(16).offset(6, 2);
    cfi.fde(cie, &fde(0x1000, 0x20, ops)).terminator();
    let section = cfi.build();
    assert_eq!(
        section.bytes,
        [
            0x14, 0, 0, 0, 0, 0, 0, 0, // length, id
            1, b'z', b'R', 0, 1, 0x78, 16, // version to return column
            1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0, // augmentation, instructions, padding
            0x14, 0, 0, 0, 0x1c, 0, 0, 0, // length, back to the CIE
            0xe0, 0xef, 0xff, 0xff, 0x20, 0, 0, 0, // 0x1000 - 0x2020, range
            0, 0x41, 0x0e, 16, 0x86, 2, 0, 0, // augmentation, instructions, padding
            0, 0, 0, 0,
        ]
    );
    assert_eq!(section.fdes, [(0x1000, 0x2018)]);
}

#[test]
fn all_augmentation_letters() {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0);
    let cie = cfi.cie(&Cie {
        augmentation: "zPLRS".to_owned(),
        personality: (eh_pe::UDATA4, 0x77),
        lsda_encoding: eh_pe::UDATA4,
        pointer_encoding: eh_pe::ABSPTR,
        instructions: Vec::new(),
        ..Cie::x86_64()
    });
    cfi.fde(cie, &Fde { pc_begin: 0x10, pc_range: 1, lsda: 0x99, instructions: Vec::new() });
    assert_eq!(
        cfi.build().bytes,
        [
            0x1c, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'P', b'L', b'R', b'S', 0, // head
            1, 0x78, 16, 7, 3, 0x77, 0, 0, 0, 3, 0, // factors, personality, LSDA, pointers
            0, 0, 0, 0, 0, 0, // padding
            0x1c, 0, 0, 0, 0x24, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
            0, //
            4, 0x99, 0, 0, 0, 0, 0, 0,
        ]
    );
}

#[test]
fn debug_frame_version_four_in_64_bit_form() {
    let mut cfi = CfiBuilder::new(CfiKind::DebugFrame, Endian::Big, 0);
    cfi.dwarf64 = true;
    let cie = cfi.cie(&Cie {
        version: 4,
        augmentation: String::new(),
        instructions: Vec::new(),
        ..Cie::x86_64()
    });
    cfi.fde(cie, &fde(0x1122, 3, CfiOps::new(Endian::Big).undefined(16)));
    assert_eq!(
        cfi.build().bytes,
        [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 20, // length
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // id
            4, 0, 8, 0, 1, 0x78, 16, 0, 0, 0, 0, 0, // version to return column, padding
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 28, // length
            0, 0, 0, 0, 0, 0, 0, 0, // offset of the CIE
            0, 0, 0, 0, 0, 0, 0x11, 0x22, 0, 0, 0, 0, 0, 0, 0, 3, 7, 16, 0, 0,
        ]
    );
}

#[test]
fn instructions() {
    let expression = DwarfExpr::new(Endian::Little).breg(6, -16);
    let ops = CfiOps::new(Endian::Little)
        .advance(0x40)
        .advance(0x100)
        .advance(0x1_0000)
        .def_cfa_register(6)
        .def_cfa_expression(&expression)
        .expression(3, &expression)
        .val_expression(7, &expression)
        .remember_state()
        .restore_state()
        .restore(6)
        .restore(70)
        .offset(70, 1)
        .offset_sf(6, -2)
        .val_offset(7, 0)
        .register(16, 2)
        .same_value(3)
        .negate_ra_state()
        .gnu_args_size(8);
    assert_eq!(
        ops.into_bytes(),
        [
            2, 0x40, 3, 0, 1, 4, 0, 0, 1, 0, // advances
            0x0d, 6, 0x0f, 2, 0x76, 0x70, 0x10, 3, 2, 0x76, 0x70, 0x16, 7, 2, 0x76, 0x70, //
            0x0a, 0x0b, 0xc6, 6, 70, 5, 70, 1, 0x11, 6, 0x7e, 0x14, 7, 0, 9, 16, 2, 8, 3, 0x2d,
            0x2e, 8,
        ]
    );
}

#[test]
fn header_table_is_sorted_and_relative_to_the_header() {
    let hdr = eh_frame_hdr(Endian::Little, 0x3000, 0x2000, &[(0x1800, 0x2040), (0x1000, 0x2018)]);
    assert_eq!(
        hdr,
        [
            1, 0x1b, 3, 0x3b, 0xfc, 0xef, 0xff, 0xff, 2, 0, 0, 0, //
            0, 0xe0, 0xff, 0xff, 0x18, 0xf0, 0xff, 0xff, //
            0, 0xe8, 0xff, 0xff, 0x40, 0xf0, 0xff, 0xff,
        ]
    );
}
