//! Tables of Go functions: all functions share the longest list of values.

use synth::{GoFunctionSpec, GoTableBuilder, Section, Segment, elf_const};

use super::Input;
use super::program::{TEXT, TEXT_SIZE, elf, recording, stacks};

const TABLE: u64 = 0x20_0000;
const TREES: u64 = 0xe0_0000;
const MODULE: u64 = 0xf0_0000;

/// Returns 8,000 functions that share 400,000 steps of lines and frame sizes, one byte per step.
fn shared_values() -> Vec<u8> {
    const FUNCTIONS: u32 = 8000;
    const STEPS: usize = 400_000;
    // Offsets of frame sizes and lines in a record.
    const SIZES: usize = 16;
    const LINES: usize = 24;
    let mut builder = GoTableBuilder::new(TEXT, TEXT_SIZE as u32);
    for number in 0..FUNCTIONS {
        let steps = if number == 0 { STEPS } else { 1 };
        let values = vec![(1, 8); steps];
        builder = builder.function(GoFunctionSpec {
            name: format!("main.f{number}"),
            start: number * (TEXT_SIZE as u32 / FUNCTIONS),
            frame_sizes: values.clone(),
            lines: values,
            file: "/a.go".to_owned(),
            ..GoFunctionSpec::default()
        });
    }
    let mut built = builder.build(TABLE, TREES);
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a number")) as usize
    };
    let records = word(&built.table, 64);
    let first = records + word(&built.table, records + 4);
    for number in 0..FUNCTIONS as usize {
        let record = records + word(&built.table, records + 8 * number + 4);
        for field in [SIZES, LINES] {
            let shared: Vec<u8> = built.table[first + field..][..4].to_vec();
            built.table[record + field..][..4].copy_from_slice(&shared);
        }
    }
    let mut file = elf(vec![
        Section::loaded(".gopclntab", TABLE, built.table.clone()),
        Section::loaded(".rodata", TREES, built.trees.clone()),
        Section::loaded(".go.module", MODULE, built.module.clone()),
    ]);
    file.segments.push(Segment::load_rodata(TABLE, TABLE, built.table.len() as u64));
    let module = Segment::load_rodata(MODULE, MODULE, built.module.len() as u64);
    file.segments.push(Segment { flags: elf_const::PF_R | elf_const::PF_W, ..module });
    file.build()
}

#[test]
fn functions_that_share_a_long_list() {
    let addresses = (0..8000).map(|number| TEXT + number * (TEXT_SIZE / 8000) + 100);
    Input::program(recording(addresses), shared_values()).withstand("go-lines").expect_status(0);
}

#[test]
fn frames_whose_sizes_are_far_down_a_list() {
    Input::program(stacks(300, 500), shared_values()).withstand("go-frames").expect_status(0);
}
