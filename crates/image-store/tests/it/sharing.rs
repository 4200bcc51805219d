//! Sharing of opened files between runs.

use std::path::Path;
use std::sync::Arc;

use host::MemoryHost;
use image_store::{FileOptions, Image, ImageLimits, ImageStore, LoadedImage, SharedImages};
use module_map::{Module, Timeline};

use crate::files::{elf, hex};
use crate::support::{code, code_of, machine};

/// Returns the modules of these paths, on a separate timeline.
fn modules(paths: &[&str], id: Option<u8>) -> Vec<Arc<Module>> {
    let mut timeline = Timeline::new();
    for path in paths {
        let event = code(1, 0x1000, 0x1000, 0, path);
        timeline.map(&id.map_or(event, |id| code_of(event, &hex(id))));
    }
    timeline.modules().to_vec()
}

/// Opens `/app` in a separate run.
fn run(
    options: &FileOptions,
    shared: &Arc<SharedImages>,
) -> Option<(ImageStore, Arc<LoadedImage>)> {
    let store = ImageStore::sharing(options.clone(), shared.clone());
    let file = store.image(&modules(&["/app"], None)[0]).ok()?.clone();
    Some((store, file))
}

#[test]
fn a_file_has_one_serial_in_all_runs_until_it_changes() {
    let (host, options) = machine(&[("/app", &elf(7))]);
    let shared = Arc::new(SharedImages::default());
    let serial = || run(&options, &shared).map(|(_, file)| file.serial);
    assert_eq!([serial(), serial()], [Some(0), Some(0)]);
    host.insert("/app", elf(8));
    assert_eq!([serial(), serial()], [Some(1), Some(1)]);
    assert_eq!(shared.n_cached(), 2);
    assert_ne!(shared.generation(), SharedImages::default().generation());
}

#[test]
fn what_is_missing_is_missing_in_one_run_only() {
    let (host, options) = machine(&[]);
    let shared = Arc::new(SharedImages::default());
    let store = ImageStore::sharing(options.clone(), shared.clone());
    let app = modules(&["/app"], None);
    assert!(store.outcome(&app[0]).is_none());
    assert!(store.image(&app[0]).is_err());
    host.insert("/app", elf(7));
    assert!(store.image(&app[0]).is_err());
    assert!(store.outcome(&app[0]).is_some_and(|outcome| outcome.is_err()));
    assert!(run(&options, &shared).is_some());
}

/// A file with debug information and a build-id of bytes `id`.
fn debug_file(id: u8) -> Vec<u8> {
    let mut file = crate::files::builder(id);
    file.sections.push(synth::Section::new(".debug_info", synth::elf_const::SHT_PROGBITS, vec![0]));
    file.build()
}

#[test]
fn a_debug_file_that_comes_later_makes_another_serial() {
    let id = hex(7);
    let debug = format!("/debug/.build-id/07/{}.debug", &id[2..]);
    let (host, options) = machine(&[("/app", &elf(7))]);
    let options = FileOptions { debug_dirs: vec!["/debug".into()], ..options };
    let shared = Arc::new(SharedImages::default());
    let found = |host: &MemoryHost, present: bool| {
        if present {
            host.insert(&debug, debug_file(7));
        }
        let (store, file) = run(&options, &shared).expect("the program");
        let path = file.debug(&store).map(|debug| debug.path().to_owned());
        (file.serial, path)
    };
    assert_eq!(found(&host, false), (0, None));
    assert_eq!(found(&host, false), (0, None));
    assert_eq!(found(&host, true), (1, Some(debug.clone().into())));
    host.remove(Path::new(&debug));
    assert_eq!(found(&host, false), (0, None));
    // A search in other places may find other debug files.
    let elsewhere = FileOptions { debug_dirs: Vec::new(), ..options.clone() };
    assert_eq!(run(&elsewhere, &shared).map(|(_, file)| file.serial), Some(2));
}

#[test]
fn paths_of_one_content_are_one_file_by_build_id_and_apart_without() {
    let plain = synth::ElfBuilder::x86_64().build();
    let files = [("/a", elf(7)), ("/b", elf(7)), ("/c", plain.clone())];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (*path, &bytes[..])).collect();
    let (_, options) = machine(&files);
    let store = ImageStore::new(options);
    let found: Vec<(u32, &Path)> = modules(&["/a", "/b", "/c"], None)
        .iter()
        .map(|module| store.image(module).expect("a file"))
        .map(|file| (file.serial, file.image().path()))
        .collect();
    assert_eq!(found, [(0, Path::new("/a")), (0, Path::new("/a")), (1, Path::new("/c"))]);
    assert_eq!(store.n_images(), 2);
}

/// A restarted replay has another timeline, with other modules under the same ids.
#[test]
fn modules_of_two_timelines_are_not_mistaken_for_each_other() {
    let (_, options) = machine(&[("/a", &elf(7)), ("/b", &elf(8))]);
    let store = ImageStore::new(options);
    let path = |module: &Module| store.image(module).expect("a file").image().path().to_owned();
    let (first, second) = (modules(&["/a", "/b"], None), modules(&["/b", "/a"], None));
    assert_eq!([0, 1].map(|at| path(&first[at])), ["/a", "/b"].map(Path::new));
    assert_eq!([0, 1].map(|at| path(&second[at])), ["/b", "/a"].map(Path::new));
    assert!(store.outcome(&modules(&["/a"], None)[0]).is_none());
}

#[test]
fn what_was_used_longest_ago_goes() {
    let files: Vec<(String, Vec<u8>)> = (1..=4).map(|id| (format!("/{id}"), elf(id))).collect();
    let named: Vec<(&str, &[u8])> =
        files.iter().map(|(path, bytes)| (path.as_str(), &bytes[..])).collect();
    let (_, options) = machine(&named);
    let size = files[0].1.len() as u64;
    for limits in [
        ImageLimits { files: 2, ..ImageLimits::default() },
        ImageLimits { bytes: 2 * size + 1, ..ImageLimits::default() },
    ] {
        let shared = Arc::new(SharedImages::new(limits));
        let serial = |path| {
            let store = ImageStore::sharing(options.clone(), shared.clone());
            store.image(&modules(&[path], None)[0]).expect("a file").serial
        };
        assert_eq!(["/1", "/2", "/1", "/3"].map(serial), [0, 1, 0, 2]);
        assert_eq!(shared.n_cached(), 2);
        // The second file is opened again; the first is still stored.
        assert_eq!(["/1", "/2"].map(serial), [0, 3]);
    }
}

#[test]
fn serials_are_used_up_in_the_end() {
    let (_, options) = machine(&[]);
    let shared = Arc::new(SharedImages::default());
    let store = ImageStore::sharing(options, shared.clone());
    let image = Image::from_vec(Path::new("jit"), elf(7)).expect("an ELF file");
    for _ in 0..61_440 {
        store.provide(b"jit", image.clone());
    }
    assert!(!shared.is_used_up());
    store.provide(b"jit", image);
    assert!(shared.is_used_up());
}
