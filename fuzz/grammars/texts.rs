//! Texts that accompany a recording: `perf-PID.map`, lists of kernel symbols, `modules.dep`, map hints. A grammar
//! writes their lines; a recording with code that they cover runs through the complete program with them.
//!
//! ```text
//!   1 byte     bits 0 to 2: which texts are missing; the other bits: the formats that are printed
//!   for each   1 byte: how many kinds of lines; then each (see `lines`)
//!   the rest   addresses of samples: a byte each
//! ```
#![no_main]

#[path = "../fuzz_targets/cost.rs"]
mod cost;
#[path = "../fuzz_targets/input.rs"]
mod input;

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use formats::{Format, FormatOptions};
use host::MemoryHost;
use input::Input;
use jit::PerfMap;
use libfuzzer_sys::fuzz_target;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};
use symbolizer::Kallsyms;
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag,
    sample_type,
};

const JIT: u64 = 0x7000_0000;
const JIT_SIZE: u64 = 0x10_0000;
const KERNEL: u64 = 0xffff_ffff_8100_0000;
const MODULES: u64 = 0xffff_ffff_c000_0000;
const RELEASE: &str = "6.1";
const MAP: &str = "/s/tmp/perf-1.map";
const LIST: &str = "/kallsyms";
const DEP: &str = "/s/lib/modules/6.1/modules.dep";
/// Maximum number of lines of a text, and maximum sizes in bytes.
const MOST_LINES: u64 = 4000;
const MOST_BYTES: usize = 256 << 10;
const LONGEST: u64 = 6000;
const SAMPLES: usize = 64;

/// Returns a name: plain, mangled, or long.
fn name(input: &mut Input<'_>) -> String {
    const NAMES: [&str; 12] = [
        "f",
        "Interpreter",
        "LazyCompile:*run /app/x.js:1:2",
        "Lcom/a/B;::c(I)V",
        "_ZN1a1bEv",
        "_RNvC1a1b",
        "_text",
        "_stext",
        "_etext",
        "py::f:/x.py",
        "\u{1b}[31m\t",
        "0x10",
    ];
    let kind = input.number(1);
    let name = NAMES[kind as usize % NAMES.len()];
    match kind >> 4 {
        15 => name.repeat(1 + (input.number(2) % LONGEST) as usize / name.len()),
        14 => String::from_utf8_lossy(input.bytes(8)).into_owned(),
        _ => name.to_owned(),
    }
}

/// Kind of text; determines the start of its lines and the separator of their words.
#[derive(Clone, Copy)]
enum Text {
    Map,
    List,
    Modules,
}

/// Writes lines of one kind: addresses that increase, decrease or stay, overlapping sizes, a name with or without a
/// number.
fn lines(input: &mut Input<'_>, text: Text, out: &mut String) {
    let kind = input.number(1);
    let times = match kind & 3 {
        0..=2 => 1 + kind % 5,
        _ => input.number(2) % MOST_LINES,
    };
    let base = [JIT, KERNEL, MODULES, 0][(kind >> 2 & 3) as usize];
    let (start, step) = (base.wrapping_add(input.number(2)), input.number(2) as i16);
    let (size, grows) = (input.number(3), input.number(1));
    let (name, letter) = (name(input), char::from(b"tTaAdUwx?"[(kind >> 4) as usize % 9]));
    let numbered = kind & 0x80 != 0;
    for time in 0..times {
        if out.len() > MOST_BYTES {
            break;
        }
        let at = start.wrapping_add_signed(i64::from(step).wrapping_mul(time.cast_signed()));
        let size = size.wrapping_add(grows * time);
        let number = if numbered { time.to_string() } else { String::new() };
        let module = ["", "\t[m]", " [ext4]", "\t[", "[__builtin__kprobes]"][time as usize % 5];
        let _ = match text {
            Text::Map => writeln!(out, "{at:x} {size:x} {name}{number}"),
            Text::List => writeln!(out, "{at:016x} {letter} {name}{number}{module}"),
            Text::Modules => writeln!(out, "kernel/{name}/m{number}.ko.xz: kernel/{name}.ko"),
        };
    }
    // A truncated line, or one with bytes that no line has.
    match kind >> 5 {
        6 => (0..7).for_each(|_| _ = out.pop()),
        7 => out.push_str("\0\n  \n0x 0x\n-1 -1 x\nffffffffffffffff ffffffffffffffff y\n\r\n"),
        _ => {}
    }
}

fn text(input: &mut Input<'_>, text: Text) -> String {
    let kinds = input.number(1) % 24;
    let mut out = String::new();
    for _ in 0..kinds {
        lines(input, text, &mut out);
    }
    out
}

/// Returns a recording with memory of a JIT compiler, a kernel and modules, and samples all over them.
fn recording(addresses: &[u8]) -> (Vec<u8>, usize) {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let sample_type =
        sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::CALLCHAIN;
    let flags = attr_flag::SAMPLE_ID_ALL;
    data.event("cycles", EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    data.describe_events().feature(&Feature::OsRelease(RELEASE)).feature(&Feature::Arch("x86_64"));
    let kernel: [(u64, u64, &[u8]); 3] = [
        (KERNEL, 0x10_0000, b"[kernel.kallsyms]_text"),
        (MODULES, 0x2000, b"[m]"),
        (MODULES + 0x2000, 0x2000, b"[ext4]"),
    ];
    for (addr, len, name) in kernel {
        let map = Record::Mmap { pid: u32::MAX, tid: 0, addr, len, pgoff: addr, name };
        data.record_with(&map, 1, SampleId::default());
    }
    let (addr, len) = (JIT, JIT_SIZE);
    let map = Record::Mmap { pid: 1, tid: 1, addr, len, pgoff: 0, name: b"//anon" };
    data.record_at(&map, SampleId::at(1, 1, 1));
    let samples = addresses.len().min(SAMPLES);
    for (time, &byte) in addresses.iter().take(samples).enumerate() {
        let at = u64::from(byte);
        let ip = [JIT, KERNEL, MODULES, JIT + 0x8000][(at & 3) as usize] + at * 16;
        let callchain = vec![u64::MAX - 127, KERNEL + at * 8, u64::MAX - 511, ip, JIT + at * 64];
        let sample = SampleBuilder::at(ip, 1, 1, 2 + time as u64);
        data.sample(&SampleBuilder { callchain, ..sample });
    }
    (data.build(), samples)
}

fn run(bytes: &[u8]) -> u64 {
    let mut input = Input(bytes);
    let flags = input.number(1);
    let host = MemoryHost::new();
    let mut len = 0;
    for (bit, path, kind) in [(1, MAP, Text::Map), (2, LIST, Text::List), (4, DEP, Text::Modules)] {
        if flags & bit == 0 {
            let text = text(&mut input, kind);
            len += text.len();
            let map = PerfMap::parse(text.clone().into_bytes());
            assert!(map.skipped() <= text.split('\n').count());
            if let Ok(list) = Kallsyms::parse(text.clone().into_bytes()) {
                assert!(list.len() <= text.split('\n').count());
            }
            host.insert(path, text);
        }
    }
    let (recording, samples) = recording(input.0);
    host.insert("perf.data", recording);
    let files = FileSearch {
        sysroots: vec![PathBuf::from("/s")],
        kallsyms: Some(PathBuf::from(LIST)),
        trust_perf_maps: true,
        ..FileSearch::default()
    };
    let options = Options { files, ..Options::default() };
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let source = Source::Path(PathBuf::from("perf.data"));
    let analysis = Pipeline::new(Arc::new(host)).analyze(source, &options, &observer);
    let profile = analysis.expect("a recording").profile;
    assert_eq!(profile.samples.len(), samples);
    // All formats would take most of the time: the rest of the input selects one in six.
    let chosen = (flags >> 3) as usize;
    for format in Format::ALL.iter().skip(chosen % 6).step_by(6) {
        let printer = format.printer(FormatOptions::DEFAULT);
        printer.print(&profile, &mut io::sink()).expect("nothing to fail");
    }
    len as u64
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || run(bytes));
});
