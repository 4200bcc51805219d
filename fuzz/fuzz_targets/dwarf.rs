//! Debug information: names, inline chains and lines from sections that are the input.
//!
//! ```text
//!   8, 1        the first address and the distance to the next
//!   1, 2, ...   sections: a byte for the name (bits 0 to 3) and the file (bits 4 and 5), a length, the content
//! ```
#![no_main]

mod cost;
mod input;

use std::path::Path;

use address::Svma;
use image_store::Image;
use input::Input;
use libfuzzer_sys::fuzz_target;
use profile::Strings;
use symbolizer::{SplitFinder, SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};
use synth::{ElfBuilder, Section, Segment, Symbol};

/// Names of the sections by number.
const NAMES: [&str; 16] = [
    "info",
    "abbrev",
    "line",
    "str",
    "line_str",
    "ranges",
    "rnglists",
    "addr",
    "str_offsets",
    "aranges",
    "loclists",
    "loc",
    "types",
    "cu_index",
    "tu_index",
    "sup",
];
/// Number of requested addresses.
const ADDRESSES: u64 = 64;

/// The four files: the mapped one, its debug file, the supplementary one for shared strings, the split one.
const FILES: usize = 4;
const SPLIT: usize = 3;

fn section(file: usize, name: &str, content: &[u8]) -> Section {
    let is_index = name.ends_with("_index");
    let name = format!(".debug_{name}{}", if file == SPLIT && !is_index { ".dwo" } else { "" });
    Section::new(&name, 1, content.to_vec())
}

fn image(name: &str, text: u64, len: u64, debug: Vec<Section>) -> Image {
    let mut sections = vec![Section::text(text, vec![0x90; len as usize])];
    sections.extend(debug);
    let elf = ElfBuilder {
        segments: vec![Segment::load_text(0x1000, text, len)],
        sections,
        symbols: vec![Symbol::function("_ZN1a1bEv", text, 16), Symbol::function("c", text + 24, 0)],
        ..ElfBuilder::x86_64()
    };
    Image::from_vec(Path::new(name), elf.build()).expect("an ELF file")
}

/// Finder that returns one file for all split units.
struct Split(Image);

impl SplitFinder for Split {
    fn find(&self, _: u64, _: &[u8], _: &[u8]) -> Option<&Image> {
        Some(&self.0)
    }
}

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let text = (input.number(8) & 0x7fff_ffff_ffff).max(0x1000);
    let step = input.number(1).max(1);
    let mut files = [const { Vec::new() }; FILES];
    while !input.0.is_empty() {
        let kind = input.number(1) as usize;
        let len = input.number(2) as usize;
        let content = input.bytes(len);
        let file = kind >> 4 & 3;
        files[file].push(section(file, NAMES[kind & 15], content));
    }
    let [file, debug, alt, split] = files;
    let mapped = image("file", text, 64 * step, file);
    let [debug, alt, split] =
        [debug, alt, split].map(|it| (!it.is_empty()).then(|| image("other", text, 64 * step, it)));
    let split = split.map(Split);
    let source = SymbolSource {
        image: &mapped,
        debug: debug.as_ref(),
        alt: alt.as_ref(),
        mini: None,
        split: split.as_ref().map(|split| split as &dyn SplitFinder),
    };
    let addresses: Vec<Svma> = (0..ADDRESSES).map(|i| Svma(text + i * step)).collect();
    let answers = |addresses: &[Svma]| {
        let mut strings = Strings::default();
        let request = SymbolRequest { source, addresses };
        let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut strings);
        assert_eq!(symbols.addresses[0].len(), addresses.len());
        let names = |range: std::ops::Range<u32>| {
            let frames = &symbols.frames[range.start as usize..range.end as usize];
            let name = |it: &profile::InlineRow| it.function.map(|id| strings.get(id).to_vec());
            frames.iter().map(name).collect::<Vec<_>>()
        };
        symbols.addresses[0].iter().map(|it| names(it.frames.clone())).collect::<Vec<_>>()
    };
    // The schedule of the threads is arbitrary.
    assert_eq!(answers(&addresses), answers(&addresses));
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
