//! DWARF: line tables with entries of zero bytes, and functions that refer to each other in long chains.

use synth::{ByteWriter, Endian, Section};

use super::Input;
use super::program::{TEXT, TEXT_SIZE, elf, recording, spread};

fn bytes(parts: impl FnOnce(&mut ByteWriter)) -> Vec<u8> {
    let mut out = ByteWriter::new(Endian::Little);
    parts(&mut out);
    out.into_bytes()
}

fn section(name: &str, bytes: Vec<u8>) -> Section {
    Section::new(name, 1, bytes)
}

/// Returns a DWARF 4 unit that covers all of the code, with these entries.
///
/// Source: DWARF 4, 7.5.1.1.
fn unit(entries: &[u8]) -> Vec<u8> {
    bytes(|out| {
        let root = bytes(|out| {
            out.uleb(1).u32(0).u64(TEXT).u64(TEXT_SIZE);
        });
        out.u32((7 + root.len() + entries.len() + 1) as u32).u16(4).u32(0).u8(8);
        out.bytes(&root).bytes(entries).u8(0);
    })
}

/// The root has a line program and a range. A function has a range and refers to another, 4; a last one has a name, 3.
const ABBREVS: &[u8] = &[
    1, 0x11, 1, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, // compile unit
    2, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x47, 0x13, 0, 0, // function with a specification
    3, 0x2e, 0, 0x03, 0x08, 0, 0, // function with a name
    0,
];

/// 50,000 functions, each with a reference to the next one: names are looked up along the chain.
#[test]
fn functions_that_refer_to_the_next_one() {
    const FUNCTIONS: u64 = 50_000;
    const ENTRY: u64 = 1 + 8 + 8 + 4;
    const HEAD: u64 = 11 + 1 + 4 + 8 + 8;
    let entries = bytes(|out| {
        for number in 0..FUNCTIONS {
            let next = HEAD + (number + 1) * ENTRY;
            out.uleb(2).u64(TEXT + number * 16).u64(16).u32(next as u32);
        }
        out.uleb(3).bytes(b"f\0");
    });
    let file = elf(vec![
        section(".debug_info", unit(&entries)),
        section(".debug_abbrev", ABBREVS.to_vec()),
        section(".debug_line", Vec::new()),
    ]);
    let addresses = (0..FUNCTIONS).map(|number| TEXT + number * 16);
    Input::program(recording(addresses), file.build()).withstand("specifications").expect_status(1);
}

/// Returns the head of a DWARF 5 line table with entries without fields: any number of them takes no bytes.
///
/// Source: DWARF 5, 6.2.4.
fn line_table(formats: &[u8], count: u64, after: &[u8]) -> Vec<u8> {
    let rest = bytes(|out| {
        out.u8(1).u8(1).u8(1).u8(0xfb).u8(14).u8(13);
        out.bytes(&[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
        for _ in 0..2 {
            out.u8((formats.len() / 2) as u8).bytes(formats).uleb(count);
        }
    });
    bytes(|out| {
        out.u32((2 + 2 + 4 + rest.len() + after.len()) as u32).u16(5).u8(8).u8(0);
        out.u32(rest.len() as u32).bytes(&rest).bytes(after);
    })
}

#[test]
fn lists_of_files_that_take_no_bytes() {
    // No fields at all; a path that is a flag, which takes no bytes.
    for (name, formats) in [("no-fields", &[][..]), ("flags", &[1, 0x19][..])] {
        let program = bytes(|out| {
            out.bytes(&[0, 9, 2]).u64(TEXT);
            out.bytes(&[0x20; 1000]).bytes(&[0, 1, 1]);
        });
        let file = elf(vec![
            section(".debug_info", unit(&[])),
            section(".debug_abbrev", ABBREVS.to_vec()),
            section(".debug_line", line_table(formats, 1 << 40, &program)),
        ]);
        Input::program(recording(spread(1000)), file.build()).withstand(name).expect_status(1);
    }
}
