//! Frames of the kernel and of a module: functions, inlined functions and lines from files with the recorded build-ids,
//! for all their paths and compressions.

use std::fs;
use std::path::Path;

use serde_json::Value;
use synth::{BuildIdEntry, Feature, MmapFile, Record, SampleBuilder, SampleId, SampleRegs};

use crate::support::cases::root;
use crate::support::mapped::{Recording, findings, samples};
use crate::support::run::{empty_folder, run};

/// Addresses of `_text`, `_stext` and `_etext` that the file states.
const TEXT: u64 = 0xffff_ffff_8100_0000;
const STEXT: u64 = TEXT + 0x10;
const ETEXT: u64 = TEXT + 0x5a;
/// Distance by which the kernel was relocated when it booted.
const SLIDE: u64 = 0x1240_0000;
const MODULE: u64 = 0xffff_ffff_c010_0000;
const KERNEL_ID: [u8; 20] =
    *b"\x2f\x59\x29\x0c\x00\xf1\x94\x7a\xda\x39\xbe\xaa\xf4\x4e\x77\x69\xa0\xfa\x83\x9f";
const MODULE_ID: [u8; 20] =
    *b"\x0b\xd8\x23\xc2\xea\x2b\x8f\x83\x58\xb5\xc0\x66\x20\xd9\xa3\x7b\x93\xc0\xe1\xd1";
const RELEASE: &str = "6.9.0-x";

/// `handler`, called in `do_call`, called in `entry_call`, called in the module.
const CHAIN: [&str; 7] = [
    "handler vmlinux.c:28",
    "check vmlinux.c:8",
    "dispatch vmlinux.c:13",
    "do_call vmlinux.c:18",
    "entry_call vmlinux.c:23",
    "prepare my-mod.c:6",
    "my_ioctl my-mod.c:11",
];

fn file(name: &str) -> Vec<u8> {
    let folder = root().join("crates/unwind-perf/testdata/kernel");
    fs::read(folder.join(name)).expect("a file of the kernel")
}

/// Storage of the kernel's identity in the recording.
#[derive(Clone, Copy)]
enum Ids {
    /// In the table of the header.
    Header,
    /// In the map records.
    Maps,
}

fn recording(reference: &str, module: &str, ids: Ids) -> Recording {
    let mut recording = Recording::new();
    recording.data.feature(&Feature::OsRelease(RELEASE));
    let entry = |id, name| BuildIdEntry { misc: 1, pid: -1, id, sized: true, name };
    if let Ids::Header = ids {
        recording.data.feature(&Feature::BuildId(&[
            entry(&KERNEL_ID, b"[kernel.kallsyms]"),
            entry(&MODULE_ID, module.as_bytes()),
        ]));
    }
    let symbol = if reference == "_text" { TEXT } else { STEXT } + SLIDE;
    let name = format!("[kernel.kallsyms]{reference}");
    map(&mut recording, (symbol, ETEXT + SLIDE - symbol, symbol), &name, (&KERNEL_ID, ids));
    map(&mut recording, (MODULE, 0x1000, 0), module, (&MODULE_ID, ids));
    sample(&mut recording);
    recording
}

fn map(
    recording: &mut Recording,
    (addr, len, pgoff): (u64, u64, u64),
    name: &str,
    (id, ids): (&[u8], Ids),
) {
    const MODE: u16 = 7;
    const KERNEL: u16 = 1;
    let (pid, name) = (u32::MAX, name.as_bytes());
    let record = match ids {
        Ids::Header => Record::Mmap { pid, tid: 0, addr, len, pgoff, name },
        Ids::Maps => {
            let file = MmapFile::BuildId(id);
            Record::Mmap2 { pid, tid: 0, addr, len, pgoff, file, prot: 5, flags: 2, name }
        }
    };
    let misc = record.misc() & !MODE | KERNEL;
    recording.data.record_with(&record, misc, SampleId::default());
}

fn sample(recording: &mut Recording) {
    const CONTEXT_KERNEL: u64 = -128_i64 as u64;
    let time = recording.next();
    let kernel = |offset: u64| TEXT + SLIDE + offset;
    let chain = [CONTEXT_KERNEL, kernel(0x20), kernel(0x3a), kernel(0x55), MODULE + 9];
    let sample = SampleBuilder {
        misc: 1,
        regs_user: SampleRegs::default(),
        stack_user: Default::default(),
        ..SampleBuilder::at(kernel(0x20), 1, 1, time)
    };
    recording.data.sample(&sample.with_callchain(&chain));
}

/// Returns `function file:line` of each frame, innermost first.
fn names(folder: &Path, arguments: &[&str]) -> Vec<String> {
    fs::create_dir_all(folder.join("root")).expect("a sysroot");
    let lines = samples(folder, arguments);
    let text = |value: &Value| value.as_str().unwrap_or("?").rsplit('/').next().map(str::to_owned);
    let name = |frame: &Value| {
        let [function, file] = ["function", "file"].map(|field| text(&frame[field]));
        format!("{} {}:{}", function.unwrap_or_default(), file.unwrap_or_default(), frame["line"])
    };
    let frames = lines[0]["frames"].as_array().expect("frames");
    assert!(frames.iter().all(|frame| frame["kernel"] == true));
    frames.iter().map(name).collect()
}

fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("written");
}

#[test]
fn inlined_functions_and_lines_wherever_the_files_lie() {
    let kernel_entry = ".build-id/2f/59290c00f1947ada39beaaf44e7769a0fa839f";
    let module_entry = ".build-id/0b/d823c2ea2b8f8358b5c06620d9a37b93c0e1d1";
    let dep = format!("root/lib/modules/{RELEASE}/modules.dep");
    // Reference symbol, recorded name of the module, kernel's file, module's file, and source of the latter.
    let places = [
        ("_text", "[my_mod]", "root/boot/vmlinux-6.9.0-x", "kernel/my-mod.ko.zst", "my-mod.ko.zst"),
        (
            "_stext",
            "[my_mod]",
            "root/usr/lib/debug/boot/vmlinux-6.9.0-x",
            "kernel/my-mod.ko",
            "my-mod.ko",
        ),
        (
            "_text",
            "/lib/modules/6.9.0-x/kernel/my-mod.ko.xz",
            "root/lib/modules/6.9.0-x/build/vmlinux",
            "kernel/my-mod.ko.xz",
            "my-mod.ko.xz",
        ),
        // A name without `.gz` for content that gzip compressed.
        (
            "_stext",
            "[my-mod]",
            &format!("root/usr/lib/debug/{kernel_entry}.debug"),
            "extra/my_mod.ko",
            "my-mod.ko.gz",
        ),
    ];
    for (index, (reference, module, kernel_file, module_file, packed)) in places.iter().enumerate()
    {
        for ids in [Ids::Header, Ids::Maps] {
            let folder = empty_folder(&format!("kernel-{index}-{}", ids as u8));
            recording(reference, module, ids).write(&folder);
            put(&folder, kernel_file, &file("vmlinux"));
            put(&folder, &format!("root/lib/modules/{RELEASE}/{module_file}"), &file(packed));
            put(&folder, &dep, format!("{module_file}:\n").as_bytes());
            assert_eq!(names(&folder, &["--sysroot", "root"]), CHAIN, "{index}");
            assert_eq!(findings(&folder, &["--sysroot", "root"]), [], "{index}");
        }
    }
    let folder = empty_folder("kernel-elsewhere");
    recording("_text", "[my_mod]", Ids::Maps).write(&folder);
    put(&folder, "any-name", &file("vmlinux"));
    put(&folder, "other-name", &file("my-mod.ko"));
    let named = ["--sysroot", "root", "--module", "any-name", "--module", "other-name"];
    assert_eq!(names(&folder, &named), CHAIN);
    put(&folder, &format!("cache/{kernel_entry}/elf"), &file("vmlinux"));
    put(&folder, &format!("cache/{module_entry}/elf"), &file("my-mod.ko"));
    let cached = ["--sysroot", "root", "--buildid-dir", "cache"];
    assert_eq!(names(&folder, &cached), CHAIN);
    assert_eq!(names(&folder, &[&cached[..], &["--no-inline"]].concat()).len(), 4);
}

#[test]
fn a_kernel_of_another_build_lends_no_names() {
    let folder = empty_folder("kernel-other");
    recording("_text", "[my_mod]", Ids::Maps).write(&folder);
    let mut other = file("vmlinux");
    let at = other.windows(20).position(|bytes| bytes == KERNEL_ID).expect("the build-id");
    other[at] ^= 1;
    put(&folder, "root/boot/vmlinux-6.9.0-x", &other);
    assert_eq!(names(&folder, &["--sysroot", "root"]), ["? ?:null"; 4]);
    assert_eq!(findings(&folder, &["--sysroot", "root"]), [("kernel-names".to_owned(), 1)]);
}

/// Some recorders wrote the id of one module for all.
#[test]
fn an_id_of_several_modules_proves_nothing() {
    let folder = empty_folder("kernel-shared-id");
    let mut recording = recording("_text", "[my_mod]", Ids::Maps);
    map(&mut recording, (MODULE + 0x10_0000, 0x1000, 0), "[other_mod]", (&MODULE_ID, Ids::Maps));
    recording.write(&folder);
    put(&folder, "root/boot/vmlinux-6.9.0-x", &file("vmlinux"));
    put(&folder, "my-mod.ko", &file("my-mod.ko"));
    let arguments = ["--sysroot", "root", "--module", "my-mod.ko"];
    let found = names(&folder, &arguments);
    assert_eq!(
        (&found[..5], &found[5..]),
        (&CHAIN.map(str::to_owned)[..5], &["? ?:null".to_owned()][..])
    );
    assert_eq!(findings(&folder, &arguments), [("kernel-module-ids".to_owned(), 1)]);
}

/// Each run reports the damage of a symbol list, even if a cache may hold the names.
#[test]
fn damaged_lines_of_a_list_are_reported() {
    let folder = empty_folder("kernel-list-damaged");
    let case = root().join("testdata/cases/syscalls");
    fs::copy(case.join("perf.data"), folder.join("perf.data")).expect("a recording");
    fs::create_dir(folder.join("root")).expect("a sysroot");
    let list = fs::read(case.join("kallsyms")).expect("a list");
    fs::write(folder.join("kallsyms"), &list).expect("a list");
    let damaged = |status| {
        let arguments = ["perf.data", "-q", "--sysroot", "root", "--kallsyms", "kallsyms"];
        let run = run(&folder, &[&arguments[..], &["--cache", "cache"]].concat());
        let json = run.expect_status(status).json();
        let findings = json["summary"]["findings"].as_array().expect("findings");
        let damaged = findings.iter().filter(|finding| finding["kind"] == "kallsyms-damaged");
        damaged.map(|finding| finding["message"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(damaged(0), [""; 0]);
    let mut zeros = list;
    zeros[2..10].fill(0);
    fs::write(folder.join("kallsyms"), zeros).expect("a list");
    let message = "\"kallsyms: 1 lines of the list of kernel symbols are damaged; names of the kernel may be wrong or missing\"";
    for _ in 0..2 {
        assert_eq!(damaged(1), [message]);
    }
}
