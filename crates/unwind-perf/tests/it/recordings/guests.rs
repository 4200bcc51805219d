//! Samples of virtual machines, and of the hypervisor below, in a recording of their host. Their addresses do not
//! belong to the host's kernel and processes. The stack of the process that runs a guest is not part of the guest's
//! chains.

use std::fs;

use serde_json::Value;
use synth::{Record, SampleBuilder, SampleId, SampleRegs, UserRegs};

use crate::support::mapped::{Map, Recording, samples};
use crate::support::run::{empty_folder, run};

const KERNEL: u16 = 1;
const USER: u16 = 2;
const HYPERVISOR: u16 = 3;
const GUEST_KERNEL: u16 = 4;
const GUEST_USER: u16 = 5;
/// Markers in a callchain: the next frames are of the host's kernel, and so on.
const IN_KERNEL: u64 = -128_i64 as u64;
const IN_USER: u64 = -512_i64 as u64;
const IN_GUEST: u64 = -2048_i64 as u64;
const IN_GUEST_KERNEL: u64 = -2176_i64 as u64;
const IN_GUEST_USER: u64 = -2560_i64 as u64;
/// Start of the kernels of host and guests, a function of the host's list in it, and its end.
const TEXT: u64 = 0xffff_ffff_8100_0000;
const READ: u64 = TEXT + 0x1000;
const ETEXT: u64 = TEXT + 0x10_0000;
/// Address of a program of the host and of a guest.
const PROGRAM: u64 = 0x40_0000;
/// All output formats except `ndjson`.
const FORMATS: [&str; 13] = [
    "json",
    "perf-script",
    "folded",
    "pprof",
    "otlp",
    "speedscope",
    "firefox",
    "callgrind",
    "hotspot",
    "flamegraph",
    "report",
    "parquet",
    "arrow",
];
/// A process that runs a guest with recorded maps, and one that runs another guest.
const KNOWN: u32 = 7;
const OTHER: u32 = 8;

fn map(recording: &mut Recording, mode: u16, pid: u32, (addr, pgoff): (u64, u64), name: &str) {
    let len = if addr == TEXT { ETEXT - TEXT } else { 0x1000 };
    let name = name.as_bytes();
    let record = Record::Mmap { pid, tid: pid, addr, len, pgoff, name };
    recording.data.record_with(&record, record.misc() & !7 | mode, SampleId::default());
}

/// Adds a sample with the registers and the stack of the process on the host.
fn sample(recording: &mut Recording, mode: u16, pid: u32, ip: u64, chain: &[u64]) {
    let time = recording.next();
    let regs = UserRegs::x86_64(PROGRAM + 0x20, 0x7ffd_0000_1000);
    let sample = SampleBuilder { misc: mode, ..SampleBuilder::at(ip, pid, pid, time) };
    let sample = sample.with_regs(&regs.usual_values()).with_stack(&[0; 64]);
    recording.data.sample(&sample.with_callchain(chain));
}

/// Returns a recording of a host that runs two guests.
fn recording() -> Recording {
    let mut recording = Recording::new();
    map(&mut recording, KERNEL, u32::MAX, (TEXT, TEXT), "[kernel.kallsyms]_text");
    recording.map(KNOWN, Map::code(PROGRAM, 0x1000, 0, "/bin/host"));
    map(&mut recording, GUEST_KERNEL, KNOWN, (TEXT, TEXT), "[guest.kernel.kallsyms.7]_text");
    map(&mut recording, GUEST_KERNEL, KNOWN, (ETEXT, 0), "/lib/modules/6.1/kvmclock.ko");
    map(&mut recording, GUEST_USER, KNOWN, (PROGRAM, 0), "/bin/guest");
    recording
}

/// Returns for each sample `pid end: address module function found_by mode, …`, innermost frame first.
fn chains(recording: &Recording, name: &str) -> Vec<String> {
    let folder = empty_folder(name);
    recording.write(&folder);
    fs::create_dir(folder.join("root")).expect("a sysroot");
    let list =
        format!("{TEXT:x} T _stext\n{TEXT:x} T _text\n{READ:x} t read_zero\n{ETEXT:x} T _etext\n");
    fs::write(folder.join("kallsyms"), list).expect("a list");
    let arguments = ["--kallsyms", "kallsyms", "--sysroot", "root"];
    for format in FORMATS {
        let run = [&["perf.data", "-q", "-o", "out", "-f", format][..], &arguments].concat();
        run_well(&folder, &run);
    }
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let frame = |frame: &Value| {
        let [addr, module, function, found_by] =
            ["addr", "module", "function", "found_by"].map(|field| text(&frame[field]));
        let mode = if frame["kernel"] == true { "kernel" } else { "user" };
        format!("{addr} {module} {function} {found_by} {mode}")
    };
    let chain = |sample: &Value| {
        let frames = sample["frames"].as_array().expect("frames");
        let frames: Vec<String> = frames.iter().map(frame).collect();
        format!("{} {}: {}", sample["pid"], text(&sample["end"]), frames.join(", "))
    };
    samples(&folder, &arguments).iter().map(chain).collect()
}

fn run_well(folder: &std::path::Path, arguments: &[&str]) {
    run(folder, arguments).expect_status(0);
}

#[test]
fn guests_have_no_names_of_the_host() {
    let mut recording = recording();
    sample(&mut recording, KERNEL, KNOWN, READ + 8, &[IN_KERNEL, READ + 8]);
    // Forms that kernels record: no chain, or only a marker.
    sample(&mut recording, GUEST_KERNEL, KNOWN, READ + 8, &[]);
    sample(&mut recording, GUEST_KERNEL, OTHER, READ + 8, &[IN_GUEST_KERNEL]);
    sample(&mut recording, GUEST_KERNEL, KNOWN, ETEXT + 8, &[IN_KERNEL]);
    sample(&mut recording, GUEST_USER, KNOWN, PROGRAM + 8, &[]);
    sample(&mut recording, GUEST_USER, OTHER, PROGRAM + 8, &[]);
    let found = chains(&recording, "guests");
    let expected = [
        "7 no-module: 0xffffffff81001008 [kernel.kallsyms] read_zero sampled kernel, \
         0x400020 /bin/host - sampled user",
        "7 guest: 0xffffffff81001008 [guest.kernel.kallsyms.7] - sampled kernel",
        "8 guest: 0xffffffff81001008 [guest.kernel.kallsyms] - sampled kernel",
        "7 guest: 0xffffffff81100008 /lib/modules/6.1/kvmclock.ko - sampled kernel",
        "7 guest: 0x400008 /bin/guest - sampled user",
        "8 guest: 0x400008 [guest.user] - sampled user",
    ];
    assert_eq!(found, expected);
}

#[test]
fn chains_stay_on_their_side() {
    let mut recording = recording();
    let guest = [IN_KERNEL, READ + 8, IN_GUEST_KERNEL, READ + 1, READ + 0x21];
    let guest = [&guest[..], &[IN_GUEST_USER, PROGRAM + 8, IN_USER, PROGRAM + 0x20]].concat();
    // The chain of a guest has no frame of the host, and starts with the sampled address.
    sample(&mut recording, GUEST_KERNEL, KNOWN, READ + 1, &guest);
    sample(&mut recording, GUEST_KERNEL, KNOWN, READ + 5, &[IN_GUEST, READ + 0x21]);
    sample(
        &mut recording,
        GUEST_USER,
        OTHER,
        PROGRAM + 8,
        &[IN_GUEST, PROGRAM + 8, PROGRAM + 0x31],
    );
    // The host's kernel ran, entered from the guest.
    let exit = [IN_KERNEL, READ + 8, IN_GUEST_KERNEL, READ + 0x11, IN_KERNEL, READ + 0x40];
    sample(&mut recording, KERNEL, KNOWN, READ + 8, &exit);
    let found = chains(&recording, "guest-chains");
    let guest = "0xffffffff81001020 [guest.kernel.kallsyms.7] - callchain kernel";
    let expected = [
        format!(
            "7 guest: 0xffffffff81001001 [guest.kernel.kallsyms.7] - sampled kernel, {guest}, \
             0x400008 /bin/guest - callchain user"
        ),
        format!("7 guest: 0xffffffff81001005 [guest.kernel.kallsyms.7] - sampled kernel, {guest}"),
        "8 guest: 0x400008 [guest.user] - sampled user, 0x400030 [guest.user] - callchain user"
            .to_owned(),
        "7 guest: 0xffffffff81001008 [kernel.kallsyms] read_zero sampled kernel, \
         0xffffffff81001010 [guest.kernel.kallsyms.7] - callchain kernel"
            .to_owned(),
    ];
    assert_eq!(found, expected);
}

/// The hypervisor is entered by calls of the kernel, so its chains continue there.
#[test]
fn the_hypervisor_is_not_the_kernel() {
    let mut recording = recording();
    let time = recording.next();
    let alone = SampleBuilder {
        misc: HYPERVISOR,
        regs_user: SampleRegs::default(),
        ..SampleBuilder::at(READ + 8, OTHER, OTHER, time)
    };
    recording.data.sample(&alone);
    sample(&mut recording, HYPERVISOR, KNOWN, READ + 8, &[IN_KERNEL, READ + 0x11]);
    sample(&mut recording, USER, KNOWN, PROGRAM + 0x20, &[]);
    let found = chains(&recording, "hypervisor");
    let expected = [
        "8 kernel-only: 0xffffffff81001008 [hypervisor] - sampled kernel",
        "7 no-module: 0xffffffff81001008 [hypervisor] - sampled kernel, \
         0xffffffff81001010 [kernel.kallsyms] read_zero callchain kernel, \
         0x400020 /bin/host - sampled user",
        "7 no-module: 0x400020 /bin/host - sampled user",
    ];
    assert_eq!(found, expected);
}
