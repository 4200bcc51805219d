//! What is kept is what would be answered; what is damaged is not there; the folder stays within its size.
#![allow(clippy::disallowed_methods, reason = "tests look at files as others see them")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use address::{Avma, Svma};
use budget::Memory;
use host::{OwnFolder, ScratchDir};
use module_map::Image;
use profile::Strings;
use symbolizer::{
    KernelFunction, KernelSymbols as _, Options, Request, SymbolSource, Symbols, symbolize,
};
use synth::{ElfBuilder, Section, Segment, Symbol};

use crate::answers::Answers;
use crate::place::trim;
use crate::{Cache, CacheContents, CachePlace, Fresh, Key};

const KEY: Key = Key([7; Key::SIZE]);

/// Functions of 8 bytes, then code without a symbol.
fn image() -> Image {
    let names = ["_ZN4math3addEii", "main", "_ZN1a1bEv", "plain"];
    let symbols =
        names.iter().zip(0..).map(|(name, at)| Symbol::function(name, 0x1000 + 8 * at, 8));
    let elf = ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x40)],
        sections: vec![Section::text(0x1000, vec![0x90; 0x40])],
        symbols: symbols.collect(),
        ..ElfBuilder::x86_64()
    };
    Image::from_vec(Path::new("program"), elf.build()).expect("a file")
}

fn ask(image: &Image, addresses: &[Svma], strings: &mut Strings) -> Symbols {
    let request = Request { source: SymbolSource::of(image), addresses };
    symbolize(&[request], &Options::default(), strings)
}

fn cache(folder: &Path) -> Cache {
    Cache::new(&CachePlace::usual(folder.to_owned()), &Arc::new(Memory::new(None)))
}

/// Answers with the help of a folder; tells how many addresses were asked anew.
fn with(folder: &Path, image: &Image, addresses: &[Svma]) -> (Symbols, Strings, usize) {
    let cache = cache(folder);
    let recalled = cache.recall(&[(Some(KEY), addresses)]);
    let (mut new, mut strings) = (Strings::default(), Strings::default());
    let asked = recalled.missing(0).len();
    let symbols = ask(image, recalled.missing(0), &mut new);
    let fresh = Fresh { symbols: &symbols, strings: &new };
    cache.keep(&recalled, fresh, &[true]);
    assert_eq!(cache.finish(), None);
    let all = recalled.complete(fresh, &mut strings);
    (all, strings, asked)
}

#[test]
fn what_is_kept_is_what_would_be_answered() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let image = image();
    let sets: [(&[u64], usize); 5] = [
        (&[0x1009, 0x1030], 2),
        (&[0x1001, 0x1009, 0x1012, 0x1030, 0x9000], 3),
        (&[0x1012], 0),
        (&[], 0),
        (&[0x1000, 0x1001, 0x1008, 0x1009, 0x1018, 0x1031], 4),
    ];
    for (addresses, expected_asked) in sets {
        let addresses: Vec<Svma> = addresses.iter().copied().map(Svma).collect();
        let (symbols, strings, asked) = with(dir.path(), &image, &addresses);
        let mut plain = Strings::default();
        assert_eq!(symbols, ask(&image, &addresses, &mut plain));
        assert!(strings.iter().eq(plain.iter()));
        assert_eq!(asked, expected_asked);
    }
}

#[test]
fn no_damage_is_read() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let image = image();
    let addresses = [Svma(0x1001), Svma(0x1009), Svma(0x1030)];
    let _ = with(dir.path(), &image, &addresses);
    let whole = OwnFolder::at(dir.path().to_owned()).look(&KEY.name()).expect("kept");
    assert_eq!(Answers::read(whole.clone(), &KEY).map(|answers| answers.len()), Some(3));
    assert!(Answers::read(whole.clone(), &Key([8; Key::SIZE])).is_none());
    for len in 0..whole.len() {
        assert!(Answers::read_any(whole[..len].to_vec()).is_none(), "{len} bytes");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        // Four bytes of the head say nothing.
        assert_eq!(Answers::read_any(bytes).is_some(), (12..16).contains(&at), "byte {at}");
    }
    assert!(Answers::read_any([&whole[..], &[0]].concat()).is_none());
}

/// A file with a right checksum whose tables lead nowhere is damaged, too.
#[test]
fn tables_are_checked_beside_the_checksum() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let _ = with(dir.path(), &image(), &[Svma(0x1001), Svma(0x1009), Svma(0x1030)]);
    let whole = OwnFolder::at(dir.path().to_owned()).look(&KEY.name()).expect("kept");
    for at in crate::layout::UNCHECKED + Key::SIZE..whole.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            let sum = crate::layout::checksum(&bytes[crate::layout::UNCHECKED..]);
            bytes[16..24].copy_from_slice(&sum.to_le_bytes());
            // Whatever it says is told without a panic.
            if let Some(answers) = Answers::read_any(bytes) {
                for row in 0..answers.len() {
                    let frames = answers.row(row).frames.map(|frame| answers.frame(frame));
                    let strings = frames.filter_map(|frame| frame.function);
                    let _ = strings.map(|string| answers.string(string).len()).sum::<usize>();
                }
            }
        }
    }
}

#[test]
fn what_was_used_longest_ago_goes() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let folder = OwnFolder::at(dir.path().to_owned());
    let name = |number: u8| Key([number; Key::SIZE]).name();
    for number in 0..4 {
        folder.write(&name(number), &[&[0; 100]]).expect("written");
        let file = std::fs::File::open(dir.path().join(name(number))).expect("there");
        let used = SystemTime::now() - Duration::from_secs(4000 - 900 * u64::from(number));
        file.set_modified(used).expect("set");
    }
    std::fs::write(dir.path().join("another's"), [0; 1000]).expect("written");
    assert!(folder.read(&name(0)).is_some());
    trim(&folder, 399).expect("trimmed");
    let left = |number: &u8| folder.look(&name(*number)).is_some();
    assert_eq!((0..4).filter(left).collect::<Vec<_>>(), [0, 2, 3]);
    trim(&folder, 100).expect("trimmed");
    assert_eq!((0..4).filter(left).collect::<Vec<_>>(), [0]);
    assert!(dir.path().join("another's").exists());
    let contents = CacheContents::of(&folder).expect("a folder");
    assert_eq!((contents.files, contents.unusable, contents.unusable_bytes), (0, 1, 100));
    assert_eq!(CacheContents::clear(&folder).expect("cleared"), (1, 100));
}

#[test]
fn functions_of_the_kernel_are_known_between_their_ends() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let function = |name: &'static str, start, end| KernelFunction {
        name: name.as_bytes(),
        start: Avma(start),
        end: Avma(end),
    };
    let proofs = [(&b"_text"[..], Some(Avma(0x1000))), (b"_etext", None)];
    let names = [&b"_text"[..], b"_etext"];
    cache(dir.path()).keep_kernel(&KEY, &proofs, &[function("one", 0x2000, 0x2010)]);
    cache(dir.path()).keep_kernel(&KEY, &proofs, &[function("two", 0x3000, 0x3010)]);
    let kept = cache(dir.path()).kernel(&KEY, &names).expect("kept");
    let known = |address| kept.lookup(Avma(address)).map(|(name, start)| (name, start.0));
    assert_eq!(known(0x200f), Some((&b"one"[..], 0x2000)));
    assert_eq!(known(0x3000), Some((&b"two"[..], 0x3000)));
    assert_eq!([0x2010, 0x1fff, 0x3010, 0, 5].map(known), [None; 5]);
    assert_eq!(names.map(|name| kept.address_of(name)), [Some(Avma(0x1000)), None]);
    assert!(cache(dir.path()).kernel(&KEY, &[b"_stext"]).is_none());
    assert!(cache(dir.path()).kernel(&Key([8; Key::SIZE]), &names).is_none());
}
