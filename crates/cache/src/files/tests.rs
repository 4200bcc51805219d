//! A store has complete files of their build-ids, stays within its size limit, and leaves other files alone.
#![allow(clippy::disallowed_methods, reason = "tests look at files as others see them")]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use address::BuildId;
use host::{Host as _, Origin, RealHost, ScratchDir};
use image_store::Image;
use synth::{ElfBuilder, Endian, Section, Segment, elf_const, gnu_build_id_note};

use super::{FilePart, FileStore, LimitedStore, StoreContents, StoreEntry};

/// A program with that byte in its build-id, in a separate file.
fn program(dir: &Path, id: u8) -> Image {
    let note = gnu_build_id_note(Endian::Little, &[id; 20]);
    let note = Section {
        flags: elf_const::SHF_ALLOC,
        addr: 0x200,
        align: 4,
        ..Section::new(".note.gnu.build-id", elf_const::SHT_NOTE, note)
    };
    let elf = ElfBuilder {
        segments: vec![Segment::load_rodata(0, 0, 0x600), Segment::load_text(0x600, 0x1600, 0x10)],
        sections: vec![note, Section::text(0x1600, vec![0xc3; 16])],
        ..ElfBuilder::x86_64()
    };
    let path = dir.join(format!("program-{id}"));
    fs::write(&path, elf.build()).expect("a file");
    Image::open(&RealHost, &path, Origin::User).expect("an ELF file")
}

fn part(image: &Image) -> FilePart<'_> {
    let id: BuildId = image.build_id().expect("a build-id");
    let entry = StoreEntry::of_build_id(id);
    FilePart { entry, name: "elf".to_owned(), image, recorded: b"/recorded" }
}

fn place(dir: &Path, most: u64) -> LimitedStore {
    LimitedStore { store: FileStore::at(dir.join("store")), most }
}

fn entry(dir: &Path, id: u8) -> PathBuf {
    let hex = format!("{id:02x}");
    dir.join("store/.build-id").join(&hex).join(hex.repeat(19))
}

/// Sets the last use of a file to that many hours ago.
fn age(file: &Path, hours: u64) {
    let file = File::options().write(true).open(file).expect("the file");
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).expect("set");
}

#[test]
fn files_are_stored_once_and_for_this_user_alone() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let (first, second) = (program(dir, 1), program(dir, 2));
    let place = place(dir, 1 << 20);
    for _ in 0..2 {
        let kept = place.add_files(&RealHost, &[part(&first), part(&second)]).expect("stored");
        let size = (first.bytes().len() + second.bytes().len()) as u64;
        assert_eq!((kept.files, kept.bytes, kept.over_limit), (2, size, 0));
        assert!(kept.problem.is_none() && kept.limit == 1 << 20);
        let contents = StoreContents::of(&place.store).expect("listed");
        assert_eq!((contents.files, contents.bytes, contents.entries), (2, size, 2));
    }
    let stored = entry(dir, 1).join("elf");
    assert_eq!(fs::read(&stored).expect("stored"), first.bytes());
    assert_eq!(fs::read(entry(dir, 1).join("unwind-perf")).expect("a mark"), b"/recorded");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    assert_eq!(
        (mode(&dir.join("store")), mode(&entry(dir, 1)), mode(&stored)),
        (0o700, 0o700, 0o600)
    );
    // A damaged copy is replaced.
    fs::write(&stored, b"damaged").expect("written");
    place.add_files(&RealHost, &[part(&first)]).expect("stored");
    assert_eq!(fs::read(&stored).expect("stored"), first.bytes());
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let programs = [1, 2, 3].map(|id| program(dir, id));
    let size = programs[0].bytes().len() as u64;
    let place = place(dir, 2 * size);
    place.add_files(&RealHost, &[part(&programs[0]), part(&programs[1])]).expect("stored");
    age(&entry(dir, 1).join("elf"), 2);
    age(&entry(dir, 2).join("elf"), 3);
    // The first one is used again.
    place.add_files(&RealHost, &[part(&programs[0])]).expect("stored");
    place.add_files(&RealHost, &[part(&programs[2])]).expect("stored");
    let is_there = |id| entry(dir, id).exists();
    assert_eq!([1, 2, 3].map(is_there), [true, false, true]);
    // The first ones have precedence, and files larger than the limit are omitted.
    let all = programs.each_ref().map(part);
    let kept = place.add_files(&RealHost, &all).expect("stored");
    assert_eq!((kept.files, kept.over_limit, [1, 2, 3].map(is_there)), (2, 1, [true, true, false]));
    let kept = LimitedStore { most: size - 1, ..place }.add_files(&RealHost, &all).expect("stored");
    assert_eq!((kept.files, kept.over_limit, [1, 2, 3].map(is_there)), (0, 3, [false; 3]));
    assert!(!dir.join("store/.build-id").exists());
}

#[test]
fn a_file_that_was_replaced_meanwhile_is_stored_as_it_was_opened() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let (first, other) = (program(dir, 1), program(dir, 2));
    // Large enough to be mapped.
    let big = [first.bytes(), &vec![0; 300 << 10]].concat();
    fs::write(dir.join("program-1"), &big).expect("a file");
    let first = Image::open(&RealHost, first.path(), Origin::User).expect("an ELF file");
    fs::rename(other.path(), first.path()).expect("renamed");
    place(dir, 1 << 20).add_files(&RealHost, &[part(&first)]).expect("stored");
    assert!(fs::read(entry(dir, 1).join("elf")).expect("stored") == big);
    // A truncated file is not a copy of the recorded one.
    let cut = program(dir, 3);
    fs::write(cut.path(), [cut.bytes(), &vec![0; 300 << 10]].concat()).expect("a file");
    let cut = Image::open(&RealHost, cut.path(), Origin::User).expect("an ELF file");
    File::options().write(true).open(cut.path()).and_then(|it| it.set_len(100)).expect("cut");
    let kept = place(dir, 1 << 20).add_files(&RealHost, &[part(&cut)]).expect("a store");
    assert_eq!(
        (kept.files, kept.problem.is_some(), entry(dir, 3).join("elf").exists()),
        (0, true, false)
    );
}

#[test]
fn entries_of_others_stay() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let (first, second) = (program(dir, 1), program(dir, 2));
    let place = place(dir, 1 << 20);
    // perf's own entry is a symlink to a folder by the path of the file.
    let real = dir.join("store/usr/bin/program").join("01".repeat(20));
    fs::create_dir_all(&real).expect("folders");
    fs::create_dir_all(entry(dir, 1).parent().expect("a folder")).expect("folders");
    fs::copy(first.path(), real.join("elf")).expect("perf's copy");
    std::os::unix::fs::symlink(
        Path::new("../../usr/bin/program").join("01".repeat(20)),
        entry(dir, 1),
    )
    .expect("a link");
    // An entry of another program.
    fs::create_dir_all(entry(dir, 2)).expect("folders");
    fs::copy(second.path(), entry(dir, 2).join("elf")).expect("a copy");
    let kept = place.add_files(&RealHost, &[part(&first), part(&second)]).expect("stored");
    assert_eq!((kept.files, kept.problem.is_none()), (2, true));
    assert!(StoreContents::of(&place.store).expect("listed").is_empty());
    assert_eq!(StoreContents::clear(&place.store).expect("cleared"), (0, 0));
    assert!(real.join("elf").is_file() && entry(dir, 2).join("elf").is_file());
    // They also remain if the limit is zero.
    LimitedStore { most: 0, ..place }.add_files(&RealHost, &[]).expect("a store");
    assert!(real.join("elf").is_file() && entry(dir, 2).join("elf").is_file());
}

#[test]
fn the_store_is_emptied_and_shown() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let place = place(dir, 1 << 20);
    assert_eq!(StoreContents::of(&place.store).expect("none"), StoreContents::default());
    let first = program(dir, 1);
    let recorded = FilePart { entry: StoreEntry::of_recording("key", "8-1"), ..part(&first) };
    place.add_files(&RealHost, &[part(&first), recorded]).expect("stored");
    assert!(dir.join("store/by-recording/key/8-1/elf").is_file());
    let half = entry(dir, 1).join(".unwind-perf-1");
    fs::write(&half, b"half").expect("a file");
    let size = first.bytes().len() as u64;
    let contents = StoreContents::of(&place.store).expect("listed");
    let bytes = 2 * size;
    assert_eq!(
        contents.to_string(),
        format!(
            "recorded files: 2, bytes: {bytes}, of programs and libraries: 2\nnot completed: 1, bytes: 4"
        )
    );
    // Partial files are removed when they are old.
    place.add_files(&RealHost, &[]).expect("a store");
    assert!(half.exists());
    age(&half, 2);
    place.add_files(&RealHost, &[]).expect("a store");
    assert!(!half.exists());
    assert_eq!(StoreContents::clear(&place.store).expect("cleared"), (2, bytes));
    assert_eq!(fs::read_dir(dir.join("store")).expect("the store").count(), 0);
}

#[test]
fn several_write_at_once() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let dir = dir.path();
    let programs: Vec<Image> = (1..=4).map(|id| program(dir, id)).collect();
    let size = programs[0].bytes().len() as u64;
    // Two files fit, so each thread removes those of the others.
    let place = place(dir, 2 * size);
    std::thread::scope(|scope| {
        for pair in [[0, 1], [2, 3], [1, 2], [3, 0]] {
            let (place, programs) = (&place, &programs);
            scope.spawn(move || {
                for _ in 0..50 {
                    let parts = pair.map(|at: usize| part(&programs[at]));
                    let kept = place.add_files(&RealHost, &parts).expect("a store");
                    assert!(kept.problem.is_none(), "{:?}", kept.problem);
                }
            });
        }
    });
    for (image, id) in programs.iter().zip(1..) {
        let stored = RealHost.open(&entry(dir, id).join("elf"), Origin::User);
        assert!(stored.is_err() || stored.is_ok_and(|it| it.content[..] == *image.bytes()));
    }
}
