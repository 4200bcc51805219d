//! Existing but unusable files with debug information: reported if no other candidate is usable.

use host::MemoryHost;
use image_store::{FileFindingKind, FileOptions, ImageStore};
use module_map::Timeline;
use synth::{Section, elf_const};

use crate::files::{builder, elf, hex};
use crate::support::{code_of, machine};

const STRIPPED: &str = "/bin/app";

/// The first candidate path of the program's debug file.
fn by_id() -> String {
    format!("/debug/.build-id/07/{}.debug", &hex(7)[2..])
}

/// Returns whether the program's debug file was found, and the findings.
fn found(
    machine: (std::sync::Arc<MemoryHost>, FileOptions),
) -> (bool, Vec<(FileFindingKind, String)>) {
    let options = FileOptions { debug_dirs: vec!["/debug".into()], ..machine.1 };
    let store = ImageStore::new(options);
    let mut timeline = Timeline::new();
    timeline.map(&code_of(crate::support::code(1, 0x1000, 0x1000, 0, STRIPPED), &hex(7)));
    let file = store.image(&timeline.modules()[0]).expect("the program");
    let is_found = file.debug(&store).is_some();
    // A second request does not count again.
    assert_eq!(file.debug(&store).is_some(), is_found);
    let findings = store.findings().into_iter();
    (is_found, findings.map(|it| (it.kind, format!("{} ({})", it.message, it.count))).collect())
}

fn told(why: &str) -> Vec<(FileFindingKind, String)> {
    let more = "as the debug file of /bin/app it is not used, so names, inlined functions or lines are \
        missing (1)";
    vec![(FileFindingKind::DebugFile, format!("{why}; {more}"))]
}

#[test]
fn what_is_at_its_place_is_no_debug_file_of_the_program() {
    let path = by_id();
    let of = |bytes: &[u8]| found(machine(&[(STRIPPED, &elf(7)), (&path, bytes)]));
    assert_eq!(of(&elf(7)), (true, vec![]));
    assert_eq!(found(machine(&[(STRIPPED, &elf(7))])), (false, vec![]));
    let other = format!("{path} has build-id {}, wanted was {}", hex(8), hex(7));
    assert_eq!(of(&elf(8)), (false, told(&other)));
    assert_eq!(of(b"no program"), (false, told(&format!("{path} is not an ELF file"))));
    let lost =
        "is empty or starts with zeros, so its content is lost; replace it by an intact copy";
    assert_eq!(of(b""), (false, told(&format!("{path} {lost}"))));
    assert_eq!(of(&[0; 4096]), (false, told(&format!("{path} {lost}"))));
    let cut = "is a damaged or truncated ELF file; replace it by an intact copy";
    assert_eq!(of(&elf(7)[..100]), (false, told(&format!("{path} {cut}"))));
    let mut narrow = elf(7);
    narrow[4] = 1;
    assert_eq!(of(&narrow), (false, told(&format!("{path} {cut}"))));
}

#[test]
fn nothing_is_lost_if_another_place_has_it() {
    let (path, beside) = (by_id(), "/debug/bin/app.debug");
    let files: [(&str, &[u8]); 3] = [(STRIPPED, &elf(7)), (&path, b""), (beside, &elf(7))];
    assert_eq!(found(machine(&files)), (true, vec![]));
    // An image with its own debug information needs no other file.
    let mut whole = builder(7);
    whole.sections.push(Section::new(".debug_info", elf_const::SHT_PROGBITS, vec![0; 8]));
    assert_eq!(found(machine(&[(STRIPPED, &whole.build()), (&path, b"")])), (false, vec![]));
}

#[test]
fn a_debug_link_that_is_damaged_or_leads_to_another_file() {
    let linked = |link: &[u8]| {
        let mut program = builder(7);
        program.sections.push(Section::new(
            ".gnu_debuglink",
            elf_const::SHT_PROGBITS,
            link.to_vec(),
        ));
        program.build()
    };
    let of = |link: &[u8], more: &[(&str, &[u8])]| {
        let program = linked(link);
        found(machine(&[&[(STRIPPED, &program[..])], more].concat()))
    };
    let link = b"app.dbg\0\x01\x02\x03\x04";
    assert_eq!(of(link, &[]), (false, vec![]));
    let other = "/bin/app.dbg has another checksum than the file that belongs to it states";
    assert_eq!(of(link, &[("/bin/app.dbg", &elf(7))]), (false, told(other)));
    let damaged = "/bin/app does not state the name and the checksum of its debug file";
    for link in [&b"app.dbg\0\x01"[..], b"app.dbg", b"\0\0\0\0\x01\x02\x03\x04"] {
        assert_eq!(of(link, &[]), (false, told(damaged)));
    }
}
