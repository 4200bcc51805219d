//! Kernel modules: found by build-id, whatever they are called and however they are packed, and laid out as the
//! kernel does.

use std::fs;

use address::{BuildId, FileOffset, Svma};
use module_map::{FileOptions, Image, Library, MODULE_CODE, Refusal};

use crate::support::{Dir, data};

/// Addresses of `work` and `rare`: `.text` is of 13 bytes.
const WORK: u64 = MODULE_CODE.0 + 4;
const RARE: u64 = MODULE_CODE.0 + 13;

fn build_id() -> BuildId {
    Image::open(&data("kernel/kmod.ko")).expect("a module").build_id().expect("its id")
}

#[test]
fn packed_modules_are_found_through_the_list_of_the_release() {
    for suffix in ["", ".gz", ".xz", ".zst"] {
        let dir = Dir::new();
        let packed = fs::read(data(&format!("kernel/kmod.ko{suffix}"))).expect("a module");
        // The list has `-` where the kernel's name has `_`; what the file is packed with is told by its content.
        let path = dir.write("lib/modules/6.1.0-x/kernel/drivers/my-mod.ko.xz", &packed);
        dir.write(
            "lib/modules/6.1.0-x/modules.dep",
            b"kernel/a.ko:\nkernel/drivers/my-mod.ko.xz: kernel/a.ko\n",
        );
        let library = Library::new(FileOptions {
            sysroots: vec![dir.0.clone()],
            kernel_release: Some(b"6.1.0-x".to_vec()),
            ..FileOptions::default()
        });
        let file = library.kernel_file(b"[my_mod]", build_id()).expect(suffix);
        assert_eq!(file.image().path(), path);
        let other = library.kernel_file(b"[my_mod]", BuildId::new(&[1; 20]).expect("an id"));
        assert!(matches!(other, Err(Refusal::BuildId { .. })), "{other:?}");
    }
}

#[test]
fn modules_are_laid_out_as_the_kernel_does() {
    let library = Library::new(FileOptions {
        modules: vec![data("kernel/kmod.ko")],
        ..FileOptions::default()
    });
    let file = library.kernel_file(b"/anywhere/kmod.ko.xz", build_id()).expect("the module");
    let image = file.image();
    // .text first, .text.unlikely behind it; .init.text elsewhere.
    assert_eq!(image.symbol_address(b"helper"), Some(MODULE_CODE));
    assert_eq!(image.symbol_address(b"work"), Some(Svma(WORK)));
    assert_eq!(image.symbol_address(b"rare"), Some(Svma(RARE)));
    assert!(image.symbol_address(b"begin").is_some_and(|begin| begin.0 >= 0x4000_0000));
    let code = image.read_only_bytes(Svma(RARE), 1).expect("its code");
    assert_eq!(code, [0xb8]);
}

#[test]
fn copies_of_objects_are_found_at_their_offsets() {
    let path = data("kernel/kmod.ko");
    assert!(Image::open(&path).expect("an object").is_relocatable());
    let image = Image::open_for_copies(&path).expect("laid out");
    assert!(!image.is_relocatable());
    let text = image.section(".text").expect("code");
    assert_eq!(text.svma.0, text.offset().0);
    let work = image.symbol_address(b"work").expect("a function");
    assert_eq!(work.0, text.offset().0 + 4);
    assert_eq!(image.svma_of_offset(FileOffset(work.0), true), Some(work));
    // The call frame information leads to the code: the first FDE is of `helper`, or of what comes before it.
    let frames = image.section(".eh_frame").expect("call frame information");
    let bytes = image.section_data(frames).expect("its bytes");
    let cie = 4 + u32::from_le_bytes(*bytes.first_chunk().expect("a length")) as usize;
    let field = cie + 8;
    let relative = i32::from_le_bytes(*bytes[field..].first_chunk().expect("a pointer"));
    let start = frames.svma.0.wrapping_add(field as u64).wrapping_add_signed(i64::from(relative));
    let code: Vec<u64> =
        image.sections().iter().filter(|s| s.executable).map(|s| s.svma.0).collect();
    assert!(code.contains(&start), "{start:#x} {code:x?}");
    // Lines know the code, too: the line program sets its address by a relocation.
    let info = image.section(".debug_info").expect("debug information");
    assert!(!image.section_data(info).expect("its bytes").is_empty());
}

#[test]
fn damaged_objects_are_refused_or_harmless() {
    let bytes = fs::read(data("kernel/kmod.ko")).expect("a module");
    let dir = Dir::new();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        let path = dir.write("damaged.o", &damaged);
        if let Ok(image) = Image::open_for_copies(&path) {
            image.sections().iter().for_each(|section| drop(image.section_data(section)));
        }
        let path = dir.write("cut.o", &bytes[..at]);
        let _ = Image::open_for_copies(&path);
    }
}
