//! Texts of C, C++, Rust and Go.

use gimli::constants as c;
use values::{Absence, Value};

use crate::assembler::{Attribute, Die, die};
use crate::world::{MEMORY, World, base, local, shown, value};

fn member(name: &'static str, of: &'static str, offset: u64) -> Die {
    die(c::DW_TAG_member)
        .name(name)
        .of(of)
        .with(c::DW_AT_data_member_location, Attribute::Unsigned(offset))
}

fn char_types() -> [Die; 3] {
    [
        base("char", "char", 1, c::DW_ATE_signed_char),
        base("long", "unsigned long", 8, c::DW_ATE_unsigned),
        die(c::DW_TAG_pointer_type).label("P").of("char"),
    ]
}

/// A pointer and a length at the start of memory, and a text 32 bytes further.
fn fat(address: u64, length: u64, text: &[u8]) -> World {
    let mut bytes = [address.to_le_bytes(), length.to_le_bytes(), [0; 8], [0; 8]].concat();
    bytes.extend(text);
    World::with(&bytes)
}

#[test]
fn texts_of_c() {
    let pointer = local([
        base("char", "char", 1, c::DW_ATE_signed_char),
        die(c::DW_TAG_const_type).label("C").of("char"),
        die(c::DW_TAG_pointer_type).label("T").of("C"),
    ]);
    let read = |world: &World| value(&pointer, "f(v)", 0x1010, world);
    let text = |bytes: &[u8], cut| Ok(Value::Text { bytes: bytes.to_vec(), cut });
    assert_eq!(read(&fat(MEMORY + 32, 0, b"abc\0def")), text(b"abc", false));
    assert_eq!(read(&fat(MEMORY + 32, 0, b"abc")), text(b"abc", true));
    assert_eq!(read(&fat(MEMORY + 32, 0, &[b'x'; 300])), text(&[b'x'; 256], true));
    assert_eq!(read(&fat(0, 0, b"")), Ok(Value::Address(0)));
    let unread = Value::Unread { address: 0x10, reason: Absence::Memory(0x10) };
    assert_eq!(read(&fat(0x10, 0, b"")), Ok(unread));
    let range = die(c::DW_TAG_subrange_type).with(c::DW_AT_upper_bound, Attribute::Unsigned(3));
    let array = local([
        base("char", "char", 1, c::DW_ATE_signed_char),
        die(c::DW_TAG_array_type).label("T").of("char").has([range]),
    ]);
    let read = |bytes: &[u8]| value(&array, "f(v)", 0x1010, &World::with(bytes));
    assert_eq!(read(b"ab\0c"), text(b"ab", false));
    assert_eq!(read(b"abcd"), text(b"abcd", false));
    assert_eq!(read(b"ab"), text(b"ab", true));
}

#[test]
fn strings_of_libstdcxx() {
    let sections = local(
        char_types().into_iter().chain([
            die(c::DW_TAG_structure_type)
                .label("H")
                .name("_Alloc_hider")
                .size(8)
                .has([member("_M_p", "P", 0)]),
            die(c::DW_TAG_class_type)
                .label("T")
                .name("basic_string<char>")
                .size(32)
                .has([member("_M_dataplus", "H", 0), member("_M_string_length", "long", 8)]),
        ]),
    );
    let read = |world: &World| shown(&sections, "v", world);
    // The short buffer is inside of the object.
    assert_eq!(read(&fat(MEMORY + 16, 2, b"")), "\0\0");
    assert_eq!(read(&fat(MEMORY + 32, 3, b"abcd")), "abc");
    assert_eq!(read(&fat(0x10, 0, b"")), "");
    assert_eq!(read(&fat(0x10, 3, b"")), "0x10");
    assert_eq!(
        read(&fat(MEMORY + 32, 1 << 60, b"abcd")),
        "absent: impossible length or index 1152921504606846976"
    );
}

#[test]
fn strings_of_libcxx() {
    let array = die(c::DW_TAG_array_type)
        .label("A")
        .of("char")
        .has([die(c::DW_TAG_subrange_type).with(c::DW_AT_count, Attribute::Unsigned(23))]);
    let sections = local(
        char_types().into_iter().chain([
            array,
            die(c::DW_TAG_class_type).label("T").name("basic_string<char, traits>").size(24).has([
                die(c::DW_TAG_structure_type).name("__long").size(24).has([
                    member("__cap_", "long", 0),
                    member("__size_", "long", 8),
                    member("__data_", "P", 16),
                ]),
                die(c::DW_TAG_structure_type)
                    .name("__short")
                    .size(24)
                    .has([member("__size_", "char", 0), member("__data_", "A", 1)]),
            ]),
        ]),
    );
    let short = [&[6][..], b"abc", &[0; 20]].concat();
    assert_eq!(shown(&sections, "v", &World::with(&short)), "abc");
    let mut long =
        [0x21_u64.to_le_bytes(), 3_u64.to_le_bytes(), (MEMORY + 24).to_le_bytes()].concat();
    long.extend(b"xyz!");
    assert_eq!(shown(&sections, "v", &World::with(&long)), "xyz");
}

#[test]
fn strings_of_rust_and_go() {
    let rust = local(
        char_types().into_iter().chain([
            base("u8", "u8", 1, c::DW_ATE_unsigned),
            die(c::DW_TAG_pointer_type).label("B").of("u8"),
            die(c::DW_TAG_structure_type)
                .label("T")
                .name("&str")
                .size(16)
                .has([member("data_ptr", "B", 0), member("length", "long", 8)]),
        ]),
    );
    assert_eq!(shown(&rust, "v", &fat(MEMORY + 32, 3, b"abcd")), "abc");
    let slice = local([
        base("u16", "u16", 2, c::DW_ATE_unsigned),
        base("long", "usize", 8, c::DW_ATE_unsigned),
        die(c::DW_TAG_pointer_type).label("P").of("u16"),
        die(c::DW_TAG_structure_type)
            .label("T")
            .name("&[u16]")
            .size(16)
            .has([member("data_ptr", "P", 0), member("length", "long", 8)]),
    ]);
    let world = fat(MEMORY + 32, 2, &[1, 0, 2, 0, 3, 0]);
    assert_eq!([shown(&slice, "v", &world), shown(&slice, "v[1]", &world)], ["[1, 2]", "2"]);
    assert_eq!(shown(&slice, "v[2]", &world), "absent: impossible length or index 2");
    let go = local(
        char_types().into_iter().chain([
            base("u8", "uint8", 1, c::DW_ATE_unsigned),
            die(c::DW_TAG_pointer_type).label("B").of("u8"),
            die(c::DW_TAG_structure_type)
                .label("T")
                .name("string")
                .size(16)
                .has([member("str", "B", 0), member("len", "long", 8)]),
        ]),
    );
    assert_eq!(shown(&go, "v", &fat(MEMORY + 32, 2, b"hi!")), "hi");
}
