//! Recordings of simpleperf: chains that were unwound on the device, and names that it wrote, are used unchanged.

use synth::{
    ByteWriter, Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder,
    SampleId, attr_flag, sample_type, simpleperf_meta_info, simpleperf_record,
};

use crate::support::run::{empty_folder, run};

const LE: Endian = Endian::Little;
const USER: u64 = -512_i64 as u64;
/// Address of the library in memory, minus the offset in its file.
const AT: u64 = 0x7f00_0000;

/// Returns a field of a protobuf message: a number, or bytes.
fn field(number: u8, value: Result<u64, &[u8]>) -> Vec<u8> {
    let mut out = vec![number << 3 | if value.is_ok() { 0 } else { 2 }];
    let mut rest = value.unwrap_or_else(|bytes| bytes.len() as u64);
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
    out.extend_from_slice(value.err().unwrap_or_default());
    out
}

/// A JIT function: its address in memory, and the file that simpleperf wrote for it.
const JIT: u64 = 0x7e00_4000;
const JIT_PATH: &[u8] = b"/data/local/tmp/perf.data_jit_app_cache:0-4096";

/// Returns the recording's entry for that file.
fn jit_file() -> Vec<u8> {
    let method = [field(1, Ok(JIT)), field(2, Ok(0x80)), field(3, Err(b"com.example.App.run"))];
    let message = [
        field(1, Err(JIT_PATH)),
        field(2, Ok(2)),
        field(3, Ok(0)),
        field(4, Err(&method.concat())),
        field(6, Err(&field(1, Ok(0)))),
    ]
    .concat();
    [&(message.len() as u32).to_le_bytes()[..], &message].concat()
}

/// Returns two functions of a library with its code stated at 0x2000 and at offset 0x1000 of the file.
fn file2() -> Vec<u8> {
    let symbol = |at: u64, name: &[u8]| {
        field(4, Err(&[field(1, Ok(at)), field(2, Ok(0x100)), field(3, Err(name))].concat()))
    };
    let message = [
        field(1, Err(b"/data/app/base.apk!/lib/liba.so")),
        field(2, Ok(2)),
        field(3, Ok(0x2000)),
        symbol(0x2100, b"_ZN5inner3runEv"),
        symbol(0x2000, b"__dl__Z5outeri"),
        field(6, Err(&field(1, Ok(0x1000)))),
    ]
    .concat();
    [&(message.len() as u32).to_le_bytes()[..], &message].concat()
}

fn recording(chain: &[u64], unwound: Option<&[u64]>) -> Vec<u8> {
    let mut it = PerfDataBuilder::new(LE);
    let sample_type = sample_type::IP
        | sample_type::TID
        | sample_type::TIME
        | sample_type::CALLCHAIN
        | sample_type::REGS_USER
        | sample_type::STACK_USER;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event(
        "cpu-cycles",
        EventAttr {
            sample_type,
            flags,
            sample_regs_user: 0x1_ffff_ffff,
            sample_stack_user: 0xffe8,
            ..EventAttr::default()
        },
        &[7],
    );
    it.feature(&Feature::Arch("aarch64"));
    it.raw_feature(129, &simpleperf_meta_info(&[("simpleperf_version", "1")]));
    it.raw_feature(132, &[file2(), jit_file()].concat());
    let map = Record::Mmap2 {
        pid: 1,
        tid: 1,
        addr: AT + 0x1000,
        len: 0x1000,
        pgoff: 0x1000,
        file: MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 },
        prot: 5,
        flags: 2,
        name: b"/data/app/base.apk!/lib/liba.so",
    };
    it.record_at(
        &Record::Comm { pid: 1, tid: 1, comm: b"app", exec: false },
        SampleId::at(1, 1, 1),
    );
    it.record_at(&map, SampleId::at(1, 1, 1));
    let jit = Record::Mmap2 {
        pid: 1,
        tid: 1,
        addr: JIT,
        len: 0x80,
        pgoff: 0,
        file: MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 },
        prot: 0x4000,
        flags: 0,
        name: JIT_PATH,
    };
    it.record_at(&jit, SampleId::at(1, 1, 1));
    if let Some(ips) = unwound {
        let mut w = ByteWriter::new(LE);
        w.u32(1).u32(1).u64(0).u64(9).u64(ips.len() as u64);
        ips.iter().chain(ips).for_each(|&word| {
            w.u64(word);
        });
        it.raw_bytes(&simpleperf_record(LE, 32775, &w.into_bytes()));
    }
    it.sample(&SampleBuilder::at(AT + 0x1110, 1, 1, 9).with_callchain(chain));
    it.build()
}

fn folded(name: &str, bytes: &[u8]) -> String {
    let folder = empty_folder(name);
    std::fs::write(folder.join("perf.data"), bytes).expect("a file");
    let ran = run(&folder, &["perf.data", "--quiet", "--format", "folded"]).expect_status(0);
    ran.text().to_owned()
}

const STACK: &str = "app;[linker]outer(int);inner::run() 1\n";
const CHAIN: [u64; 2] = [AT + 0x1110, AT + 0x1021];

#[test]
fn chains_and_names_of_the_device() {
    let chain = [USER, CHAIN[0], CHAIN[1]];
    assert_eq!(folded("device-own", &recording(&chain, None)), STACK);
    // The record repeats the sample's chain, or has more frames.
    assert_eq!(folded("device-both", &recording(&chain, Some(&CHAIN))), STACK);
    assert_eq!(folded("device-joined", &recording(&[USER, CHAIN[0]], Some(&CHAIN))), STACK);
    assert_eq!(folded("device-record", &recording(&[], Some(&CHAIN))), STACK);
}

/// Symbols of JIT code have addresses in memory, independent of the offset in the map.
#[test]
fn methods_that_were_compiled_on_the_device() {
    let chain = [USER, CHAIN[0], JIT + 0x41, CHAIN[1]];
    let stack = "app;[linker]outer(int);com.example.App.run;inner::run() 1\n";
    assert_eq!(folded("device-jit", &recording(&chain, None)), stack);
    // An address after its end does not belong to it.
    let chain = [USER, CHAIN[0], JIT + 0x91, CHAIN[1]];
    let stack = "app;[linker]outer(int);[unknown];inner::run() 1\n";
    assert_eq!(folded("device-jit-end", &recording(&chain, None)), stack);
}
