//! Evidence from files: whether two addresses are in one function, and the calls that start a stack.

use std::sync::Arc;

use address::{Avma, FileOffset, Pid};
use host::MemoryHost;
use image_store::{FileOptions, ImageStore};
use module_map::{FileIdentity, MapEvent, Timeline};
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, eh_frame_hdr,
};

use crate::join::tests::notation::{FUNCTION, World, address};

const TEXT: u64 = 0x1000;
const SIZE: u64 = 0x4000;
const HEADER: u64 = 0x5000;
const EH_FRAME: u64 = 0x6000;

/// Start of the function of a letter.
fn start(letter: char) -> u64 {
    (address(letter) - TEXT) / FUNCTION * FUNCTION + TEXT
}

/// Makes a file with a function for each letter, and these calls: (the caller's letter, the code of its call).
pub(super) fn world(calls: &[(char, Vec<u8>)]) -> World {
    world_from(calls, 0)
}

/// The same, with an entry point.
fn world_from(calls: &[(char, Vec<u8>)], entry: u64) -> World {
    let mut text = vec![0x90; SIZE as usize];
    for (letter, code) in calls {
        // A frame's address is the last byte of its call.
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
        e_entry: entry,
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

/// Code of a direct call from the function of `caller` to that of `callee`.
fn direct(caller: char, callee: char) -> (char, Vec<u8>) {
    let offset = start(callee) as i64 - (address(caller) as i64 + 1);
    let code = [&[0xe8], &(offset as i32).to_le_bytes()[..]].concat();
    (caller, code)
}

/// `call *%rax`.
pub(super) fn indirect(caller: char) -> (char, Vec<u8>) {
    (caller, vec![0xff, 0xd0])
}

/// `C` made its next call from another address: it may be the same activation as before, so `B` may be the same, too.
/// Without the file it counts as another function, so the call of `C` is over.
#[test]
fn another_place_of_the_same_function() {
    let text = |found: &str| {
        format!(
            "
            4 x D@10 C@20:7 B@30:6 A@40 $
            E@8 c@20 |30             => ~ {found}A $
            4 x D@10 C@20:7 B@30:6 A@40 $
        "
        )
    };
    world(&[indirect('A')]).check_with(&text("B "), true);
    world(&[indirect('A')]).check_with(&text("").replace("c@20", "F@20"), true);
}

/// A complete chain of `H`, and a truncated one, completed with the stack's start after a gap.
const START: &str = "
    4 x H@8 G@10 F@20 E@30 D@40 C@50 B@60 A@70 $
    Q@4 |                            => ~ START $
    4 x H@8 G@18 F@20 E@30 D@40 C@50 B@60 A@70 $
";

/// For a process the calls from the entry point to `main`, for a thread two, for another stack the outermost function.
#[test]
fn what_does_nothing_but_start_a_stack() {
    for (calls, entry, start) in [
        (vec![], start('A'), "D C B A"),
        (vec![indirect('A')], 0, "B A"),
        (vec![direct('A', 'B')], 0, "A"),
        (vec![], 0, "A"),
    ] {
        let text = START.replace("START", start);
        world_from(&calls, entry).check_with(&text, true);
    }
}

/// A stack that is neither a process's nor a thread's own belongs to coroutines.
/// Calls active on it before and after a sample may belong to others.
#[test]
fn what_was_under_way_on_a_stack_of_coroutines() {
    let text = "
        4 x D@10 C@20:7 B@30:6 A@40 $
        E@8 |                            => ~ CALLS $
        4 x D@10 C@20:7 B@30:6 A@40 $
    ";
    world(&[indirect('A')]).check_with(&text.replace("CALLS", "B A"), true);
    world(&[direct('A', 'B')]).check_with(&text.replace("CALLS", "A"), true);
}
