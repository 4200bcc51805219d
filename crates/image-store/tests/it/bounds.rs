//! Limits on the cost of files, and findings about omitted parts.

use std::path::Path;

use address::BuildId;
use budget::{Budget, Limit, Resource};
use host::{Host as _, Origin, RealHost};
use image_store::{FileFindingKind, FileOptions, ImageStore, MODULE_CODE};
use synth::{Section, elf_const};

use crate::files::{builder, elf, hex};
use crate::support::{code, data, machine};

/// A section of zlib bytes with an arbitrary stated size, in the form of `SHF_COMPRESSED`.
fn compressed(name: &str, kind: u32, stated: u64) -> Section {
    /// `zlib.compress(b"text")`.
    const PACKED: [u8; 12] = [0x78, 0x9c, 0x2b, 0x49, 0xad, 0x28, 1, 0, 4, 0x67, 1, 0xc6];
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(stated.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(PACKED);
    Section { flags: 0x800, ..Section::new(name, elf_const::SHT_PROGBITS, bytes) }
}

/// Returns the findings of a store about files.
fn findings(store: &ImageStore) -> Vec<(FileFindingKind, String)> {
    store.findings().into_iter().map(|finding| (finding.kind, finding.message)).collect()
}

#[test]
fn a_section_that_states_more_than_its_file_can_hold_is_left_out() {
    let mut elf = builder(7);
    elf.sections.push(compressed(".debug_info", 1, 16 << 30));
    elf.sections.push(compressed(".debug_str", 1, 4));
    let bytes = elf.build();
    let (_, options) = machine(&[("/bin/app", &bytes)]);
    let store = ImageStore::new(options);
    let mut timeline = module_map::Timeline::new();
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
    let file = store.image(&timeline.modules()[0]).expect("the program");
    let section = |name| file.image().section_data(file.image().section(name).expect("there"));
    assert_eq!(section(".debug_str").expect("its bytes")[..], *b"text");
    let limit = (1 << 20) + 64 * bytes.len() as u64;
    let why = Resource::UnpackedBytes;
    let why = budget::Exhausted { resource: why, limit };
    let error = section(".debug_info").expect_err("too much").to_string();
    assert_eq!(error, format!("section .debug_info of /bin/app asks for {why}"));
    let message = format!("/bin/app: section .debug_info asks for {why}; it was omitted");
    assert_eq!(findings(&store), [(FileFindingKind::PartOmitted, message)]);
}

/// Searches a kernel module. Returns whether it was found, and the findings.
fn of_module(bytes: &[u8], id: BuildId, budget: Budget) -> (bool, Vec<(FileFindingKind, String)>) {
    let (_, options) = machine(&[("/kmod.ko", bytes)]);
    let store =
        ImageStore::new(FileOptions { modules: vec!["/kmod.ko".into()], budget, ..options });
    let file = store.kernel_file(b"[kmod]", id);
    (file.is_ok(), findings(&store))
}

#[test]
fn kernel_modules_unpack_and_are_relocated_within_bounds() {
    let read =
        |name: &str| RealHost.read(&data("kernel").join(name), Origin::User).expect("a module");
    let image = image_store::Image::from_vec(Path::new("kmod.ko"), read("kmod.ko"));
    let id = image.expect("a module").build_id().expect("its id");
    let left_out = |what: &str| (FileFindingKind::PartOmitted, what.to_owned());
    let budget = Budget::default();
    assert_eq!(of_module(&read("kmod.ko.zst"), id, budget), (true, vec![]));
    let few = Limit { base: 10, per_byte: 0, most: 10 };
    let packed = budget.with(Resource::UnpackedBytes, few);
    for name in ["kmod.ko.gz", "kmod.ko.xz", "kmod.ko.zst"] {
        let message = "the file of /kmod.ko asks for more than 10 unpacked bytes; it was omitted";
        assert_eq!(of_module(&read(name), id, packed), (false, vec![left_out(message)]), "{name}");
    }
    let message =
        "/kmod.ko: a section of relocations asks for more than 10 relocations; it was omitted";
    let relocations = budget.with(Resource::Relocations, few);
    assert_eq!(of_module(&read("kmod.ko"), id, relocations), (true, vec![left_out(message)]));
}

/// Memory for file contents is limited per run, in addition to the limits per file.
#[test]
fn what_a_run_holds_is_counted() {
    let held =
        |most| Budget::default().with(Resource::HeldInAll, Limit { base: most, per_byte: 0, most });
    let mut elf = builder(7);
    elf.sections.push(compressed(".debug_info", 1, 4));
    elf.sections.push(compressed(".debug_str", 1, 4));
    let (_, options) = machine(&[("/bin/app", &elf.build())]);
    let store = ImageStore::new(FileOptions { budget: held(6), ..options });
    let mut timeline = module_map::Timeline::new();
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
    let image = store.image(&timeline.modules()[0]).expect("the program").image();
    let section = |name| image.section_data(image.section(name).expect("there"));
    assert_eq!(section(".debug_info").expect("its bytes")[..], *b"text");
    assert_eq!(
        section(".debug_str").expect_err("too much").to_string(),
        "section .debug_str of /bin/app asks for more than 6 bytes of files in memory"
    );
    assert_eq!((store.held().left(), store.may_hold(Path::new("/list"), 3)), (2, false));
    let message = "/list asks for more than 6 bytes of files in memory; it was omitted".to_owned();
    assert_eq!(findings(&store), [(FileFindingKind::PartOmitted, message)]);

    let read =
        |name: &str| RealHost.read(&data("kernel").join(name), Origin::User).expect("a module");
    let image = image_store::Image::from_vec(Path::new("kmod.ko"), read("kmod.ko"));
    let id = image.expect("a module").build_id().expect("its id");
    let message = "the file of /kmod.ko asks for more than 10 unpacked bytes; it was omitted";
    let left_out = vec![(FileFindingKind::PartOmitted, message.to_owned())];
    assert_eq!(of_module(&read("kmod.ko.zst"), id, held(10)), (false, left_out));
}

/// A relocatable file has one symbol table; processing more would be wasted work.
#[test]
fn further_symbol_tables_are_left_out() {
    let mut elf = builder(7);
    elf.e_type = 1;
    elf.segments.clear();
    let table = || Section::new(".more", elf_const::SHT_SYMTAB, vec![0; 48]);
    elf.sections.extend([table(), table()]);
    let id = BuildId::from_hex(&hex(7)).expect("an id");
    let (found, findings) = of_module(&elf.build(), id, Budget::default());
    let message = "/kmod.ko: a second symbol table is one too many; it was omitted".to_owned();
    assert_eq!((found, findings), (true, vec![(FileFindingKind::PartOmitted, message)]));
    assert_eq!(MODULE_CODE.0, 0x10_0000);
}

/// All headers may state parts of one long name.
#[test]
fn names_of_sections_are_counted() {
    let (_, options) = machine(&[("/bin/app", &elf(7))]);
    let none = Limit { base: 8, per_byte: 0, most: 8 };
    let budget = Budget::default().with(Resource::NameBytes, none);
    let store = ImageStore::new(FileOptions { budget, ..options });
    let mut timeline = module_map::Timeline::new();
    timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
    let file = store.image(&timeline.modules()[0]).expect("the program");
    assert!(file.image().sections().len() < 2);
    let message =
        "/bin/app: the names of sections asks for more than 8 bytes of names; it was omitted";
    assert_eq!(findings(&store), [(FileFindingKind::PartOmitted, message.to_owned())]);
}

/// Many headers may state the same bytes; a scan of each would read the file many times.
#[test]
fn headers_state_no_more_than_their_file_accounts_for() {
    let image = |n: usize| {
        let mut elf = builder(7);
        // The headers overwrite the note.
        elf.sections.remove(0);
        let last = *elf.segments.last().expect("a segment");
        elf.segments.extend(vec![last; n]);
        let section = Section::new(".more", elf_const::SHT_PROGBITS, vec![1; 8]);
        elf.sections.extend(vec![section; 5 * n]);
        elf.build()
    };
    let of = |bytes: &[u8]| {
        let (_, options) = machine(&[("/bin/app", bytes)]);
        let store = ImageStore::new(options);
        let mut timeline = module_map::Timeline::new();
        timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
        let file = store.image(&timeline.modules()[0]).expect("the program");
        let image = file.image();
        (image.segments().len(), image.sections().len(), findings(&store))
    };
    let (segments, _, found) = of(&image(8));
    assert_eq!((segments, found), (builder(7).segments.len() + 8, Vec::new()));
    let bytes = image(2000);
    let limit = (1 << 22) + 4 * bytes.len() as u64;
    let why = budget::Exhausted { resource: Resource::StatedBytes, limit };
    let left_out = |what: &str| {
        (FileFindingKind::PartOmitted, format!("/bin/app: {what} asks for {why}; it was omitted"))
    };
    let (segments, sections, found) = of(&bytes);
    assert_eq!((segments, sections), (118, 7523));
    assert_eq!(found, [left_out("the table of sections"), left_out("the table of segments")]);
}
