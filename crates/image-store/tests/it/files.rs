//! Candidates for files: order and refusal.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use address::{BuildId, FileOffset, Svma};
use host::RestrictedHost;
use image_store::{ExtraFiles, Fetch, FetchKind, Fetcher, FileOptions, ImageStore, LoadError};
use module_map::{MapEvent, Module, Timeline};
use synth::{ElfBuilder, Section, Segment, Symbol, elf_const, gnu_build_id_note};

use crate::support::{code, code_of, machine};

/// A program with a build-id of bytes `id`.
pub(crate) fn elf(id: u8) -> Vec<u8> {
    builder(id).build()
}

pub(crate) fn builder(id: u8) -> ElfBuilder {
    let note = Section {
        flags: elf_const::SHF_ALLOC,
        addr: 0x200,
        align: 4,
        ..Section::new(
            ".note.gnu.build-id",
            elf_const::SHT_NOTE,
            gnu_build_id_note(synth::Endian::Little, &[id; 20]),
        )
    };
    ElfBuilder {
        segments: vec![Segment::load_rodata(0, 0, 0x600), Segment::load_text(0x600, 0x1600, 0x10)],
        sections: vec![note, Section::text(0x1600, vec![0xc3; 16])],
        symbols: vec![Symbol::function("f", 0x1600, 16)],
        ..ElfBuilder::x86_64()
    }
}

/// The same build-id in hexadecimal.
pub(crate) fn hex(id: u8) -> String {
    format!("{id:02x}").repeat(20)
}

fn module(event: &MapEvent<'_>) -> Arc<Module> {
    let mut timeline = Timeline::new();
    timeline.map(event);
    timeline.modules()[0].clone()
}

fn opened(options: FileOptions, module: &Module) -> Result<PathBuf, String> {
    let store = ImageStore::new(options);
    let file = store.image(module);
    file.map(|file| file.image().path().to_owned()).map_err(ToString::to_string)
}

/// simpleperf names a library in a package by both paths; the offset of its mapping is relative to the library.
#[test]
fn a_library_in_a_package_is_found_by_its_name_there() {
    const NAME: &str = "/data/app/base.apk!/lib/x86_64/libx.so";
    let (archive, _) = synth::stored_zip(b"lib/x86_64/libx.so", &elf(7));
    let at = |path: &str, name: &str, id: u8| {
        let (host, options) = machine(&[(path, &archive)]);
        let extra = ExtraFiles::below(&*host, &["/extra".into()]);
        let options = FileOptions { extra, ..options };
        let module = module(&code_of(code(1, 0x7f00_0000, 0x1000, 0, name), &hex(id)));
        let store = ImageStore::new(options);
        let image = store.image(&module).map_err(ToString::to_string)?;
        let found = image.image().svma_of_offset(FileOffset(0x600), true);
        Ok::<_, String>((image.image().path().to_owned(), image.image().base(), found))
    };
    let found = |path: &str| Ok((PathBuf::from(path), FileOffset(0), Some(Svma(0x1600))));
    assert_eq!(at("/data/app/base.apk", NAME, 7), found(NAME));
    let in_extra = "/extra/deep/base.apk!/lib/x86_64/libx.so";
    assert_eq!(at("/extra/deep/base.apk", NAME, 7), found(in_extra));
    assert!(at("/data/app/base.apk", NAME, 8).expect_err("another library").contains("build-id"));
    let missing = |path, name| at(path, name, 7).expect_err("nothing there");
    let other = NAME.replace("libx", "liby");
    assert_eq!(missing("/data/app/base.apk", &other), missing("/none", &other));
    // A file without the name of a package is not treated as one.
    let zip = NAME.replace(".apk", ".zip");
    assert_eq!(missing("/data/app/base.zip", &zip), missing("/none", &zip));
}

#[test]
fn candidates_are_tried_in_their_order_and_only_by_content() {
    let id = hex(7);
    let wanted = module(&code_of(code(1, 0x1000, 0x1000, 0, "/opt/app"), &id));
    let entry = format!(".build-id/07/{}", &id[2..]);
    let places = [
        "/named/other-name".to_owned(),
        "/mapped/app".to_owned(),
        "/sysroot/opt/app".to_owned(),
        format!("/cache/{entry}/elf"),
        format!("/old/{entry}"),
        format!("/cache/opt/app/{id}/elf"),
        format!("/debug/{entry}"),
        "/debug/opt/app".to_owned(),
    ];
    let (host, options) = machine(&[]);
    places.iter().for_each(|place| host.insert(place, elf(7)));
    let options = FileOptions {
        modules: vec![places[0].clone().into()],
        path_map: vec![(b"/opt".to_vec(), b"/mapped".to_vec())],
        sysroots: vec!["/sysroot".into()],
        build_id_dirs: vec!["/cache".into(), "/old".into()],
        debug_dirs: vec!["/debug".into()],
        ..options
    };
    for place in &places {
        // All earlier candidates have the right name and the wrong content.
        assert_eq!(opened(options.clone(), &wanted), Ok(place.into()));
        host.insert(place, elf(8));
    }
    let refused = opened(options, &wanted).expect_err("nothing fits");
    let other = hex(8);
    assert_eq!(
        refused,
        format!("/named/other-name has build-id {other}, the recorded one is {id}")
    );
}

#[test]
fn without_a_recorded_id_only_names_lead_to_files() {
    let (_, options) = machine(&[("/dir/app", &elf(7))]);
    let wanted = module(&code(1, 0x1000, 0x1000, 0, "/opt/app"));
    let options =
        FileOptions { modules: vec!["/dir/app".into()], sysroots: vec!["/dir".into()], ..options };
    assert_eq!(opened(options.clone(), &wanted), Ok("/dir/app".into()));
    let other = module(&code(1, 0x1000, 0x1000, 0, "/opt/other"));
    assert_eq!(opened(options, &other), Err("file not found".to_owned()));
}

/// Inode numbers are reused, so a copy is valid for one recording only. On another machine only the copy is proven.
#[test]
fn a_copy_for_the_recording_is_the_file_without_a_recorded_id() {
    const NAME: &str = "8-1-10-0-af63a24c860189fe";
    let inode = module_map::Inode { major: 8, minor: 1, number: 16, generation: 0 };
    let event = code(1, 0x1000, 0x1000, 0, "");
    let deleted = MapEvent {
        path: b"/",
        identity: module_map::FileIdentity { inode: Some(inode), ..event.identity },
        ..event
    };
    let wanted = module(&deleted);
    assert_eq!(wanted.copy_name().as_deref(), Some(NAME));
    let copy = format!("/store/by-recording/key/{NAME}/elf");
    let (_, options) = machine(&[(&copy, &elf(7)), ("/store/other/elf", &elf(8))]);
    let found = |folder: &str, trust_running_kernel| {
        let recorded_copies = vec![folder.into()];
        let options = FileOptions { recorded_copies, trust_running_kernel, ..options.clone() };
        let store = ImageStore::new(options);
        let path = store.image(&wanted).map(|file| file.image().path().to_owned());
        (path.ok(), store.proof(&wanted))
    };
    let proven = (Some(PathBuf::from(&copy)), Some(image_store::FileProof::Inode));
    for is_here in [true, false] {
        assert_eq!(found("/store/by-recording/key", is_here), proven);
        assert_eq!(found("/store/by-recording/none", is_here), (None, None));
    }
    assert_eq!(module(&event).copy_name(), None);
}

#[test]
fn memory_of_a_memfd_is_found_by_its_id_alone() {
    let (_, options) = machine(&[("/dir/copy", &elf(7))]);
    let options = FileOptions { modules: vec!["/dir/copy".into()], ..options };
    let memfd = code(1, 0x1000, 0x1000, 0, "/memfd:copy (deleted)");
    let with_id = module(&code_of(memfd, &hex(7)));
    assert_eq!(opened(options.clone(), &with_id), Ok("/dir/copy".into()));
    let unknown = module(&memfd);
    assert_eq!(opened(options, &unknown), Err("the name is not a path".to_owned()));
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let (host, options) = machine(&[("/bin/dir/inside", b""), ("/bin/text", b"#!/bin/sh\n")]);
    host.insert_special("/bin/fifo");
    for (path, error) in [
        ("/bin/dir", "/bin/dir is not a regular file"),
        ("/bin/fifo", "/bin/fifo is not a regular file"),
        ("/bin/text", "/bin/text is not an ELF file"),
    ] {
        let module = module(&code(1, 0x1000, 0x1000, 0, path));
        assert_eq!(opened(options.clone(), &module), Err(error.to_owned()));
    }
    // On the real machine, opening a FIFO without a writer would block forever.
    let options =
        FileOptions { modules: vec![PathBuf::from("/dev/null")], ..FileOptions::default() };
    let refused = opened(options, &module(&code(1, 0x1000, 0x1000, 0, "/x/null")));
    assert_eq!(refused, Err("/dev/null is not a regular file".to_owned()));
}

struct Server(PathBuf, Mutex<Vec<(BuildId, FetchKind)>>);

impl Fetch for Server {
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        self.1.lock().expect("no panic").push((id, kind));
        (kind == FetchKind::Executable).then(|| self.0.clone())
    }
}

#[test]
fn servers_are_asked_last_and_not_believed() {
    let (_, options) = machine(&[("/cache/served", &elf(7))]);
    let server = Arc::new(Server("/cache/served".into(), Mutex::default()));
    let store = ImageStore::new(FileOptions { fetcher: Some(Fetcher(server.clone())), ..options });
    let good = module(&code_of(code(1, 0x1000, 0x1000, 0, "/none/app"), &hex(7)));
    assert!(store.image(&good).is_ok());
    let bad = module(&code_of(code(1, 0x1000, 0x1000, 0, "/none/other"), &hex(9)));
    assert!(matches!(store.image(&bad), Err(LoadError::BuildId { .. })));
    let asked: Vec<_> = server
        .1
        .lock()
        .expect("no panic")
        .iter()
        .map(|(id, kind)| (id.to_string(), *kind))
        .collect();
    assert_eq!(asked, [(hex(7), FetchKind::Executable), (hex(9), FetchKind::Executable)]);
}

#[test]
fn servers_are_not_asked_for_a_kernel_that_is_at_hand() {
    let (_, options) = machine(&[("/dir/vmlinux", &elf(7))]);
    let server = Arc::new(Server("/none".into(), Mutex::default()));
    let options = FileOptions { modules: vec!["/dir/vmlinux".into()], ..options };
    let store = ImageStore::new(FileOptions { fetcher: Some(Fetcher(server.clone())), ..options });
    let kernel = |id: u8| {
        let id = BuildId::from_hex(&hex(id)).expect("an id");
        store.kernel_file(b"[kernel.kallsyms]", id).is_ok()
    };
    assert_eq!([kernel(7), kernel(8)], [true, false]);
    let asked = server.1.lock().expect("no panic").clone();
    assert_eq!(asked, [(BuildId::from_hex(&hex(8)).expect("an id"), FetchKind::DebugInfo)]);
}

#[test]
fn a_debug_file_is_no_program() {
    let mut stripped = ElfBuilder::x86_64();
    stripped.sections = vec![
        Section {
            flags: elf_const::SHF_ALLOC,
            ..Section::new(
                ".note.gnu.build-id",
                elf_const::SHT_NOTE,
                gnu_build_id_note(synth::Endian::Little, &[7; 20]),
            )
        },
        Section {
            flags: elf_const::SHF_ALLOC | elf_const::SHF_EXECINSTR,
            stated_size: Some(16),
            ..Section::new(".text", elf_const::SHT_NOBITS, Vec::new())
        },
        Section::new(".debug_info", elf_const::SHT_PROGBITS, vec![0]),
    ];
    let (_, options) = machine(&[("/dir/app", &stripped.build()), ("/sysroot/opt/app", &elf(7))]);
    let options = FileOptions {
        modules: vec!["/dir/app".into()],
        sysroots: vec!["/sysroot".into()],
        ..options
    };
    let wanted = module(&code_of(code(1, 0x1000, 0x1000, 0, "/opt/app"), &hex(7)));
    let store = ImageStore::new(options);
    let file = store.image(&wanted).expect("the program");
    assert_eq!(file.image().path(), Path::new("/sysroot/opt/app"));
    let debug = file.debug(&store).map(|debug| debug.path());
    assert_eq!(debug, Some(Path::new("/dir/app")));
}

/// A path named by the recording is not opened if the host refuses it; files named by the user or by a build-id are.
#[test]
fn each_candidate_says_who_named_it() {
    let id = hex(7);
    let wanted = module(&code_of(code(1, 0x1000, 0x1000, 0, "/opt/app"), &id));
    let cached = format!("/cache/.build-id/07/{}/elf", &id[2..]);
    let (host, options) = machine(&[("/opt/app", &elf(7))]);
    let options = FileOptions {
        host: Arc::new(RestrictedHost::new(host.clone())),
        build_id_dirs: vec!["/cache".into()],
        ..options
    };
    let refused = opened(options.clone(), &wanted);
    let message = "/opt/app is named by the recording; such files are not opened in this mode";
    assert_eq!(refused, Err(message.to_owned()));
    host.insert(&cached, elf(7));
    assert_eq!(opened(options.clone(), &wanted), Ok(cached.into()));
    host.insert("/given/app", elf(7));
    let options = FileOptions { modules: vec!["/given/app".into()], ..options };
    assert_eq!(opened(options, &wanted), Ok("/given/app".into()));
}
