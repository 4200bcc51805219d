//! Test: the fast path gives the same rules as the general path, on all of the C and C++ libraries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Avma, FileOffset, Pid, Svma};
use budget::Budget;
use gimli::{EhFrame, UnwindSection as _};
use image_store::{ImageStore, LoadedImage};
use module_map::{FileIdentity, MapEvent, Timeline};

use crate::cfi::fde::endian_of;
use crate::cfi::{CfiScratch, CompiledRow, UnwindInfo};

fn opened(path: &Path, images: &ImageStore) -> Arc<LoadedImage> {
    let mut timeline = Timeline::new();
    timeline.map(&MapEvent {
        pid: Pid(1),
        kernel: false,
        start: Avma(0x1000),
        len: 0x1000,
        offset: FileOffset(0),
        executable: true,
        writable: false,
        path: path.as_os_str().as_encoded_bytes(),
        identity: FileIdentity::default(),
    });
    let module = timeline.modules().first().expect("one map").clone();
    images.image(&module).expect("an ELF file of the test data").clone()
}

/// Checks all descriptions of a file at the start, the end and every few bytes between: the fast path gives no rule or
/// that of the general path. Returns the number of queried addresses and the number of rules that the fast path gave.
fn agreement(path: &Path) -> (usize, usize) {
    let images = ImageStore::default();
    let file = opened(path, &images);
    let info = UnwindInfo::new(file.clone(), &Budget::default());
    let arch = info.arch().expect("a known processor");
    let image = file.image();
    let section = image.section(".eh_frame").expect("every one has it");
    let bytes = image.section_data(section).expect("not compressed");
    let frame = EhFrame::new(&bytes, endian_of(image));
    let mut entries = frame.entries(info.sections.bases());
    let mut scratch = CfiScratch::new();
    let (mut queried, mut given) = (0, 0);
    while let Ok(Some(entry)) = entries.next() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) =
            partial.parse(|section, bases, offset| section.cie_from_offset(bases, offset))
        else {
            continue;
        };
        let last = fde.end_address().saturating_sub(1);
        for svma in (fde.initial_address()..last).step_by(3).take(40).chain([last]).map(Svma) {
            queried += 1;
            let Some(fast) = info.sections.fast_rule(svma, arch, &mut scratch.last_cie) else {
                continue;
            };
            given += 1;
            let found = info.sections.find(svma, &images).expect("covered").expect("not damaged");
            match info.compile(&found, svma, arch, &mut scratch.context) {
                CompiledRow::Rule(rule) => {
                    assert_eq!(fast.rule, rule, "{} at {svma}", path.display())
                }
                CompiledRow::Full(row, ..) => panic!("{} at {svma}: {row:?}", path.display()),
            }
        }
    }
    (queried, given)
}

#[test]
fn both_ways_give_the_same_rules() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysroot");
    let lib = root.join("usr/lib/x86_64-linux-gnu");
    // Not covered by the fast path: PLT stubs, signal trampolines, stack-realigned and hand-written code.
    let expected = [
        ("libc.so.6", 103_102, 102_929),
        ("ld-linux-x86-64.so.2", 9_374, 9_337),
        ("libstdc++.so.6.0.30", 119_335, 119_300),
        ("libm.so.6", 28_635, 28_600),
    ];
    let found = expected.map(|(name, ..)| {
        let (queried, given) = agreement(&lib.join(name));
        (name, queried, given)
    });
    assert_eq!(found, expected);
}
