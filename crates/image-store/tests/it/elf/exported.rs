//! Names exported by files of the test data.

use std::path::Path;

use host::{Origin, RealHost};
use image_store::{Exported, Image};
use synth::ElfBuilder;

fn image(name: &str) -> Image {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/sysroot/usr/lib/x86_64-linux-gnu");
    Image::open(&RealHost, &folder.join(name), Origin::User).expect("a library")
}

#[test]
fn names_of_the_c_library() {
    let library = image("libc.so.6");
    let function = library.exported_function(b"free").expect("a function");
    assert_eq!(library.exported(b"free"), Exported::Function(function));
    // A name of the loader, a C++ operator, and an empty name.
    for name in [&b"_r_debug"[..], b"_ZdlPv", b""] {
        assert_eq!(library.exported(name), Exported::Nothing);
    }
    // Two names decided by a resolver, and data.
    for name in [&b"memcpy"[..], b"time", b"environ"] {
        assert_eq!(library.exported(name), Exported::Unclear);
        assert_eq!(library.exported_function(name), None);
    }
}

#[test]
fn the_list_of_loaded_files_is_the_loaders() {
    assert_eq!(image("ld-linux-x86-64.so.2").exported(b"_r_debug"), Exported::Unclear);
    assert_eq!(image("libstdc++.so.6.0.30").exported(b"_r_debug"), Exported::Nothing);
}

#[test]
fn a_file_without_a_table_of_names_says_nothing() {
    let bytes = ElfBuilder::x86_64().build();
    let image = Image::from_vec(Path::new("bare"), bytes).expect("an ELF file");
    assert_eq!(image.exported(b"free"), Exported::Unclear);
}
