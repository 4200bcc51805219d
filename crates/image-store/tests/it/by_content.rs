//! Files below the user's folders, found by build-id regardless of name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use address::BuildId;
use host::{
    ByteStream, DirEntry, FileStat, Host, HostError, HostFile, HostText, MemoryHost, Origin,
};
use image_store::{ExtraFiles, FileOptions, ImageStore};
use module_map::{Module, Timeline};
use synth::{Endian, Section, elf_const, gnu_build_id_note};

use crate::files::{builder, elf, hex};
use crate::support::{code, code_of};

/// A host that records opened files and listed folders.
#[derive(Debug, Default)]
struct Noting {
    files: MemoryHost,
    opened: Mutex<Vec<PathBuf>>,
    listed: Mutex<Vec<PathBuf>>,
}

impl Noting {
    fn opened(&self) -> Vec<PathBuf> {
        let mut opened = self.opened.lock().expect("no panic").clone();
        opened.sort();
        opened
    }
}

impl Host for Noting {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        let file = self.files.open(path, origin)?;
        self.opened.lock().expect("no panic").push(path.to_owned());
        Ok(file)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        self.files.text(path, origin)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        self.files.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        self.files.stat(path, origin)
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        self.listed.lock().expect("no panic").push(path.to_owned());
        self.files.list(path, origin)
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        None
    }

    fn variable(&self, _: &str) -> Option<OsString> {
        None
    }
}

/// A debug file with an id: without code, with debug information.
fn debug_file(id: u8) -> Vec<u8> {
    let mut elf = builder(id);
    let text = elf.sections.iter_mut().find(|section| section.name == ".text").expect("code");
    (text.sh_type, text.stated_size) = (elf_const::SHT_NOBITS, Some(16));
    text.bytes.clear();
    elf.sections.push(Section::new(".debug_info", elf_const::SHT_PROGBITS, vec![0]));
    elf.build()
}

/// A store for a host with the given files. `/dbg` is named by `--debug-dir`, `/extra` by `--extra-dir`.
fn store(files: &[(&str, Vec<u8>)]) -> (Arc<Noting>, ImageStore) {
    let host = Arc::new(Noting::default());
    files.iter().for_each(|(path, bytes)| host.files.insert(path, &bytes[..]));
    host.files.insert_special("/dbg/fifo");
    let options = FileOptions {
        extra: ExtraFiles::below(&*host, &["/extra".into()]),
        host: host.clone(),
        debug_dirs: vec!["/dbg".into()],
        named_debug_dirs: vec!["/dbg".into()],
        ..FileOptions::default()
    };
    (host, ImageStore::new(options))
}

fn module(path: &str, id: u8) -> Arc<Module> {
    let mut timeline = Timeline::new();
    timeline.map(&code_of(code(1, 0x1000, 0x1000, 0, path), &hex(id)));
    timeline.modules()[0].clone()
}

fn debug_of(store: &ImageStore, module: &Module) -> Option<PathBuf> {
    let file = store.image(module).expect("the program");
    file.debug(store).map(|debug| debug.path().to_owned())
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

#[test]
fn debug_files_of_any_name() {
    for place in ["/dbg/prog.debug", "/dbg/deep/er/still/x", "/extra/a/b.dbg"] {
        let files = [
            ("/bin/prog", elf(7)),
            ("/dbg/other.debug", debug_file(8)),
            ("/extra/notes.txt", b"no file of any use".to_vec()),
            (place, debug_file(7)),
        ];
        let (_, store) = store(&files);
        assert_eq!(debug_of(&store, &module("/bin/prog", 7)), Some(place.into()));
    }
}

#[test]
fn programs_of_any_name_but_no_debug_files() {
    let files =
        [("/dbg/a.debug", debug_file(7)), ("/dbg/z.stripped", elf(7)), ("/extra/other", elf(8))];
    let (_, store) = store(&files);
    let image = |id| {
        let file = store.image(&module("/gone/prog", id)).ok().cloned();
        file.map(|file| file.image().path().to_owned())
    };
    assert_eq!(image(7), Some("/dbg/z.stripped".into()));
    assert_eq!(image(8), Some("/extra/other".into()));
    assert_eq!(image(9), None);
    assert_eq!(debug_of(&store, &module("/gone/prog", 7)), Some("/dbg/a.debug".into()));
}

#[test]
fn each_file_is_opened_once_and_only_if_something_is_missing() {
    let named = format!("/dbg/.build-id/07/{}.debug", &hex(7)[2..]);
    let files = [
        ("/bin/prog", elf(7)),
        ("/bin/whole", {
            let mut elf = builder(5);
            elf.sections.push(Section::new(".debug_info", elf_const::SHT_PROGBITS, vec![0]));
            elf.build()
        }),
        ("/bin/bare", elf(6)),
        (&named, debug_file(7)),
        ("/dbg/a.debug", debug_file(8)),
        ("/extra/b.debug", debug_file(9)),
    ];
    let (host, store) = store(&files);
    // Found by id, and a file with its own debug information.
    assert_eq!(debug_of(&store, &module("/bin/prog", 7)), Some(named.clone().into()));
    assert_eq!(debug_of(&store, &module("/bin/whole", 5)), None);
    assert_eq!(host.opened(), paths(&["/bin/prog", "/bin/whole", &named]));
    assert_eq!(*host.listed.lock().expect("no panic"), paths(&["/extra"]));
    // Neither this debug file nor the missing program exists. Files named by id are not opened for them.
    assert_eq!(debug_of(&store, &module("/bin/bare", 6)), None);
    assert!(store.image(&module("/gone/prog", 4)).is_err());
    let expected =
        ["/bin/bare", "/bin/prog", "/bin/whole", &named, "/dbg/a.debug", "/extra/b.debug"];
    assert_eq!(host.opened(), paths(&expected));
}

#[test]
fn default_folders_are_not_searched() {
    let files = [("/bin/prog", elf(7)), ("/dbg/prog.debug", debug_file(7))];
    let (host, named) = store(&files);
    let options = FileOptions { named_debug_dirs: Vec::new(), ..named.options().clone() };
    let store = ImageStore::new(options);
    assert_eq!(debug_of(&store, &module("/bin/prog", 7)), None);
    assert_eq!(host.opened(), paths(&["/bin/prog"]));
}

#[test]
fn kernels_and_files_without_a_recording() {
    let (_, store) = store(&[("/dbg/kernel", elf(7)), ("/dbg/lib", elf(8))]);
    let id = |id: u8| BuildId::from_hex(&hex(id)).expect("an id");
    let path = |file: &image_store::LoadedImage| file.image().path().to_owned();
    let kernel = store.kernel_file(b"[kernel.kallsyms]", id(7)).expect("the kernel");
    assert_eq!(path(&kernel), PathBuf::from("/dbg/kernel"));
    let file = store.file_by_id(b"", id(8), &[]).expect("a library");
    assert_eq!(path(&file), PathBuf::from("/dbg/lib"));
}

/// A debug file with another name can have the program's package next to it.
#[test]
fn files_of_split_units() {
    let split = |marks: u8| {
        let mut elf = builder(marks);
        elf.sections.push(Section::new(".debug_info.dwo", elf_const::SHT_PROGBITS, vec![0]));
        elf.build()
    };
    let found = |files: &[(&str, Vec<u8>)]| {
        let (_, store) = store(&[&[("/bin/prog", elf(7))], files].concat());
        let module = module("/bin/prog", 7);
        let file = store.image(&module).expect("the program");
        file.debug(&store);
        file.split(&store, b"/src", b"out/a.dwo").map(|image| image.path().to_owned())
    };
    let debug = ("/dbg/x.debug", debug_file(7));
    assert_eq!(found(&[debug.clone(), ("/dbg/prog.dwp", split(1))]), Some("/dbg/prog.dwp".into()));
    assert_eq!(found(&[("/extra/b/prog.dwp", split(1))]), Some("/extra/b/prog.dwp".into()));
    assert_eq!(found(&[debug, ("/extra/b/a.dwo", split(1))]), Some("/extra/b/a.dwo".into()));
}

/// Old recorders omit the length of short ids.
#[test]
fn ids_that_were_padded() {
    let mut short = builder(7);
    let note = short.sections.iter_mut().find(|section| section.name.starts_with(".note"));
    note.expect("a note").bytes = gnu_build_id_note(Endian::Little, &[7; 8]);
    let (_, store) = store(&[("/dbg/lib", short.build())]);
    let padded = [[7; 8].as_slice(), &[0; 12]].concat();
    let id = BuildId::new(&padded).expect("an id");
    assert!(store.file_by_id(b"", id, &[]).is_ok());
}
