//! Tests of names from lists: the kernel's, and those that simpleperf wrote.

use std::path::Path;
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, Pid};
use host::MemoryHost;
use image_store::{FileOptions, ImageStore};
use module_map::{FileIdentity, MapEvent, Timeline};
use options::Spelling;
use symbolizer::{
    Demangle, DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols, KernelListSources,
    KernelNames, NoKernelNames, RecordedKernel,
};

/// Address of the recorded kernel, and its displacement from the list.
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

/// A recording of a kernel with code of `len` bytes.
fn recorded(len: u64) -> Timeline {
    let mut timeline = Timeline::new();
    timeline.map(&map(-1, TEXT, len, TEXT, "[kernel.kallsyms]_text"));
    timeline
}

/// A store on a host with these files, a build-id store and a folder of perf maps.
fn store(files: &[(&str, &[u8])]) -> ImageStore {
    let host = MemoryHost::new();
    for &(path, bytes) in files {
        host.insert(path, bytes);
    }
    ImageStore::new(FileOptions {
        host: Arc::new(host),
        build_id_dirs: vec!["/cache".into()],
        perf_map_dirs: vec!["/maps".into()],
        trust_running_kernel: true,
        ..FileOptions::default()
    })
}

fn places<'a>(named: Option<&'a str>, images: &'a ImageStore) -> KernelListSources<'a> {
    KernelListSources { named: named.map(Path::new), recording: Path::new("/recording"), images }
}

/// Reads the list `text` as one that the user named.
fn read(text: &str, timeline: &Timeline) -> Result<KernelNames, NoKernelNames> {
    let images = store(&[("/list", text.as_bytes())]);
    let kernel = RecordedKernel::find(&[], timeline, &images);
    kernel.read_list(places(Some("/list"), &images), timeline, None)
}

#[test]
fn a_list_is_moved_to_where_the_kernel_lay() {
    assert_eq!(TEXT - SLIDE, 0xffff_ffff_8100_0000);
    let names = read(LIST, &recorded(0x888)).expect("the kernel's list");
    let one = Some((&b"do_one"[..], Avma(TEXT + 0x100)));
    assert_eq!(names.lookup(Avma(TEXT + 0x2ff)), one);
    assert_eq!(names.lookup(Avma(TEXT - 1)), None);
}

#[test]
fn the_list_of_another_kernel_is_refused() {
    let error = read(LIST, &recorded(0x999)).expect_err("another end");
    let NoKernelNames::OtherKernel { listed, recorded: end, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*listed, *end), (Avma(TEXT + 0x888), Avma(TEXT + 0x999)));
    assert_eq!(
        error.to_string(),
        "/list belongs to another kernel: its code ends at 0xffffffff9a000888, the recorded kernel's at \
            0xffffffff9a000999"
    );
    let hidden = "0000000000000000 T _text\n0000000000000000 T _etext\n";
    let error = read(hidden, &recorded(0x888)).expect_err("no addresses");
    assert_eq!(
        error.to_string(),
        "/list: the kernel hides the addresses: all 2 are zero (kernel.kptr_restrict)"
    );
}

/// Returns the build-id note of the running kernel.
fn notes(id: &[u8; 4]) -> Vec<u8> {
    let words = [4_u32, 4, 3].map(u32::to_ne_bytes);
    [words.as_flattened(), b"GNU\0", id].concat()
}

/// Formats the reason that there is no list, and its remedy.
fn advised(error: &NoKernelNames) -> String {
    let remedy = error.remedy().filter(|_| error.has_no_list());
    let remedy = remedy.map_or_else(String::new, |it| it.sentence(Spelling::KEYS));
    format!("{error}; {remedy}")
}

fn found(files: &[(&str, &[u8])]) -> String {
    let event = map(-1, TEXT, 0x888, TEXT, "[kernel.kallsyms]_text");
    let mut timeline = Timeline::new();
    timeline.map(&with_id(event, "aabbccdd"));
    let images = store(files);
    let kernel = RecordedKernel::find(&[], &timeline, &images);
    let places = places(None, &images);
    let now = kernel.read_list(places, &timeline, None);
    let prefetched = kernel.read_list(places, &timeline, places.prefetch(&timeline));
    let shown = |names: Result<KernelNames, NoKernelNames>| match names {
        Ok(names) => {
            let (name, start) = names.lookup(Avma(TEXT + 0x300)).expect("a symbol");
            format!("{} {start:?}", String::from_utf8_lossy(name))
        }
        Err(error) => advised(&error),
    };
    let now = shown(now);
    assert_eq!(shown(prefetched), now);
    now
}

#[test]
fn where_a_list_is_looked_for() {
    let list = |name: &str| LIST.replace("do_two", name).into_bytes();
    let [beside, cache, old, running] = ["beside", "cache", "old", "running"].map(list);
    let same = notes(&[0xaa, 0xbb, 0xcc, 0xdd]);
    let files: [(&str, &[u8]); 5] = [
        ("/recording/kcore_dir/kallsyms", &beside),
        ("/cache/[kernel.kallsyms]/aabbccdd/kallsyms", &cache),
        ("/cache/[kernel.kallsyms]/aabbccdd", &old),
        ("/sys/kernel/notes", &same),
        ("/proc/kallsyms", &running),
    ];
    let start = format!("{:?}", Avma(TEXT + 0x300));
    assert_eq!(found(&files), format!("beside {start}"));
    assert_eq!(found(&files[1..2]), format!("cache {start}"));
    assert_eq!(found(&files[2..]), format!("old {start}"));
    assert_eq!(found(&files[3..]), format!("running {start}"));
    let missing = "the running kernel states no build-id; add kallsyms=FILE";
    assert_eq!(found(&files[4..]), missing);
    let other = notes(&[1, 2, 3, 4]);
    assert_eq!(
        found(&[("/sys/kernel/notes", &other)]),
        "the recorded kernel has build-id aabbccdd, the running one 01020304; add \
            kallsyms=FILE"
    );
}

#[test]
fn a_recording_that_does_not_say_which_kernel_it_was() {
    let (timeline, images) = (recorded(0x888), store(&[]));
    let kernel = RecordedKernel::find(&[], &timeline, &images);
    let error = kernel.read_list(places(None, &images), &timeline, None).expect_err("no id");
    assert_eq!(
        advised(&error),
        "the recording does not identify its kernel, and it is not the running one; run sudo cat \
         /proc/kallsyms > kallsyms on the recorded machine before it restarts, and add kallsyms=kallsyms here"
    );
    let error = kernel.read_list(places(Some("/none"), &images), &timeline, None);
    let error = error.expect_err("no list").to_string();
    assert!(error.starts_with("cannot read /none: "), "{error}");
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
    let images = store(&[]);
    let kernel = RecordedKernel::find(&[], &timeline, &images);
    assert_eq!(kernel.shared_ids, [BuildId::from_hex("aa").expect("an id")]);
    assert!(kernel.files.is_empty());
}

/// A large number of ids, each of two modules.
#[test]
fn very_many_ids_that_prove_nothing() {
    const IDS: u64 = 20_000;
    let mut timeline = recorded(0x888);
    for id in 0..IDS {
        for module in 0..2 {
            let start = 0xffff_ffff_c000_0000 + 0x2000 * id + 0x1000 * module;
            let name = format!("[m{id}_{module}]");
            let event = map(-1, start, 0x1000, 0, &name);
            timeline.map(&with_id(event, &format!("{:016x}", id + 1)));
        }
    }
    let kernel = RecordedKernel::find(&[], &timeline, &store(&[]));
    assert_eq!((kernel.shared_ids.len() as u64, kernel.files.len()), (IDS, 0));
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
    // The address is a file offset; the smallest address, 0x2000, is at offset 0x1000.
    let named = |name: &str, start| Some((name.to_owned(), start));
    assert_eq!(ask(Demangle::Full, 0x11ff), named("inner::run()", 0x1100));
    assert_eq!(ask(Demangle::Full, 0x1000), named("[linker]outer(int)", 0x1000));
    assert_eq!(ask(Demangle::None, 0x10ff), named("__dl__Z5outeri", 0x1000));
    assert_eq!(ask(Demangle::Full, 0x1200), None);
    assert_eq!(ask(Demangle::Full, 0xfff), None);
}
