//! A recording and the files that it maps, both built from the input by their writers, through the complete program to
//! all formats. The writers produce data that pass the readers' first checks, so that inputs get far.
//!
//! ```text
//!   1 byte     bits 0 and 1: how many files, less one; bit 2: repair of chains up to a gap
//!   for each   1 byte: bits 0 and 1: the path; then two bytes of length, and what the file is made of:
//!   file         pieces: a byte for the kind, a byte of length, the content (see `file`)
//!   the rest   records: a byte for the kind, and its numbers (see `record`)
//! ```
#![no_main]

mod cost;
mod input;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use formats::{Format, FormatOptions};
use host::MemoryHost;
use input::Input;
use libfuzzer_sys::fuzz_target;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};
use replay::Join;
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, EventAttr, Fde, MmapFile,
    PerfDataBuilder, Record, SampleBuilder, SampleId, Section, Segment, Symbol, UserRecord,
    eh_frame_hdr,
};

/// Paths in recordings and files.
const PATHS: [&str; 4] = ["/bin/a", "/lib/../bin/b", "/tmp/perf-2.map", "//lib/c (deleted)"];
/// Paths below the folder that stands for `/`.
const PLACES: [&str; 4] = ["/s/bin/a", "/s/bin/b", "/s/tmp/perf-2.map", "/s/lib/c"];
const TEXT: u64 = 0x1000;
const TEXT_SIZE: u64 = 0x400;
const EH_FRAME_HDR: u64 = 0x2000;
const EH_FRAME: u64 = 0x3000;
/// Mask of the recorded registers: perf's on x86-64.
const REGISTERS: u64 = 0x00ff_0fff;
/// Indexes of the stack pointer and the instruction pointer among the recorded registers.
const SP: usize = 7;
const IP: usize = 8;
/// Address of the stacks.
const STACK: u64 = 0x7ffd_0000_1000;
/// Maximum number of records, and of words of a stack.
const RECORDS: usize = 64;
const WORDS: u64 = 64;

/// Returns an ELF file of pieces: symbols, descriptions of functions, debug sections.
fn file(mut input: Input<'_>) -> Vec<u8> {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, EH_FRAME);
    let cie = cfi.cie(&Cie::x86_64());
    let (mut symbols, mut debug) = (Vec::new(), Vec::new());
    while !input.0.is_empty() {
        let kind = input.number(1);
        let len = input.number(1) as usize;
        let mut piece = Input(input.bytes(len));
        match kind % 4 {
            0 => {
                let at = TEXT + piece.number(1) * 4;
                let size = piece.number(1);
                let name = String::from_utf8_lossy(piece.0).replace('\0', "");
                symbols.push(Symbol::function(&name, at, size));
            }
            1 | 2 => {
                let (pc_begin, pc_range) = (TEXT + piece.number(1) * 4, piece.number(1) * 4);
                let ops = match kind % 4 {
                    // Usual compiler output: the return address is above some saved registers.
                    1 => {
                        let saved = piece.number(1) % 5;
                        CfiOps::new(Endian::Little).def_cfa_offset(16 + 8 * saved)
                    }
                    _ => CfiOps::new(Endian::Little).raw(piece.0),
                };
                let instructions = ops.into_bytes();
                cfi.fde(cie, &Fde { pc_begin, pc_range, lsda: 0, instructions });
            }
            _ => {
                const NAMES: [&str; 6] = ["info", "abbrev", "line", "str", "ranges", "line_str"];
                let name = NAMES[piece.number(1) as usize % NAMES.len()];
                debug.push(Section::new(&format!(".debug_{name}"), 1, piece.0.to_vec()));
            }
        }
    }
    let built = cfi.terminator().build();
    let header = eh_frame_hdr(Endian::Little, EH_FRAME_HDR, EH_FRAME, &built.fdes);
    let mut sections = vec![
        Section::text(TEXT, vec![0xe8; TEXT_SIZE as usize]),
        Section::loaded(".eh_frame_hdr", EH_FRAME_HDR, header.clone()),
        Section::loaded(".eh_frame", EH_FRAME, built.bytes.clone()),
    ];
    sections.extend(debug);
    let end = EH_FRAME + built.bytes.len() as u64;
    ElfBuilder {
        segments: vec![
            Segment::load_text(TEXT, TEXT, TEXT_SIZE),
            Segment::load_rodata(EH_FRAME_HDR, EH_FRAME_HDR, end - EH_FRAME_HDR),
        ],
        sections,
        symbols,
        ..ElfBuilder::x86_64()
    }
    .build()
}

/// Returns the address at which a file is mapped.
fn base(number: u64) -> u64 {
    0x5555_0000_0000 + (number % 8) * 0x10_0000
}

/// Adds a record; returns true if it is a sample.
fn record(input: &mut Input<'_>, data: &mut PerfDataBuilder, time: u64) -> bool {
    let kind = input.number(1);
    let pid = 1 + input.number(1) as u32 % 4;
    let number = input.number(1);
    let id = SampleId { id: 7, ..SampleId::at(pid, pid, time) };
    let path = PATHS[(number >> 4) as usize % PATHS.len()].as_bytes();
    let inode = MmapFile::Inode { major: 8, minor: 1, inode: number >> 4, generation: 0 };
    match kind % 8 {
        0 => {
            let addr = base(number) + TEXT;
            let len = 0x1000 + (kind >> 4) * 0x800;
            let mmap = Record::Mmap { pid, tid: pid, addr, len, pgoff: TEXT, name: path };
            data.record_at(&mmap, id);
        }
        1 => {
            let mmap = Record::Mmap2 {
                pid,
                tid: pid,
                addr: base(number) + TEXT,
                len: 0x1000,
                pgoff: TEXT + (kind >> 4) * 0x400,
                file: inode,
                prot: 5,
                flags: 2,
                name: path,
            };
            data.record_at(&mmap, id);
        }
        2 => {
            let ppid = 1 + number as u32 % 4;
            data.record_at(&Record::Fork { pid, ppid, tid: pid, ptid: ppid, time }, id);
        }
        3 => {
            let comm = Record::Comm { pid, tid: pid, comm: b"name", exec: number & 1 != 0 };
            data.record_at(&comm, id);
        }
        4 => {
            data.record_at(&Record::Exit { pid, ppid: 1, tid: pid, ptid: 1, time }, id);
        }
        5 => {
            data.user_record(&UserRecord::FinishedRound);
        }
        _ => {
            let code = |at: u64| base(number) + TEXT + at % TEXT_SIZE;
            let stack: Vec<u8> = (0..input.number(1) % WORDS)
                .flat_map(|word| {
                    match input.number(1) {
                        at @ 0x80.. => code(at * 8),
                        other => STACK + word * 8 + other,
                    }
                    .to_le_bytes()
                })
                .collect();
            let mut registers = vec![STACK + 0x40; REGISTERS.count_ones() as usize];
            registers[SP] = STACK + (kind >> 3) * 8;
            registers[IP] = code(input.number(1) * 4);
            let sample = SampleBuilder::at(registers[IP], pid, pid, time).with_regs(&registers);
            data.sample(&SampleBuilder { id: 7, ..sample.with_stack(&stack) });
            return true;
        }
    }
    false
}

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let flags = input.number(1);
    let host = MemoryHost::new();
    for _ in 0..=flags & 3 {
        let place = PLACES[input.number(1) as usize % PLACES.len()];
        let len = input.number(2) as usize;
        host.insert(place, file(Input(input.bytes(len))));
    }
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles:u", EventAttr::dwarf(REGISTERS), &[7]);
    data.describe_events();
    let mut samples = 0;
    for time in 0..RECORDS {
        if input.0.is_empty() {
            break;
        }
        samples += usize::from(record(&mut input, &mut data, 1 + time as u64));
    }
    host.insert("perf.data", data.build());
    let files = FileSearch { sysroots: vec![PathBuf::from("/s")], ..FileSearch::default() };
    let join = if flags & 4 == 0 { Join::Exact } else { Join::Gaps };
    let options = Options { files, join, ..Options::default() };
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let source = Source::Path(PathBuf::from("perf.data"));
    let analysis = Pipeline::new(Arc::new(host)).analyze(source, &options, &observer);
    let profile = analysis.expect("a recording").profile;
    assert_eq!(profile.samples.len(), samples);
    for format in Format::ALL {
        let printer = format.printer(FormatOptions::DEFAULT);
        printer.print(&profile, &mut io::sink()).expect("nothing to fail");
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
