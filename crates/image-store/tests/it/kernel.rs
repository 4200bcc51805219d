//! Kernel modules: found by build-id regardless of name and compression, and laid out as by the kernel.

use std::path::Path;

use address::{BuildId, FileOffset, Svma};
use host::{Host as _, Origin, RealHost};
use image_store::{FileOptions, Image, ImageStore, LoadError, MODULE_CODE};

use crate::support::{data, machine};

/// Addresses of `work` and `rare`: `.text` has 13 bytes.
const WORK: u64 = MODULE_CODE.0 + 4;
const RARE: u64 = MODULE_CODE.0 + 13;

fn bytes_of(name: &str) -> Vec<u8> {
    RealHost.read(&data("kernel").join(name), Origin::User).expect("a module")
}

fn build_id() -> BuildId {
    let image = Image::from_vec(Path::new("kmod.ko"), bytes_of("kmod.ko")).expect("a module");
    image.build_id().expect("its id")
}

#[test]
fn compressed_modules_are_found_through_the_list_of_the_release() {
    for suffix in ["", ".gz", ".xz", ".zst"] {
        let compressed = bytes_of(&format!("kmod.ko{suffix}"));
        // The list has `-` instead of the `_` in the kernel's name; the compression is detected from the content.
        let path = "/sysroot/lib/modules/6.1.0-x/kernel/drivers/my-mod.ko.xz";
        let list = b"kernel/a.ko:\nkernel/drivers/my-mod.ko.xz: kernel/a.ko\n";
        let (_, options) =
            machine(&[(path, &compressed), ("/sysroot/lib/modules/6.1.0-x/modules.dep", list)]);
        let store = ImageStore::new(FileOptions {
            sysroots: vec!["/sysroot".into()],
            kernel_release: Some(b"6.1.0-x".to_vec()),
            ..options
        });
        let file = store.kernel_file(b"[my_mod]", build_id()).expect(suffix);
        assert_eq!(file.image().path(), Path::new(path));
        let other = store.kernel_file(b"[my_mod]", BuildId::new(&[1; 20]).expect("an id"));
        assert!(matches!(other, Err(LoadError::BuildId { .. })), "{other:?}");
    }
}

#[test]
fn modules_are_laid_out_as_the_kernel_does() {
    let store = ImageStore::new(FileOptions {
        modules: vec![data("kernel/kmod.ko")],
        ..FileOptions::default()
    });
    let file = store.kernel_file(b"/anywhere/kmod.ko.xz", build_id()).expect("the module");
    let image = file.image();
    // `.text` comes first, followed by `.text.unlikely`; `.init.text` is elsewhere.
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
    assert!(Image::open(&RealHost, &path, Origin::User).expect("an object").is_relocatable());
    let image = Image::open_for_copies(&RealHost, &path, Origin::User).expect("laid out");
    assert!(!image.is_relocatable());
    let text = image.section(".text").expect("code");
    assert_eq!(text.svma.0, text.offset().0);
    let work = image.symbol_address(b"work").expect("a function");
    assert_eq!(work.0, text.offset().0 + 4);
    assert_eq!(image.svma_of_offset(FileOffset(work.0), true), Some(work));
    // The call frame information refers to the code: the first FDE is of `helper`, or of code before it.
    let frames = image.section(".eh_frame").expect("call frame information");
    let bytes = image.section_data(frames).expect("its bytes");
    let cie = 4 + u32::from_le_bytes(*bytes.first_chunk().expect("a length")) as usize;
    let field = cie + 8;
    let relative = i32::from_le_bytes(*bytes[field..].first_chunk().expect("a pointer"));
    let start = frames.svma.0.wrapping_add(field as u64).wrapping_add_signed(i64::from(relative));
    let code: Vec<u64> =
        image.sections().iter().filter(|s| s.executable).map(|s| s.svma.0).collect();
    assert!(code.contains(&start), "{start:#x} {code:x?}");
    // Line information refers to the code, too: a relocation sets the address of the line program.
    let info = image.section(".debug_info").expect("debug information");
    assert!(!image.section_data(info).expect("its bytes").is_empty());
}

#[test]
fn damaged_objects_are_refused_or_harmless() {
    let bytes = bytes_of("kmod.ko");
    let (host, _) = machine(&[]);
    let path = Path::new("/damaged.o");
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        host.insert(path, damaged);
        if let Ok(image) = Image::open_for_copies(&*host, path, Origin::User) {
            image.sections().iter().for_each(|section| drop(image.section_data(section)));
        }
        host.insert(path, &bytes[..at]);
        let _ = Image::open_for_copies(&*host, path, Origin::User);
    }
}
