//! Stored answers are equal to computed ones, damaged files are ignored, and the folder stays within its size limit.
#![allow(clippy::disallowed_methods, reason = "tests look at files as others see them")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use address::{Avma, FileOffset, Pid, Svma};
use budget::MemoryBudget;
use host::{PrivateFolder, ScratchDir};
use image_store::{Image, ImageStore, LoadedImage};
use module_map::{FileIdentity, MapEvent, Timeline};
use profile::Strings;
use symbolizer::{
    KernelFunction, KernelSymbols as _, SymbolRequest, SymbolSource, SymbolizeOptions, Symbols,
    symbolize,
};
use synth::{ElfBuilder, Section, Segment, Symbol};

use crate::answers::Answers;
use crate::folder::{FileCount, trim};
use crate::key::CacheFileKind;
use crate::layout::RULE;
use crate::{Cache, CacheContents, CacheKey, CacheLocation, Fresh, RuleRows};

const KEY: CacheKey = CacheKey([7; CacheKey::SIZE]);

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
    let request = SymbolRequest { source: SymbolSource::of(image), addresses };
    symbolize(&[request], &SymbolizeOptions::default(), strings)
}

fn cache(folder: &Path) -> Cache {
    Cache::new(
        &CacheLocation::of_default_size(folder.to_owned()),
        &Arc::new(MemoryBudget::new(None)),
    )
}

/// Answers with the help of a folder; returns the number of addresses that were missing, too.
fn with(folder: &Path, image: &Image, addresses: &[Svma]) -> (Symbols, Strings, usize) {
    let cache = cache(folder);
    let recalled = cache.recall(&[(Some(KEY), addresses)]);
    let (mut new, mut strings) = (Strings::default(), Strings::default());
    let asked = recalled.missing(0).len();
    let symbols = ask(image, recalled.missing(0), &mut new);
    let fresh = Fresh { symbols: &symbols, strings: &new };
    cache.store(&recalled, fresh, &[true]);
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
    let whole = PrivateFolder::at(dir.path().to_owned())
        .peek(&KEY.name(CacheFileKind::Answers))
        .expect("kept");
    assert_eq!(Answers::read(whole.clone(), &KEY).map(|answers| answers.len()), Some(3));
    assert!(Answers::read(whole.clone(), &CacheKey([8; CacheKey::SIZE])).is_none());
    for len in 0..whole.len() {
        assert!(Answers::read_any(whole[..len].to_vec()).is_none(), "{len} bytes");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        // Four bytes of the head are unused.
        assert_eq!(Answers::read_any(bytes).is_some(), (12..16).contains(&at), "byte {at}");
    }
    assert!(Answers::read_any([&whole[..], &[0]].concat()).is_none());
}

/// A file with a correct checksum and invalid tables is damaged, too.
#[test]
fn tables_are_checked_beside_the_checksum() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let _ = with(dir.path(), &image(), &[Svma(0x1001), Svma(0x1009), Svma(0x1030)]);
    let whole = PrivateFolder::at(dir.path().to_owned())
        .peek(&KEY.name(CacheFileKind::Answers))
        .expect("kept");
    for at in crate::layout::UNCHECKED + CacheKey::SIZE..whole.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            sign(&mut bytes);
            // Valid or not, it is read without a panic.
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
    let folder = PrivateFolder::at(dir.path().to_owned());
    let name = |number: u8| CacheKey([number; CacheKey::SIZE]).name(CacheFileKind::Answers);
    for number in 0..4 {
        folder.write(&name(number), &[&[0; 100]]).expect("written");
        let file = std::fs::File::open(dir.path().join(name(number))).expect("there");
        let used = SystemTime::now() - Duration::from_secs(4000 - 900 * u64::from(number));
        file.set_modified(used).expect("set");
    }
    std::fs::write(dir.path().join("another's"), [0; 1000]).expect("written");
    assert!(folder.read(&name(0)).is_some());
    trim(&folder, 399).expect("trimmed");
    let left = |number: &u8| folder.peek(&name(*number)).is_some();
    assert_eq!((0..4).filter(left).collect::<Vec<_>>(), [0, 2, 3]);
    trim(&folder, 100).expect("trimmed");
    assert_eq!((0..4).filter(left).collect::<Vec<_>>(), [0]);
    assert!(dir.path().join("another's").exists());
    let contents = CacheContents::of(&folder).expect("a folder");
    let FileCount { files, bytes, .. } = contents.unusable;
    assert_eq!((contents.of_kind(CacheFileKind::Answers).files, files, bytes), (0, 1, 100));
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
    cache(dir.path()).store_kernel(&KEY, &proofs, &[function("one", 0x2000, 0x2010)]);
    cache(dir.path()).store_kernel(&KEY, &proofs, &[function("two", 0x3000, 0x3010)]);
    let kept = cache(dir.path()).kernel(&KEY, &names).expect("kept");
    let known = |address| kept.lookup(Avma(address)).map(|(name, start)| (name, start.0));
    assert_eq!(known(0x200f), Some((&b"one"[..], 0x2000)));
    assert_eq!(known(0x3000), Some((&b"two"[..], 0x3000)));
    assert_eq!([0x2010, 0x1fff, 0x3010, 0, 5].map(known), [None; 5]);
    assert_eq!(names.map(|name| kept.address_of(name)), [Some(Avma(0x1000)), None]);
    assert!(cache(dir.path()).kernel(&KEY, &[b"_stext"]).is_none());
    assert!(cache(dir.path()).kernel_index(&KEY, &names).is_none());
    cache(dir.path()).store_kernel_index(&KEY, |visit| {
        for (start, name) in [(0x2000, Some(&b"one"[..])), (0x2010, Some(b"other")), (0x2040, None)]
        {
            visit(Avma(start), name);
        }
    });
    let index = cache(dir.path()).kernel_index(&KEY, &names).expect("an index");
    assert_eq!(index.lookup(Avma(0x203f)), Some((&b"other"[..], Avma(0x2010))));
    assert_eq!(
        (index.lookup(Avma(0x2040)), index.address_of(b"_text")),
        (None, kept.address_of(b"_text"))
    );
    assert!(cache(dir.path()).kernel_index(&KEY, &[b"_stext"]).is_none());
    let contents = CacheContents::of(&PrivateFolder::at(dir.path().to_owned())).expect("a folder");
    let of_index = FileCount { files: 1, bytes: 108, entries: 3 };
    assert_eq!(contents.of_kind(CacheFileKind::KernelIndex), of_index);
    assert_eq!(contents.of_kind(CacheFileKind::Answers).files, 1);
    assert!(contents.to_string().contains("indexes of kernel symbols: 1, bytes: 108, symbols: 3"));
    assert!(cache(dir.path()).kernel(&CacheKey([8; CacheKey::SIZE]), &names).is_none());
}

/// A rule of equal bytes.
const fn rule(byte: u8) -> [u8; RULE] {
    [byte; RULE]
}

/// Returns the rules stored under the key: each address with the byte of its rule.
fn kept_rules(folder: &Path) -> Vec<(u64, u8)> {
    let Some(RuleRows { first, offsets, numbers, rules }) = cache(folder).rules(&KEY) else {
        return Vec::new();
    };
    let rows = offsets.iter().zip(&numbers);
    let row = |(&offset, &number): (&u32, &u16)| {
        (first + u64::from(offset), rules[usize::from(number)][0])
    };
    rows.map(row).collect()
}

fn keep(folder: &Path, new: &[(u64, [u8; RULE])]) {
    let cache = cache(folder);
    cache.store_rules(&KEY, new, |_| true);
    assert_eq!(cache.finish(), None);
}

#[test]
fn rules_are_kept_beside_those_of_before() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    assert_eq!(kept_rules(dir.path()), []);
    keep(dir.path(), &[(0x1010, rule(1)), (0x1020, rule(2)), (0x1030, rule(1))]);
    assert_eq!(kept_rules(dir.path()), [(0x1010, 1), (0x1020, 2), (0x1030, 1)]);
    // Lower, in between, replaced and higher; and one too far away for the layout.
    let far = 0x1000 + (1 << 32);
    keep(
        dir.path(),
        &[
            (0x1000, rule(2)),
            (0x1018, rule(3)),
            (0x1020, rule(1)),
            (0x1040, rule(3)),
            (far, rule(4)),
        ],
    );
    let all = [(0x1000, 2), (0x1010, 1), (0x1018, 3), (0x1020, 1), (0x1030, 1), (0x1040, 3)];
    assert_eq!(kept_rules(dir.path()), all);
    let folder = PrivateFolder::at(dir.path().to_owned());
    let contents = CacheContents::of(&folder).expect("a folder");
    // A head of 72 bytes, six for each address, 22 for each rule.
    let bytes = 72 + 6 * 6 + 4 * 22;
    let of_rules = FileCount { files: 1, bytes, entries: 6 };
    assert_eq!(contents.of_kind(CacheFileKind::Rules), of_rules);
    assert_eq!(contents.of_kind(CacheFileKind::Answers), FileCount::default());
    let shown = contents.to_string();
    let line = "\nfiles of unwind rules: 1, bytes: 196, addresses with a rule: 6";
    assert_eq!(shown, format!("files: 0, bytes: 0, addresses with an answer: 0{line}"));
    // Rules that do not fit their file are dropped.
    cache(dir.path()).store_rules(&KEY, &[(0x1050, rule(5))], |old| old.first != 0x1000);
    assert_eq!(kept_rules(dir.path()), [(0x1050, 5)]);
    assert_eq!(CacheContents::clear(&folder).expect("cleared"), (1, 72 + 6 + 22));
}

#[test]
fn no_damage_of_rules_is_read() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    keep(dir.path(), &[(0x1010, rule(1)), (0x1020, rule(2)), (0x1030, rule(1))]);
    let whole = PrivateFolder::at(dir.path().to_owned())
        .peek(&KEY.name(CacheFileKind::Rules))
        .expect("kept");
    assert!(RuleRows::read(&whole, &KEY).is_some());
    assert!(RuleRows::read(&whole, &CacheKey([8; CacheKey::SIZE])).is_none());
    for len in 0..whole.len() {
        assert_eq!(RuleRows::read_any(&whole[..len]), None, "{len} bytes");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert_eq!(RuleRows::read_any(&bytes), None, "byte {at}");
    }
    assert_eq!(RuleRows::read_any(&[&whole[..], &[0]].concat()), None);
    // Errors despite a correct checksum: addresses that do not begin at the first one, do not ascend, or overflow.
    // Also an invalid rule number, and more addresses or rules than there are.
    let sizes = crate::layout::RULES_HEAD - 8;
    let offsets = crate::layout::RULES_HEAD;
    let wrong = [
        (offsets, 1),
        (offsets + 4, 0x20),
        (offsets + 12, 2),
        (sizes, 4),
        (sizes + 3, 0xff),
        (sizes + 4, 1),
        (sizes + 7, 0xff),
    ];
    for (at, value) in wrong {
        let mut bytes = whole.clone();
        bytes[at] = value;
        sign(&mut bytes);
        assert_eq!(RuleRows::read_any(&bytes), None, "{value:#x} at {at}");
    }
    let mut bytes = whole;
    bytes[sizes - 8..sizes].copy_from_slice(&u64::MAX.to_le_bytes());
    sign(&mut bytes);
    assert_eq!(RuleRows::read_any(&bytes), None);
}

/// Writes the correct checksum into a file.
fn sign(bytes: &mut [u8]) {
    let sum = crate::layout::checksum(&bytes[crate::layout::UNCHECKED..]);
    bytes[16..24].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_file_of_rules_stays_within_its_size() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let place =
        CacheLocation { most: 800, ..CacheLocation::of_default_size(dir.path().to_owned()) };
    let cache = Cache::new(&place, &Arc::new(MemoryBudget::new(None)));
    // A head of 72 bytes, a rule of 22, and 17 addresses of six: 196 bytes; a file may have 200.
    let rows = |addresses: u64| -> Vec<_> { (0..addresses).map(|at| (at, rule(1))).collect() };
    cache.store_rules(&KEY, &rows(17), |_| true);
    assert_eq!(kept_rules(dir.path()).len(), 17);
    cache.store_rules(&KEY, &rows(18), |_| true);
    assert_eq!(kept_rules(dir.path()).len(), 17);
    assert_eq!(cache.finish(), None);
    // Distinct rules beyond the range of numbers are omitted.
    let many = |at: u32| {
        let mut rule = rule(0);
        rule[..4].copy_from_slice(&at.to_le_bytes());
        (u64::from(at), rule)
    };
    let many: Vec<_> = (0..70_000).map(many).collect();
    let rows = RuleRows::default().with(&many);
    assert_eq!((rows.offsets.len(), rows.rules.len()), (65_536, 65_536));
}

/// A file without build-id, as a separate run opens it.
fn opened(path: &Path) -> Arc<LoadedImage> {
    let mut timeline = Timeline::new();
    timeline.map(&MapEvent {
        pid: Pid(1),
        kernel: false,
        start: Avma(0x1000),
        len: 0x40,
        offset: FileOffset(0x1000),
        executable: true,
        writable: false,
        path: path.as_os_str().as_encoded_bytes(),
        identity: FileIdentity::default(),
    });
    let module = timeline.modules().first().expect("one map").clone();
    ImageStore::default().image(&module).expect("an ELF file").clone()
}

#[test]
fn a_changed_file_has_another_key_of_rules() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let path = dir.path().join("program");
    let mut bytes = image().bytes().to_vec();
    let key = |bytes: &[u8], seconds: u64, version: u32| {
        std::fs::write(&path, bytes).expect("written");
        let file = std::fs::File::options().write(true).open(&path).expect("there");
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
        file.set_modified(changed).expect("set");
        CacheKey::of_rules(opened(&path).image(), version).expect("a key")
    };
    let first = key(&bytes, 0, 1);
    let of_version = |version| CacheKey::of_rules(opened(&path).image(), version);
    assert_eq!(of_version(1), Some(first));
    let other_version = of_version(2).expect("a key");
    // The same bytes at the same time of change, but the metadata were changed later.
    let rewritten = key(&bytes, 0, 1);
    assert!(rewritten != first && rewritten != other_version);
    bytes[0x1000] ^= 1;
    let changed = key(&bytes, 1, 1);
    assert!(changed != first && other_version != first);
    // A file changed just now could change again at the same time; an image in memory has no file.
    std::fs::write(&path, &bytes).expect("written");
    assert_eq!(CacheKey::of_rules(opened(&path).image(), 1), None);
    assert_eq!(CacheKey::of_rules(&image(), 1), None);
}
