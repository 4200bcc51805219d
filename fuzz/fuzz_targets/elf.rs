//! A file as a mapped one, as a part of an archive, as a kernel module, compressed or not, and as an object with copied
//! code. The first 4 bytes are the mapped offset in the archive.
#![no_main]

mod cost;
mod input;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, Pid, Svma};
use host::{Host as _, MemoryHost, Origin};
use image_store::{FileOptions, Image, ImageStore, LoadError};
use input::Input;
use libfuzzer_sys::fuzz_target;
use module_map::Timeline;
use profile::Strings;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};
use unwinder::Arch;

const FILE: &str = "/lib/file";
/// Upper limit of sections that a reader of an image requests.
const SECTIONS: usize = 20;
/// Number of segments with checked edges.
const SEGMENTS: usize = 8;

/// Returns the number of bytes from compressed sections.
fn unpack(image: &Image) -> u64 {
    let sections = image.sections().iter().take(SECTIONS);
    let len = |section| image.section_data(section).map_or(0, |data| data.len() as u64);
    sections.filter(|section| section.is_compressed()).map(len).sum()
}

/// Checks conversions from offsets to addresses and back.
fn check_places(image: &Image) {
    let segments = image.segments();
    // Segments that end far below the highest possible offset.
    let is_sound = segments.iter().all(|it| it.offset.0.max(it.file_size) < 1 << 62);
    for segment in segments.iter().take(SEGMENTS) {
        let first = segment.offset.add(image.base().0);
        for offset in [first.sub(1), first, first.add(segment.file_size / 2), first.add(0x1000)] {
            check_offset(image, offset);
        }
        for svma in [segment.svma, segment.svma.add(segment.file_size.wrapping_sub(1))] {
            if let Some(offset) = image.offset_of_svma(svma).filter(|_| is_sound) {
                assert!(image.possible_biases(Avma(0), offset).next().is_some());
            }
            if let Some(bytes) = image.read_only_bytes(svma, 16) {
                assert_eq!(bytes.len(), 16);
            }
        }
    }
}

fn check_offset(image: &Image, offset: FileOffset) {
    for executable in [false, true] {
        let svma = image.svma_of_offset(offset, executable);
        if let Some(of_range) = image.svma_of_range(offset, 1, executable) {
            assert_eq!(svma, Some(of_range));
        }
        let bias = image.bias(Avma(0x7000_0000), offset, executable);
        assert_eq!(bias.map(|bias| bias.to_svma(Avma(0x7000_0000))), svma);
        let mut possible = image.possible_biases(Avma(0x7000_0000), offset);
        assert!(bias.is_none_or(|bias| possible.any(|it| it == bias)));
    }
}

/// Resolves names for addresses all over the image.
fn name(image: &Image) {
    let segments = image.segments().iter().take(SEGMENTS);
    let sections = image.sections().iter().take(SECTIONS);
    let places = segments
        .map(|it| (it.svma, it.file_size))
        .chain(sections.map(|it| (it.svma, it.size)))
        .chain([(image.entry(), 1)]);
    let mut addresses: Vec<Svma> =
        places.flat_map(|(start, len)| (0..8).map(move |i| start.add(len / 8 * i))).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let request = SymbolRequest { source: SymbolSource::of(image), addresses: &addresses };
    let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut Strings::default());
    assert_eq!(symbols.addresses.len(), 1);
    assert_eq!(symbols.addresses[0].len(), addresses.len());
    for answer in &symbols.addresses[0] {
        assert!(answer.frames.start <= answer.frames.end);
        assert!(answer.frames.end as usize <= symbols.frames.len());
    }
}

/// Maps the file at its entry, and walks through it.
fn walk_through(image: Image) {
    let arch = image.arch().unwrap_or(Arch::X86_64);
    let entry = image.entry();
    let offset = image.offset_of_svma(entry).unwrap_or(FileOffset(0));
    let page = offset.0 & !0xfff;
    let store = walk::store(MemoryHost::new());
    store.provide(FILE.as_bytes(), image);
    let mut timeline = Timeline::new();
    timeline.map(&walk::mapping(FILE.as_bytes(), 0x7000_0000, 0x10_0000, page));
    let (space, _) = timeline.space(Pid(1));
    walk::check_space(&space);
    let stack: Vec<u8> =
        (0..64_u64).flat_map(|word| (0x7000_0005 + word * 0x40).to_le_bytes()).collect();
    let registers = [0x7ffd_0000; 33];
    let pcs = (0..32).map(|i| 0x7000_0000 + (offset.0 - page) + i * 0x15);
    walk::walk_all(arch, &space, &store, &stack, &registers, pcs);
}

fn look(image: &Image) -> u64 {
    let expanded = unpack(image);
    check_places(image);
    name(image);
    expanded
}

/// Reads the file as a kernel file: decompressed, and laid out if it is relocatable.
fn kernel_file(host: &Arc<MemoryHost>) -> Option<u64> {
    let options = FileOptions {
        host: host.clone(),
        modules: vec![PathBuf::from(FILE)],
        ..FileOptions::default()
    };
    let store = ImageStore::new(options);
    let any = BuildId::new(&[1; 20])?;
    let loaded = match store.kernel_file(b"[m]", any) {
        Err(LoadError::BuildId { found: Some(found), .. }) => store.kernel_file(b"[m]", found),
        other => other,
    };
    let loaded = loaded.ok()?;
    Some(loaded.image().bytes().len() as u64 + look(loaded.image()))
}

fn run(bytes: &[u8]) -> u64 {
    let mut input = Input(bytes);
    let offset = FileOffset(input.number(4));
    let host = Arc::new(MemoryHost::new());
    host.insert(FILE, input.0);
    let path = Path::new(FILE);
    assert!(host.is_file(path, Origin::User));
    let mut expanded = 0;
    if let Ok(image) =
        Image::open_at(&*host, path, Origin::Recording { root: Path::new("/") }, offset)
    {
        expanded = look(&image);
        walk_through(image);
    }
    if let Ok(image) = Image::open_for_copies(&*host, path, Origin::User) {
        expanded = expanded.max(image.bytes().len() as u64 + look(&image));
    }
    expanded.max(kernel_file(&host).unwrap_or(0))
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || run(bytes));
});
