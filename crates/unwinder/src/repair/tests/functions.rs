//! Evidence that asks a file: whether two addresses are in one function, and what a call can have called.

use std::sync::Arc;

use address::{Avma, FileOffset, Pid};
use host::MemoryHost;
use module_map::{FileIdentity, FileOptions, ImageStore, MapEvent, Timeline};
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, eh_frame_hdr,
};

use crate::repair::tests::notation::{FUNCTION, World, address, check_exact};

const TEXT: u64 = 0x1000;
const SIZE: u64 = 0x4000;
const HEADER: u64 = 0x5000;
const EH_FRAME: u64 = 0x6000;

/// The start of the function of a letter.
fn start(letter: char) -> u64 {
    (address(letter) - TEXT) / FUNCTION * FUNCTION + TEXT
}

/// A file with a function for each letter, and these calls: (the caller's letter, the code of its call).
fn world(calls: &[(char, Vec<u8>)]) -> World {
    let mut text = vec![0x90; SIZE as usize];
    for (letter, code) in calls {
        // The address of a frame is the last byte of its call.
        let end = (address(*letter) + 1 - TEXT) as usize;
        text[end - code.len()..end].copy_from_slice(code);
    }
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    for letter in 'A'..='Z' {
        let cie = cfi.cie(&Cie::x86_64());
        let instructions = CfiOps::new(Endian::Little).def_cfa_offset(16).into_bytes();
        cfi.fde(cie, &Fde { pc_begin: start(letter), pc_range: FUNCTION, lsda: 0, instructions });
    }
    let built = cfi.terminator().build();
    let header = eh_frame_hdr(Endian::Little, HEADER, EH_FRAME, &built.fdes);
    let elf = ElfBuilder {
        segments: vec![
            Segment::load_text(TEXT, TEXT, SIZE),
            Segment::load_rodata(HEADER, HEADER, SIZE),
        ],
        sections: vec![
            Section::text(TEXT, text),
            Section::loaded(".eh_frame", EH_FRAME, built.bytes),
            Section::loaded(".eh_frame_hdr", HEADER, header),
        ],
        ..ElfBuilder::x86_64()
    };
    let host = Arc::new(MemoryHost::new());
    host.insert("/bin/program", elf.build());
    let mut timeline = Timeline::new();
    timeline.map(&MapEvent {
        pid: Pid(7),
        kernel: false,
        start: Avma(TEXT),
        len: SIZE,
        offset: FileOffset(TEXT),
        executable: true,
        writable: false,
        path: b"/bin/program",
        identity: FileIdentity::default(),
    });
    let images = ImageStore::new(FileOptions { host, ..FileOptions::default() });
    let modules = timeline.modules().to_vec();
    images.image(&modules[0]).expect("the program");
    World::with_modules(images, modules)
}

/// The code of a call of the function of `callee` by that of `caller`.
fn direct(caller: char, callee: char) -> (char, Vec<u8>) {
    let offset = start(callee) as i64 - (address(caller) as i64 + 1);
    let code = [&[0xe8], &(offset as i32).to_le_bytes()[..]].concat();
    (caller, code)
}

/// `call *%rax`.
fn indirect(caller: char) -> (char, Vec<u8>) {
    (caller, vec![0xff, 0xd0])
}

/// `C` goes on to call from elsewhere.
const SAME_FUNCTION: &str = "
    D@10 C@20 B@30 ?
    D@10 c@20 B@30 ?
";

/// The frame of the function is in its place: that is weak evidence, and its trials are counted by themselves.
#[test]
fn another_place_of_the_same_function() {
    let recording = |rounds: &str, result: &str| {
        format!("{rounds} \n E@8 C@24 |30 {result} \n D@10 c@20 B@30 ? {rounds}")
    };
    let rounds = SAME_FUNCTION.repeat(2);
    world(&[]).check_with(&recording(&rounds, "=> B"), false);
    // Three trials, one of them across the sample.
    world(&[]).check_with(&recording("D@10 c@20 B@30 ?", ""), false);
    // Without the file they are different functions.
    check_exact(&recording(&rounds, ""));
}

/// `B` calls `C` and `F` at the same place.
const OTHER_FUNCTION: &str = "
    D@10 C@20 B@30 A@40 ?
    D@10 F@20 B@30 A@40 ?
";

#[track_caller]
fn check_call(calls: &[(char, Vec<u8>)], rounds: usize, result: &str) {
    let rounds = OTHER_FUNCTION.repeat(rounds);
    let recording = format!("{rounds} \n E@8 G@24 |30 {result} \n {rounds}");
    world(calls).check_with(&recording, false);
}

/// A pointer to a function can be one to any.
#[test]
fn an_indirect_call() {
    check_call(&[indirect('B')], 10, "=> B A");
    // Thirty-two trials of that place of the code are needed: these are 31.
    check_call(&[indirect('B')], 8, "");
}

/// The code says what it calls.
#[test]
fn a_direct_call() {
    check_call(&[direct('B', 'G')], 10, "=> B A");
    check_call(&[direct('B', 'C')], 10, "");
}

/// Before the return address is no call.
#[test]
fn no_call() {
    check_call(&[], 10, "");
}
