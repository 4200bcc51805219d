//! Segment layouts of different linkers, from real files, with mappings as the kernel makes them.

use std::path::Path;

use address::{Avma, FileOffset, Svma};
use host::{Origin, RealHost};
use image_store::Image;
use synth::{ElfBuilder, Section, Segment, stored_zip};

use crate::support::{data, machine};

/// File, with the address and the offset of its function `known` according to `nm` and `readelf -l`.
const FILES: &[(&str, u64, u64)] = &[
    ("bfd-nopie", 0x40_1000, 0x1000),
    ("bfd-noseparate", 0x298, 0x298),
    ("bfd-separate", 0x1000, 0x1000),
    ("bfd-static", 0x40_1000, 0x1000),
    ("bfd-static-pie", 0x1000, 0x1000),
    ("gold-pie", 0x298, 0x298),
    ("lld-nopie", 0x20_1220, 0x220),
    ("lld-norosegment", 0x2f0, 0x2f0),
    ("lld-pie", 0x1320, 0x320),
    ("mold-pie", 0x1370, 0x370),
    ("prelinked", 0x30_0000_1020, 0x1020),
];

const PAGE: u64 = 0x1000;

#[test]
fn every_byte_of_every_segment_goes_there_and_back() {
    for (name, known, known_offset) in FILES {
        let image = Image::open(&RealHost, &data("layouts").join(name), Origin::User).expect(name);
        let load = 0x5555_0000_0000_u64;
        assert_eq!(
            image.svma_of_offset(FileOffset(*known_offset), true),
            Some(Svma(*known)),
            "{name}"
        );
        assert_eq!(image.offset_of_svma(Svma(*known)), Some(FileOffset(*known_offset)), "{name}");
        for segment in image.segments() {
            // Whole pages are mapped, at the address of the page.
            let offset = segment.offset.0 & !(PAGE - 1);
            let start = Avma(load + (segment.svma.0 & !(PAGE - 1)));
            let mut possible = image.possible_biases(start, FileOffset(offset));
            assert!(possible.any(|bias| bias.0 == load), "{name} {segment:?}");
            let bias = if segment.executable {
                image.bias(start, FileOffset(offset), true).expect(name)
            } else {
                let start = Avma(load).add(segment.svma.0);
                image.bias(start, segment.offset, false).expect(name)
            };
            assert_eq!(bias.0, load, "{name} {segment:?}");
            for at in 0..segment.file_size {
                let avma = Avma(load).add(segment.svma.0 + at);
                let in_file = FileOffset(offset).add(avma.since(start));
                let svma = image.svma_of_offset(in_file, segment.executable).expect(name);
                assert_eq!((svma, bias.to_avma(svma)), (segment.svma.add(at), avma), "{name}");
                assert_eq!(bias.to_svma(avma), svma, "{name}");
            }
        }
    }
}

#[test]
fn relro_over_data_and_a_split_mapping_keep_the_bias() {
    let image =
        Image::open(&RealHost, &data("layouts/bfd-separate"), Origin::User).expect("an ELF file");
    let data = image.segments().iter().find(|s| s.writable).expect("data");
    let page = data.offset.0 & !(PAGE - 1);
    let start = Avma(0x7000_0000 + (data.svma.0 & !(PAGE - 1)));
    // RELRO remaps the first page of the data read-only, which then equals the mapping of the
    // read-only data on the same page of the file.
    let possible: Vec<u64> =
        image.possible_biases(start, FileOffset(page)).map(|bias| bias.0).collect();
    assert!(possible.contains(&0x7000_0000), "{possible:x?}");
    // A mapping that starts in the middle of the text.
    let bias = image.bias(Avma(0x7000_1010), FileOffset(0x1010), true);
    assert_eq!(bias.map(|b| b.0), Some(0x7000_0000));
}

#[test]
fn a_page_that_two_segments_share_belongs_to_the_one_that_was_mapped() {
    let elf = ElfBuilder {
        segments: vec![Segment::load_rodata(0, 0, 0x760), Segment::load_text(0x760, 0x1760, 0x100)],
        sections: vec![Section::text(0x1760, vec![0xc3; 0x100])],
        ..ElfBuilder::x86_64()
    };
    let image = Image::from_vec(Path::new("lld"), elf.build()).expect("an ELF file");
    assert_eq!(image.svma_of_offset(FileOffset(0x760), true), Some(Svma(0x1760)));
    assert_eq!(image.svma_of_offset(FileOffset(0x700), false), Some(Svma(0x700)));
    // Padding of the page mapped with the text.
    assert_eq!(image.svma_of_offset(FileOffset(0x700), true), Some(Svma(0x1700)));
    assert_eq!(image.svma_of_offset(FileOffset(0x9000), true), None);
}

#[test]
fn a_library_stored_in_an_archive_keeps_the_offsets_of_the_archive() {
    let elf = std::fs::read(data("layouts/lld-pie")).expect("an ELF file");
    let (archive, at) = stored_zip(b"lib/x86_64/libx.so", &elf);
    let (host, _) = machine(&[("/base.apk", &archive)]);
    let open =
        |offset| Image::open_at(&*host, Path::new("/base.apk"), Origin::User, FileOffset(offset));
    let image = open(at).expect("the library in it");
    assert_eq!(image.base(), FileOffset(at));
    assert_eq!(image.svma_of_offset(FileOffset(at + 0x320), true), Some(Svma(0x1320)));
    assert_eq!(image.svma_of_range(FileOffset(at + 0x320), 0x10, true), Some(Svma(0x1320)));
    assert_eq!(image.offset_of_svma(Svma(0x1320)), Some(FileOffset(at + 0x320)));
    assert!(open(0).is_err());
}
