//! A generated recording with more samples than one chunk of the replay and with known chains.
//!
//! ```text
//! demo.elf  0x1600  outer    return address undefined: the root
//!           0x1640  middle   CFA = rsp + 16, so that a frame is
//!
//!           rsp -> +--------------------------+
//!                  | a word of its own        |
//!                  | return address           |  into middle, the last into outer
//!                  +--------------------------+
//! ```

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use serde_json::json;
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, CompressedKind, Compressor, ElfBuilder, Endian, EventAttr,
    Fde, Feature, MmapFile, PerfDataBuilder, PipeLayout, Record, SampleBuilder, SampleId, Section,
    Segment, StackBuilder, Symbol, UserRecord, UserRegs, eh_frame_hdr, elf_const,
    gnu_build_id_note, x86_64_reg,
};

use crate::support::cases::formats;
use crate::support::run::{command, empty_folder, finish, run};

const LE: Endian = Endian::Little;
const BUILD_ID: [u8; 20] = [0xab; 20];
/// More samples than the replay takes at once, so that there are several chunks.
const SAMPLES: u64 = 20_000;
const PROCESSES: u64 = 5;
/// Address of the mapped text, minus its address in the file's headers.
const BIAS: u64 = 0x55_0000_0000;
const OUTER: u64 = 0x1600;
const MIDDLE: u64 = 0x1640;

/// Returns the number of calls of `middle` in the sample.
const fn depth(sample: u64) -> u64 {
    1 + sample.wrapping_mul(2_654_435_761) % 23
}

/// Returns true if the sample has a truncated stack, as every seventh one does.
const fn is_cut(sample: u64) -> bool {
    sample % 7 == 3
}

fn elf() -> Vec<u8> {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, LE, 0x300);
    let cie = cfi.cie(&Cie::x86_64());
    let root = CfiOps::new(LE).undefined(16).into_bytes();
    cfi.fde(cie, &Fde { pc_begin: OUTER, pc_range: 0x40, lsda: 0, instructions: root });
    let frame = CfiOps::new(LE).def_cfa_offset(16).into_bytes();
    cfi.fde(cie, &Fde { pc_begin: MIDDLE, pc_range: 0x40, lsda: 0, instructions: frame });
    cfi.terminator();
    let cfi = cfi.build();
    let hdr = eh_frame_hdr(LE, 0x280, 0x300, &cfi.fdes);
    let note = gnu_build_id_note(LE, &BUILD_ID);
    let part = |p_type, at, bytes: &[u8]| Segment {
        p_type,
        align: 4,
        ..Segment::load_rodata(at, at, bytes.len() as u64)
    };
    let mut note_section = Section::loaded(".note.gnu.build-id", 0x200, note.clone());
    note_section.sh_type = elf_const::SHT_NOTE;
    note_section.align = 4;
    ElfBuilder {
        segments: vec![
            Segment::load_rodata(0, 0, 0x600),
            Segment::load_text(0x600, OUTER, 0x80),
            part(elf_const::PT_NOTE, 0x200, &note),
            part(elf_const::PT_GNU_EH_FRAME, 0x280, &hdr),
        ],
        sections: vec![
            note_section,
            Section::loaded(".eh_frame_hdr", 0x280, hdr),
            Section::loaded(".eh_frame", 0x300, cfi.bytes),
            Section::text(OUTER, vec![0x90; 0x80]),
        ],
        symbols: vec![
            Symbol::function("outer", OUTER, 0x40),
            Symbol::function("middle", MIDDLE, 0x40),
        ],
        ..ElfBuilder::x86_64()
    }
    .build()
}

/// Adds a process with the mapped file.
fn start(recording: &mut PerfDataBuilder, pid: u32) {
    let id = SampleId::at(pid, pid, 1);
    recording.record_at(&Record::Comm { pid, tid: pid, comm: b"demo", exec: true }, id);
    let map = Record::Mmap2 {
        pid,
        tid: pid,
        addr: BIAS + 0x1000,
        len: 0x1000,
        pgoff: 0,
        file: MmapFile::BuildId(&BUILD_ID),
        prot: 5,
        flags: 2,
        name: b"/demo/demo.elf",
    };
    recording.record_at(&map, id);
}

fn recording() -> PerfDataBuilder {
    let mut recording = PerfDataBuilder::new(LE);
    recording.event("cpu-clock:u", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[1]);
    recording.describe_events();
    for pid in 100..100 + PROCESSES as u32 {
        start(&mut recording, pid);
    }
    for sample in 0..SAMPLES {
        let mut stack = StackBuilder::new(0x7ffd_0000_1000, LE, 8);
        for call in 1..depth(sample) {
            stack.word(0).word(BIAS + MIDDLE + 4 + (sample >> (call % 5)) % 8 * 4);
        }
        stack.word(0);
        if !is_cut(sample) {
            stack.word(BIAS + OUTER + 0x10).words(0, 2);
        }
        let ip = BIAS + MIDDLE + 4 * (sample % 16);
        let pid = 100 + (sample % PROCESSES) as u32;
        let regs = UserRegs::x86_64(ip, stack.sp());
        recording.sample(
            &SampleBuilder::at(ip, pid, pid, 1000 + sample)
                .with_regs(&regs.usual_values())
                .with_stack(&stack.bytes()),
        );
    }
    recording
}

/// Writes the recording and its file; returns the folder.
fn written(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::create_dir_all(folder.join("root/demo")).expect("a folder");
    std::fs::write(folder.join("root/demo/demo.elf"), elf()).expect("the file is written");
    std::fs::write(folder.join("perf.data"), recording().build())
        .expect("the recording is written");
    folder
}

/// Returns the output of a run that reads `stream` from its standard input.
fn printed_of_stream(folder: &Path, stream: Vec<u8>) -> Vec<u8> {
    let mut command = command(folder, &["-", "--sysroot", "root", "-q", "-f", "ndjson"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || stdin.write_all(&stream));
    let ran = finish(child).expect_status(0);
    writer.join().expect("the writer").expect("all is read");
    ran.stdout
}

/// The samples are the same in every container.
#[test]
fn file_stream_and_compressed_file_agree() {
    let folder = written("containers");
    let expected = printed(&folder, "ndjson", "2");
    let mut recording = recording();
    let stream = recording.build_pipe(&PipeLayout { attrs_first: true, ..PipeLayout::default() });
    assert!(printed_of_stream(&folder, stream) == expected, "a stream differs");

    let plain = recording.take_records();
    let mut compressor = Compressor::new(LE, CompressedKind::Compressed);
    recording.raw_bytes(&compressor.pack(&plain, 30_000));
    recording.feature(&Feature::Compressed { level: 1, ratio: 1, mmap_len: 1 << 20 });
    std::fs::write(folder.join("perf.data"), recording.build()).expect("written");
    assert!(printed(&folder, "ndjson", "2") == expected, "a compressed recording differs");
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}

fn printed(folder: &Path, format: &str, jobs: &str) -> Vec<u8> {
    let arguments = ["perf.data", "--sysroot", "root", "-q", "-f", format, "-j", jobs];
    run(folder, &arguments).expect_status(0).stdout
}

#[test]
fn every_chain_is_the_known_one_with_any_number_of_threads() {
    let folder = written("many-samples");
    for format in &formats() {
        let alone = printed(&folder, format, "1");
        for jobs in ["2", "3", "7"] {
            assert!(printed(&folder, format, jobs) == alone, "{format}: --jobs {jobs} differs");
        }
    }

    let mut stacks = BTreeMap::<String, u64>::new();
    for sample in 0..SAMPLES {
        let root = if is_cut(sample) { "demo;[truncated]" } else { "demo;outer" };
        *stacks.entry(root.to_owned() + &";middle".repeat(depth(sample) as usize)).or_default() +=
            1;
    }
    let mut expected: Vec<String> =
        stacks.into_iter().map(|(stack, count)| format!("{stack} {count}")).collect();
    expected.sort();
    // A truncated chain stays unchanged: the samples before and after it called at other depths, so none shows its
    // caller.
    for join in [&[][..], &["--no-join"]] {
        let arguments = ["perf.data", "--sysroot", "root", "-q", "-f", "folded"];
        let ran = run(&folder, &[&arguments, join].concat()).expect_status(0);
        let mut found: Vec<&str> = ran.text().lines().collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{join:?}");
    }

    let document: serde_json::Value =
        serde_json::from_slice(&printed(&folder, "json", "2")).expect("JSON");
    let frames: u64 = (0..SAMPLES).map(|sample| depth(sample) + u64::from(!is_cut(sample))).sum();
    assert_eq!(document["summary"]["samples"], json!(SAMPLES));
    assert_eq!(document["summary"]["frames"], json!(frames));
    assert_eq!(document["summary"]["findings"], json!([]));
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}

/// Returns a recording of several batches: every second sample is of the kernel, called by `outer`.
fn long_recording() -> Vec<u8> {
    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    const IN_KERNEL: u16 = 1;
    let mut recording = PerfDataBuilder::new(LE);
    recording.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[1]);
    recording.describe_events();
    let name = b"[kernel.kallsyms]_text";
    let map =
        Record::Mmap { pid: u32::MAX, tid: 0, addr: KERNEL, len: 0x10_0000, pgoff: KERNEL, name };
    recording.record_with(&map, IN_KERNEL, SampleId::at(u32::MAX, 0, 1));
    start(&mut recording, 100);
    let mut stack = StackBuilder::new(0x7ffd_0000_1000, LE, 8);
    stack.words(0, 2048);
    for sample in 0..2400 {
        let user = BIAS + OUTER + 0x10;
        let (ip, misc) = if sample % 2 == 0 { (user, 2) } else { (KERNEL + 0x120, IN_KERNEL) };
        let regs = UserRegs::x86_64(user, stack.sp());
        let built = SampleBuilder::at(ip, 100, 100, 1000 + sample)
            .with_regs(&regs.usual_values())
            .with_stack(&stack.bytes());
        recording.sample(&SampleBuilder { misc, ..built });
        if sample % 50 == 49 {
            recording.user_record(&UserRecord::FinishedRound);
        }
    }
    recording.build()
}

/// With one job, nothing is prefetched while the replay runs; the output is the same.
#[test]
fn what_is_begun_beside_the_walk_is_what_is_read_behind_it() {
    let folder = written("ahead");
    std::fs::write(folder.join("perf.data"), long_recording()).expect("written");
    let list = "ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 T rest\n";
    std::fs::write(folder.join("kallsyms"), list).expect("written");
    for jobs in ["1", "2", "3"] {
        let arguments = ["perf.data", "--sysroot", "root", "-q", "-f", "folded", "-j", jobs];
        let arguments = [&arguments[..], &["--kallsyms", "kallsyms"]].concat();
        let folded = run(&folder, &arguments).expect_status(0).text().to_owned();
        assert_eq!(folded, "demo;outer 1200\ndemo;outer;do_work 1200\n", "--jobs {jobs}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}
