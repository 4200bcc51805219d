//! Where files are found, and which are refused.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use address::BuildId;
use module_map::{
    Fetch, FetchKind, Fetcher, FileOptions, Library, MapEvent, Module, Refusal, Timeline,
};
use synth::{ElfBuilder, Section, Segment, Symbol, elf_const, gnu_build_id_note};

use crate::support::{Dir, code, code_of};

fn elf(id: u8) -> Vec<u8> {
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
    .build()
}

fn hex(id: u8) -> String {
    format!("{id:02x}").repeat(20)
}

fn module(event: &MapEvent<'_>) -> Arc<Module> {
    let mut timeline = Timeline::new();
    timeline.map(event);
    timeline.modules()[0].clone()
}

fn opened(options: FileOptions, module: &Module) -> Result<PathBuf, String> {
    let library = Library::new(options);
    let file = module.file(&library);
    file.map(|file| file.image().path().to_owned()).map_err(ToString::to_string)
}

#[test]
fn candidates_are_tried_in_their_order_and_only_by_content() {
    let dir = Dir::new();
    let id = hex(7);
    let wanted = module(&code_of(code(1, 0x1000, 0x1000, 0, "/opt/app"), &id));
    let entry = format!(".build-id/07/{}", &id[2..]);
    let places = [
        dir.write("named/other-name", &elf(7)),
        dir.write("mapped/app", &elf(7)),
        dir.write("root/opt/app", &elf(7)),
        dir.write(&format!("cache/{entry}/elf"), &elf(7)),
        dir.write(&format!("old/{entry}"), &elf(7)),
        dir.write(&format!("cache/opt/app/{id}/elf"), &elf(7)),
        dir.write(&format!("debug/{entry}"), &elf(7)),
        dir.write("debug/opt/app", &elf(7)),
    ];
    let options = FileOptions {
        modules: vec![places[0].clone()],
        path_map: vec![(
            b"/opt".to_vec(),
            dir.0.join("mapped").as_os_str().as_encoded_bytes().to_vec(),
        )],
        sysroots: vec![dir.0.join("root")],
        build_id_dirs: vec![dir.0.join("cache"), dir.0.join("old")],
        debug_dirs: vec![dir.0.join("debug")],
        ..FileOptions::default()
    };
    for place in &places {
        // Another file in every place before has the right name and the wrong content.
        assert_eq!(opened(options.clone(), &module_again(&wanted)), Ok(place.clone()));
        std::fs::write(place, elf(8)).expect("replaced");
    }
    let refused = opened(options, &module_again(&wanted)).expect_err("nothing fits");
    assert!(refused.contains(&hex(8)) && refused.contains(&id), "{refused}");
}

/// The same module, of which no file was looked for yet.
fn module_again(module: &Module) -> Arc<Module> {
    let path = String::from_utf8_lossy(&module.path).into_owned();
    let id = module.identity.build_id.map(|id| id.to_string()).unwrap_or_default();
    self::module(&code_of(code(1, 0x1000, 0x1000, 0, &path), &id))
}

#[test]
fn without_a_recorded_id_only_names_lead_to_files() {
    let dir = Dir::new();
    let file = dir.write("app", &elf(7));
    let wanted = module(&code(1, 0x1000, 0x1000, 0, "/opt/app"));
    let options = FileOptions {
        modules: vec![file.clone()],
        sysroots: vec![dir.0.clone()],
        ..FileOptions::default()
    };
    assert_eq!(opened(options.clone(), &wanted), Ok(file));
    let other = module(&code(1, 0x1000, 0x1000, 0, "/opt/other"));
    assert_eq!(opened(options, &other), Err("file not found".to_owned()));
}

#[test]
fn memory_of_a_memfd_is_found_by_its_id_alone() {
    let dir = Dir::new();
    let file = dir.write("copy", &elf(7));
    let options = FileOptions { modules: vec![file.clone()], ..FileOptions::default() };
    let memfd = code(1, 0x1000, 0x1000, 0, "/memfd:copy (deleted)");
    assert_eq!(opened(options.clone(), &module(&code_of(memfd, &hex(7)))), Ok(file));
    let unknown = module(&memfd);
    assert_eq!(opened(options, &unknown), Err("a name that is not opened as a path".to_owned()));
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let dir = Dir::new();
    dir.write("bin/dir/inside", b"");
    dir.write("bin/text", b"#!/bin/sh\n");
    let options = FileOptions { sysroots: vec![dir.0.clone()], ..FileOptions::default() };
    for (path, word) in [("/bin/dir", "is not a regular file"), ("/bin/text", "ELF")] {
        let refused = opened(options.clone(), &module(&code(1, 0x1000, 0x1000, 0, path)));
        assert!(refused.as_ref().is_err_and(|error| error.contains(word)), "{refused:?}");
    }
    // The terminal's own FIFO: opening a FIFO without writer would block for ever.
    let fifo = FileOptions { modules: vec![PathBuf::from("/dev/null")], ..FileOptions::default() };
    let refused = opened(fifo, &module(&code(1, 0x1000, 0x1000, 0, "/x/null")));
    assert!(refused.is_err_and(|error| error.contains("not a regular file")));
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
    let dir = Dir::new();
    let server = Arc::new(Server(dir.write("served", &elf(7)), Mutex::default()));
    let options = FileOptions { fetcher: Some(Fetcher(server.clone())), ..FileOptions::default() };
    let library = Library::new(options);
    let good = module(&code_of(code(1, 0x1000, 0x1000, 0, "/none/app"), &hex(7)));
    assert!(good.file(&library).is_ok());
    let bad = module(&code_of(code(1, 0x1000, 0x1000, 0, "/none/other"), &hex(9)));
    assert!(matches!(bad.file(&library), Err(Refusal::BuildId { .. })));
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
fn a_debug_file_is_no_program() {
    let dir = Dir::new();
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
    let debug = dir.write("app", &stripped.build());
    let real = dir.write("root/opt/app", &elf(7));
    let options = FileOptions {
        modules: vec![debug.clone()],
        sysroots: vec![dir.0.join("root")],
        ..FileOptions::default()
    };
    let wanted = module(&code_of(code(1, 0x1000, 0x1000, 0, "/opt/app"), &hex(7)));
    let library = Library::new(options);
    let file = wanted.file(&library).expect("the program");
    assert_eq!(file.image().path(), real);
    assert_eq!(file.debug(&library).map(|debug| debug.path().to_owned()), Some(debug));
}
