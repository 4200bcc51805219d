//! Tests of remedies for truncated chains, which depend on the sources tried.

use std::path::PathBuf;
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, Pid};
use host::MemoryHost;
use image_store::{ExtraFiles, Fetch, FetchKind, Fetcher, FileOptions};
use module_map::{FileIdentity, MapEvent};
use synth::{ElfBuilder, Endian, Section, Segment, elf_const, gnu_build_id_note, gnu_debuglink};

use super::*;

const NOWHERE: [(&[u8], Option<&str>); 6] = [
    (b"/nowhere/a", Some("d587e5ae")),
    (b"/nowhere/b", None),
    (b"//anon", None),
    (b"/memfd:x (deleted)", Some("d587e5ae")),
    (b"[uprobes]", None),
    (b"/nowhere/c (deleted)", None),
];

/// Missing files with and without a build-id, memory without a file, and a file without a name.
fn mapped() -> Timeline {
    let mut timeline = Timeline::new();
    for (index, (path, build_id)) in (0..).zip(NOWHERE) {
        timeline.map(&MapEvent {
            pid: Pid(7),
            kernel: false,
            start: Avma(0x1000 * (index + 1)),
            len: 0x1000,
            offset: FileOffset(0),
            executable: true,
            writable: false,
            path,
            identity: FileIdentity {
                build_id: build_id.and_then(BuildId::from_hex),
                ..FileIdentity::default()
            },
        });
    }
    timeline
}

/// Returns a function that gives the remedies under these options, as text.
fn helps(options: FileOptions) -> impl Fn(Option<u32>, EndReason) -> String {
    let timeline = mapped();
    let images = ImageStore::new(options);
    for module in timeline.modules() {
        let _missing = images.image(module);
    }
    move |module, end| said(remedy(module.map(ModuleId), end, &timeline, &images))
}

fn said(remedy: Option<Remedy>) -> String {
    remedy.map_or_else(String::new, |remedy| remedy.sentence(Spelling::KEYS))
}

fn options() -> FileOptions {
    FileOptions { host: Arc::new(MemoryHost::new()), ..FileOptions::default() }
}

/// The commands that keep a file.
const KEPT: &str = "unwind-perf record stores such files, as does perf buildid-cache --add FILE";

/// Adds the option for servers, if this build has it.
fn or_debuginfod(others: &str) -> String {
    let (first, last) = others.rsplit_once(", ").unwrap_or(("", others));
    match (cfg!(feature = "debuginfod"), first) {
        (true, _) => format!("{others} or debuginfod"),
        (false, "") => last.to_owned(),
        (false, _) => format!("{first} or {last}"),
    }
}

#[test]
fn files_that_are_missing() {
    let help = helps(options());
    let with_id = or_debuginfod("modules=FILE, extra_dirs=DIR, sysroot=DIR");
    assert_eq!(
        help(Some(0), EndReason::NoModule),
        format!("add {with_id} for the file with build-id d587e5ae; {KEPT}")
    );
    assert_eq!(
        help(Some(1), EndReason::NoModule),
        "add modules=FILE, extra_dirs=DIR or sysroot=DIR for the file; unwind-perf record stores such files"
    );
    // Its path names no file.
    let by_content = or_debuginfod("modules=FILE, extra_dirs=DIR");
    assert_eq!(
        help(Some(3), EndReason::NoModule),
        format!("add {by_content} for the file with build-id d587e5ae; {KEPT}")
    );
    assert_eq!(
        help(Some(1), EndReason::BadUnwindInfo),
        "add modules=FILE with an intact copy of the same build"
    );
}

struct NoServer;

impl Fetch for NoServer {
    fn fetch(&self, _: BuildId, _: FetchKind) -> Option<PathBuf> {
        None
    }
}

#[test]
fn what_was_tried_is_not_advised_again() {
    let extra = ExtraFiles::below(&MemoryHost::new(), &["/empty".into()]);
    let fetcher = Some(Fetcher(Arc::new(NoServer)));
    let help = helps(FileOptions { extra: extra.clone(), ..options() });
    let left = or_debuginfod("modules=FILE, sysroot=DIR");
    assert_eq!(
        help(Some(0), EndReason::NoModule),
        format!("add {left} for the file with build-id d587e5ae; {KEPT}")
    );
    let sysroots = vec!["/system".into()];
    let help = helps(FileOptions { extra, fetcher, sysroots, ..options() });
    assert_eq!(
        help(Some(0), EndReason::NoModule),
        format!("add modules=FILE for the file with build-id d587e5ae; {KEPT}")
    );
}

#[test]
fn memory_without_a_file() {
    let help = helps(options());
    let memory = |pid: &str| {
        format!(
            "let its JIT compiler keep frame pointers or write a jitdump (perf record -k mono); if it \
             is a copy of a file's code, add map=OBJECT@{pid},START,LEN,OFFSET"
        )
    };
    assert_eq!(help(Some(2), EndReason::AnonymousMemory), memory("7"));
    assert_eq!(help(None, EndReason::AnonymousMemory), memory("PID"));
}

#[test]
fn a_file_whose_path_leads_to_another_is_to_be_given_by_its_name() {
    let help = helps(options());
    assert_eq!(
        help(Some(5), EndReason::NoModule),
        "add modules=c=FILE, the recorded file; unwind-perf record stores such files"
    );
}

#[test]
fn pages_of_the_kernel_and_return_probes() {
    let help = helps(options());
    assert_eq!(help(Some(4), EndReason::AnonymousMemory), "");
    assert_eq!(
        help(Some(1), EndReason::ReturnProbe),
        "record without return probes (uretprobe, perf probe 'FUNCTION%return') in that function"
    );
    let timeline = mapped();
    let images = ImageStore::new(options());
    let reason = |module, end| reason(Some(ModuleId(module)), end, &timeline, &images);
    assert_eq!(reason(1, EndReason::ReturnProbe), "a return probe replaced the return address");
    assert_eq!(reason(4, EndReason::AnonymousMemory), "the code is a page that the kernel maps");
}

/// A program at a path, with these sections besides its code.
fn program(path: &str, sections: Vec<Section>, options: FileOptions) -> (Timeline, ImageStore) {
    let mut timeline = Timeline::new();
    let elf = ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x100)],
        sections: [vec![Section::text(0x1000, vec![0xc3; 0x100])], sections].concat(),
        ..ElfBuilder::x86_64()
    };
    let host = MemoryHost::new();
    host.insert(path, elf.build());
    timeline.map(&MapEvent {
        pid: Pid(7),
        kernel: false,
        start: Avma(0x1000),
        len: 0x1000,
        offset: FileOffset(0x1000),
        executable: true,
        writable: false,
        path: path.as_bytes(),
        identity: FileIdentity::default(),
    });
    (timeline, ImageStore::new(FileOptions { host: Arc::new(host), ..options }))
}

fn section(name: &str, bytes: Vec<u8>) -> Section {
    Section::new(name, elf_const::SHT_PROGBITS, bytes)
}

fn note() -> Section {
    let bytes = gnu_build_id_note(Endian::Little, &[0xab; 4]);
    Section { sh_type: elf_const::SHT_NOTE, ..section(".note.gnu.build-id", bytes) }
}

/// Returns the remedies for truncated chains and for missing names of such a program.
fn for_program(path: &str, sections: Vec<Section>, options: FileOptions) -> (String, String) {
    let (timeline, images) = program(path, sections, options);
    let module = &timeline.modules()[0];
    let file = images.image(module).expect("the program");
    file.debug(&images);
    let unwind = remedy(Some(ModuleId(0)), EndReason::NoUnwindInfo, &timeline, &images);
    let names = crate::runs::account::nameless::of_file(module, file, &images);
    (said(unwind), said(names))
}

const BUILD: &str = "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer";

#[test]
fn programs_of_ones_own() {
    let options = or_debuginfod("debug_dirs=DIR, modules=FILE");
    let given = format!("add {options} for its debug information (build-id abababab)");
    let expected = (
        format!("{given}; or {BUILD}"),
        format!("it has no symbols: {given}; or build it with -g"),
    );
    assert_eq!(for_program("/opt/app", vec![note()], self::options()), expected);
    // With exported symbols it is not called stripped.
    for (place, lack) in [(1, "it has exported symbols only"), (0, "it has no symbols")] {
        // A function that is defined, or imported.
        let symbol = [&[1, 0, 0, 0, 0x12, 0, place, 0][..], &[0; 16]].concat();
        let exported = vec![note(), section(".dynsym", [vec![0; 24], symbol].concat())];
        let (_, names) = for_program("/opt/app", exported, self::options());
        assert_eq!(names, format!("{lack}: {given}; or build it with -g"));
    }
    // Without a build-id, no server is queried, and a debug file is identified only by its name.
    let link = section(".gnu_debuglink", gnu_debuglink(Endian::Little, "app.dbg", 7));
    let given = "add debug_dirs=DIR or modules=FILE for its debug information, the file app.dbg of the same build";
    let expected = (
        format!("{given}; or {BUILD}"),
        format!("it has no symbols: {given}; or build it with -g"),
    );
    assert_eq!(for_program("/opt/app", vec![link], self::options()), expected);
    // Nothing would be known to belong to it.
    let alone = "it has no symbols and no build-id: build it with -g".to_owned();
    assert_eq!(for_program("/opt/app", Vec::new(), self::options()), (BUILD.to_owned(), alone));
}

#[test]
fn packaged_programs() {
    let default = FileOptions { debug_dirs: vec!["/usr/lib/debug".into()], ..options() };
    let options = or_debuginfod("debug_dirs=DIR, modules=FILE");
    let (_, names) = for_program("/usr/bin/app", vec![note()], default.clone());
    let given = "install its debug package (build-id abababab), or add";
    assert_eq!(names, format!("it has no symbols: {given} {options}"));
    // Where the default folder is not searched, installing leads nowhere.
    let named = vec![PathBuf::from("/dbg")];
    let named = FileOptions { debug_dirs: named.clone(), named_debug_dirs: named, ..default };
    let (_, names) = for_program("/usr/bin/app", vec![note()], named);
    let options = or_debuginfod("modules=FILE");
    let given = "for its debug information (build-id abababab)";
    assert_eq!(names, format!("it has no symbols: add {options} {given}"));
}

/// If debug information was read, neither it nor a build with -g is advised.
#[test]
fn files_with_all_that_there_is() {
    let debug = vec![note(), section(".debug_info", vec![0])];
    assert_eq!(for_program("/opt/app", debug, options()), (BUILD.to_owned(), String::new()));
    let symbols = vec![note(), section(".symtab", vec![0; 24])];
    let (unwind, names) = for_program("/opt/app", symbols, options());
    assert!(unwind.contains(" for its debug information (build-id abababab)"), "{unwind}");
    assert_eq!(names, "");
    // Debug information in the debug file counts, too.
    let host = MemoryHost::new();
    let elf = ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x100)],
        sections: vec![Section::text(0x1000, vec![0xc3; 0x100]), note()],
        ..ElfBuilder::x86_64()
    };
    host.insert("/opt/app", elf.build());
    let elf = ElfBuilder { sections: vec![note(), section(".debug_info", vec![0])], ..elf };
    host.insert("/dbg/.build-id/ab/ababab.debug", elf.build());
    let options =
        FileOptions { host: Arc::new(host), debug_dirs: vec!["/dbg".into()], ..options() };
    let (timeline, _) = program("/opt/app", Vec::new(), FileOptions::default());
    let images = ImageStore::new(options);
    let module = &timeline.modules()[0];
    let file = images.image(module).expect("the program");
    assert!(file.debug(&images).is_some());
    assert_eq!(crate::runs::account::nameless::of_file(module, file, &images), None);
    let unwind = remedy(Some(ModuleId(0)), EndReason::NoUnwindInfo, &timeline, &images);
    assert_eq!(said(unwind), BUILD);
}
