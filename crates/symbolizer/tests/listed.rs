//! Names that come from lists: the kernel's, and those that simpleperf wrote.

use std::path::{Path, PathBuf};

use address::{Avma, BuildId, FileOffset, Pid};
use module_map::{FileIdentity, FileOptions, Library, MapEvent, Timeline};
use symbolizer::{
    Demangle, DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols, KernelListPlaces,
    KernelNames, NoKernelNames, RecordedKernel,
};

/// Where the kernel of the recording lay, and how far that is from where its list has it.
const TEXT: u64 = 0xffff_ffff_9a00_0000;
const SLIDE: u64 = 0x1900_0000;

const LIST: &str = "ffffffff81000000 T _text\nffffffff81000100 t do_one\n\
    ffffffff81000300 T do_two\nffffffff81000888 T _etext\n";

fn map<'a>(pid: i32, start: u64, len: u64, offset: u64, path: &'a str) -> MapEvent<'a> {
    MapEvent {
        pid: Pid(pid),
        kernel: pid == -1,
        start: Avma(start),
        len,
        offset: FileOffset(offset),
        executable: true,
        writable: false,
        path: path.as_bytes(),
        identity: FileIdentity::default(),
    }
}

fn with_id<'a>(event: MapEvent<'a>, id: &str) -> MapEvent<'a> {
    let build_id = BuildId::from_hex(id);
    MapEvent { identity: FileIdentity { build_id, ..FileIdentity::default() }, ..event }
}

/// A recording of a kernel whose code ends `len` bytes from its start.
fn recorded(len: u64) -> Timeline {
    let mut timeline = Timeline::new();
    timeline.map(&map(-1, TEXT, len, TEXT, "[kernel.kallsyms]_text"));
    timeline
}

/// Reads the list `text`, which the user named.
fn read(test: &str, text: &str, timeline: &Timeline) -> Result<KernelNames, NoKernelNames> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kallsyms-{test}"));
    std::fs::write(&path, text).expect("the list is written");
    let library = Library::new(FileOptions::default());
    let kernel = RecordedKernel::find(&[], timeline, &library);
    let recording = Path::new("perf.data");
    let places = KernelListPlaces { named: Some(&path), recording, library: &library };
    kernel.read_list(places, timeline, None)
}

#[test]
fn a_list_is_moved_to_where_the_kernel_lay() {
    assert_eq!(TEXT - SLIDE, 0xffff_ffff_8100_0000);
    let names = read("moved", LIST, &recorded(0x888)).expect("the kernel's list");
    let one = Some((&b"do_one"[..], Avma(TEXT + 0x100)));
    assert_eq!(names.lookup(Avma(TEXT + 0x2ff)), one);
    assert_eq!(names.lookup(Avma(TEXT - 1)), None);
}

#[test]
fn the_list_of_another_kernel_is_refused() {
    let error = read("other", LIST, &recorded(0x999)).expect_err("another end");
    let NoKernelNames::OtherKernel { listed, recorded: end, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*listed, *end), (Avma(TEXT + 0x888), Avma(TEXT + 0x999)));
    let sentence = error.to_string();
    let (_, sentence) = sentence.split_once(" is of ").expect("a path, a sentence");
    assert_eq!(
        sentence,
        "another kernel: its code ends at 0xffffffff9a000888, that of the recorded one at \
            0xffffffff9a000999"
    );
    let hidden = "0000000000000000 T _text\n0000000000000000 T _etext\n";
    let error = read("hidden", hidden, &recorded(0x888)).expect_err("no addresses");
    let sentence = error.to_string();
    let (_, sentence) = sentence.split_once(": ").expect("a path, a sentence");
    assert_eq!(sentence, "all 2 addresses are zero: they were hidden (kernel.kptr_restrict)");
}

#[test]
fn an_id_that_several_modules_have_proves_nothing() {
    let mut timeline = recorded(0x888);
    for (start, path, id) in
        [(0, "[ext4]", "aa"), (0x1000, "[xfs]", "aa"), (0x2000, "[btrfs]", "bb")]
    {
        let event = map(-1, 0xffff_ffff_c000_0000 + start, 0x1000, 0, path);
        timeline.map(&with_id(event, id));
    }
    let library = Library::new(FileOptions::default());
    let kernel = RecordedKernel::find(&[], &timeline, &library);
    assert_eq!(kernel.shared_ids, [BuildId::from_hex("aa").expect("an id")]);
    assert!(kernel.files.is_empty());
}

#[test]
fn names_of_the_device() {
    let mut timeline = Timeline::new();
    timeline.map(&map(1, 0x7000_0000, 0x1000, 0x1000, "/system/lib64/liba.so"));
    let symbol = |address, name| DeviceSymbol { address, size: 0x100, name };
    let file = DeviceFile {
        path: b"/system/lib64/liba.so",
        kind: DeviceFileKind::from_dso_type(2),
        min_vaddr: 0x2000,
        offset_of_min_vaddr: Some(0x1000),
        symbols: vec![symbol(0x2100, b"_ZN5inner3runEv"), symbol(0x2000, b"__dl__Z5outeri")],
    };
    let module = timeline.modules()[0].clone();
    let ask = |demangle, relative| {
        let found = DeviceSymbols::new([file.clone()], demangle).lookup(&module, relative);
        found.map(|(name, start)| (String::from_utf8_lossy(&name).into_owned(), start))
    };
    // A place is an offset in the file; the smallest address, 0x2000, is at 0x1000 of it.
    let named = |name: &str, start| Some((name.to_owned(), start));
    assert_eq!(ask(Demangle::Full, 0x11ff), named("inner::run()", 0x1100));
    assert_eq!(ask(Demangle::Full, 0x1000), named("[linker]outer(int)", 0x1000));
    assert_eq!(ask(Demangle::None, 0x10ff), named("__dl__Z5outeri", 0x1000));
    assert_eq!(ask(Demangle::Full, 0x1200), None);
    assert_eq!(ask(Demangle::Full, 0xfff), None);
}
