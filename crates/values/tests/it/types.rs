//! Types to values.

use gimli::constants as c;
use values::{Absence, Kind, Value};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{MEMORY, World, base, found, local, shown, value};

fn member(name: &'static str, of: &'static str, offset: u64) -> Die {
    let member = die(c::DW_TAG_member).of(of);
    let member = if name.is_empty() { member } else { member.name(name) };
    member.with(c::DW_AT_data_member_location, Attribute::Unsigned(offset))
}

fn bits(name: &'static str, of: &'static str, first: u64, count: u64) -> Die {
    die(c::DW_TAG_member)
        .name(name)
        .of(of)
        .with(c::DW_AT_data_bit_offset, Attribute::Unsigned(first))
        .with(c::DW_AT_bit_size, Attribute::Unsigned(count))
}

fn int() -> Die {
    base("int", "int", 4, c::DW_ATE_signed)
}

#[test]
fn base_types() {
    let read = |size, encoding, bytes: &[u8]| {
        value(&local([base("T", "t", size, encoding)]), "f(v)", 0x1010, &World::with(bytes))
    };
    assert_eq!(read(1, c::DW_ATE_signed, &[0xff]), Ok(Value::Signed { number: -1, bits: 8 }));
    assert_eq!(
        read(2, c::DW_ATE_unsigned, &[0xff, 0xff]),
        Ok(Value::Unsigned { number: 65535, bits: 16 })
    );
    let wide = Value::Signed { number: -2, bits: 128 };
    assert_eq!(read(16, c::DW_ATE_signed, &[&[0xfe][..], &[0xff; 15]].concat()), Ok(wide));
    assert_eq!(read(1, c::DW_ATE_boolean, &[1]), Ok(Value::Bool(true)));
    assert_eq!(read(4, c::DW_ATE_UTF, &[0xe9, 0, 0, 0]), Ok(Value::Char('é')));
    assert_eq!(
        read(4, c::DW_ATE_UTF, &[0, 0xd8, 0, 0]),
        Ok(Value::Unsigned { number: 0xd800, bits: 32 })
    );
    assert_eq!(
        read(8, c::DW_ATE_float, &1.5_f64.to_le_bytes()),
        Ok(Value::Float { number: 1.5, bits: 64 })
    );
    assert_eq!(
        read(4, c::DW_ATE_float, &0.5_f32.to_le_bytes()).map(|it| it.kind()),
        Ok(Kind::Float(32))
    );
    assert_eq!(read(16, c::DW_ATE_float, &[0; 16]), Err(Absence::Type("t".into())));
    assert_eq!(read(4, c::DW_ATE_signed, &[1, 2]), Err(Absence::Memory(MEMORY + 2)));
}

#[test]
fn constants_have_no_place() {
    let constant = |value| {
        let variable =
            die(c::DW_TAG_variable).name("v").of("int").with(c::DW_AT_const_value, value);
        let function = die(c::DW_TAG_subprogram).name("f").code(0x1000, 0x100).has([variable]);
        value_of(&Sections::new([int(), function]))
    };
    assert_eq!(constant(Attribute::Signed(-3)), Ok(Value::Signed { number: -3, bits: 32 }));
    assert_eq!(constant(Attribute::Unsigned(3)), Ok(Value::Signed { number: 3, bits: 32 }));
    assert_eq!(
        constant(Attribute::Block(vec![1, 1, 0, 0])),
        Ok(Value::Signed { number: 257, bits: 32 })
    );
    assert_eq!(constant(Attribute::Block(vec![1])), Err(Absence::Malformed("constant")));
}

fn value_of(sections: &Sections) -> Result<Value, Absence> {
    value(sections, "f(v)", 0x1010, &World::default())
}

#[test]
fn typedefs_and_qualifiers_are_followed() {
    let sections = local([
        die(c::DW_TAG_typedef).label("T").name("mine").of("C"),
        die(c::DW_TAG_const_type).label("C").of("V"),
        die(c::DW_TAG_volatile_type).label("V").of("int"),
        int(),
    ]);
    assert_eq!(shown(&sections, "v", &World::with(&[5, 0, 0, 0])), "5");
    let variables = found(&sections, "f(v)").expect("found");
    assert_eq!(variables.at(0x1010).next().and_then(|it| it.type_name()), Some("mine"));
    let cycle = local([
        die(c::DW_TAG_typedef).label("T").name("a").of("U"),
        die(c::DW_TAG_typedef).label("U").name("b").of("T"),
    ]);
    assert!(found(&cycle, "f(v)").is_err());
}

#[test]
fn enumerations_have_names() {
    let number = |name: &'static str, value: Attribute| {
        die(c::DW_TAG_enumerator).name(name).with(c::DW_AT_const_value, value)
    };
    let sections = local([die(c::DW_TAG_enumeration_type).label("T").name("E").size(1).has([
        number("A", Attribute::Unsigned(1)),
        number("B", Attribute::Signed(-2)),
        number("C", Attribute::Unsigned(1)),
    ])]);
    let read = |byte| value(&sections, "f(v)", 0x1010, &World::with(&[byte]));
    assert_eq!(read(1), Ok(Value::Enumerator { name: "A".into(), number: 1 }));
    assert_eq!(read(0xfe), Ok(Value::Enumerator { name: "B".into(), number: -2 }));
    assert_eq!(read(7), Ok(Value::Signed { number: 7, bits: 8 }));
    // 255 is stated without sign, but the type has one.
    let sections = local([
        base("byte", "signed char", 1, c::DW_ATE_signed_char),
        die(c::DW_TAG_enumeration_type)
            .label("T")
            .of("byte")
            .has([number("Minus", Attribute::Unsigned(255))]),
    ]);
    let minus = Value::Enumerator { name: "Minus".into(), number: -1 };
    assert_eq!(value(&sections, "f(v)", 0x1010, &World::with(&[0xff])), Ok(minus));
}

#[test]
fn fields_by_path() {
    let sections = local([
        int(),
        die(c::DW_TAG_pointer_type).label("P").of("T"),
        die(c::DW_TAG_union_type)
            .label("U")
            .size(4)
            .has([die(c::DW_TAG_member).name("whole").of("int"), member("half", "short", 2)]),
        base("short", "short", 2, c::DW_ATE_signed),
        die(c::DW_TAG_structure_type)
            .label("B")
            .name("Base")
            .size(8)
            .has([member("a", "int", 0), member("id", "int", 4)]),
        die(c::DW_TAG_structure_type).label("T").name("S").size(28).has([
            die(c::DW_TAG_inheritance)
                .of("B")
                .with(c::DW_AT_data_member_location, Attribute::Unsigned(0)),
            member("a", "int", 8),
            member("", "U", 12),
            member("next", "P", 16),
            bits("low", "int", 192, 3),
            bits("high", "int", 195, 5),
        ]),
    ]);
    let mut bytes = [1, 2, 3, 4, 0, 0].map(i32::to_le_bytes).concat();
    bytes[14..16].copy_from_slice(&(-9_i16).to_le_bytes());
    bytes[16..24].copy_from_slice(&(MEMORY + 0x100).to_le_bytes());
    bytes.extend([0b1111_0101, 0, 0, 0]);
    let mut world = World::with(&bytes);
    world.memory.push((MEMORY + 0x100, [10_i32, 20, 30].map(i32::to_le_bytes).concat()));
    let read = |path: &str| shown(&sections, path, &world);
    assert_eq!([read("v.id"), read("v.a"), read("v.half")], ["2", "3", "-9"]);
    assert_eq!([read("v.next->a"), read("v.next.id"), read("v.next")], ["30", "20", "0x7100"]);
    assert_eq!([read("v.low"), read("v.high")], ["-3", "-2"]);
    assert_eq!(read("v.next[1].id"), "absent: memory at 0x7120 is not recorded");
    assert_eq!(read("v"), "absent: unsupported type S");
    let error =
        |path: &str| found(&sections, &format!("f({path})")).expect_err("an error").to_string();
    assert_eq!(
        error("v.idd"),
        "S has no field idd; it has: a, next, low, high, a, id, whole, half"
    );
    assert_eq!(error("v.a.b"), ".b cannot be applied to int");
    assert_eq!(error("*v"), "* cannot be applied to S");
    assert_eq!(error("v.low[0]"), "[0] cannot be applied to int");
}

#[test]
fn arrays_have_elements() {
    let range =
        |count| die(c::DW_TAG_subrange_type).with(c::DW_AT_count, Attribute::Unsigned(count));
    let sections = local([int(), die(c::DW_TAG_array_type).label("T").of("int").has([range(3)])]);
    let world = World::with(&[1, -2, 3].map(i32::to_le_bytes).concat());
    let read = |path: &str| shown(&sections, path, &world);
    assert_eq!([read("v"), read("v[1]")], ["[1, -2, 3]", "-2"]);
    assert!(found(&sections, "f(v[3])").is_err());
    // Elements after unknown memory are left out.
    assert_eq!(shown(&sections, "v", &World::with(&[1, 0, 0, 0, 9])), "[1, …]");
    let huge = local([
        int(),
        die(c::DW_TAG_array_type).label("T").of("int").has([range(u64::MAX), range(u64::MAX)]),
    ]);
    assert_eq!(shown(&huge, "v", &world), "absent: unsupported type int[]");
}

#[test]
fn references_show_their_object() {
    let sections = local([int(), die(c::DW_TAG_reference_type).label("T").of("int")]);
    let address = |at: u64| at.to_le_bytes().to_vec();
    let world = World::with(&[address(MEMORY + 8), vec![7, 0, 0, 0]].concat());
    assert_eq!(shown(&sections, "v", &world), "7");
    let unread = Value::Unread { address: 0x10, reason: Absence::Memory(0x10) };
    assert_eq!(value(&sections, "f(v)", 0x1010, &World::with(&address(0x10))), Ok(unread));
}

#[test]
fn enums_of_rust_by_variant() {
    let variant = |number: Option<u64>, name: &'static str, of: &'static str| {
        let variant = die(c::DW_TAG_variant).has([member(name, of, 0)]);
        match number {
            Some(number) => variant.with(c::DW_AT_discr_value, Attribute::Unsigned(number)),
            None => variant,
        }
    };
    let sections = local([
        base("u32", "u32", 4, c::DW_ATE_unsigned),
        die(c::DW_TAG_structure_type).label("T").name("Option<u32>").size(8).has([die(
            c::DW_TAG_variant_part,
        )
        .with(c::DW_AT_discr, Attribute::Entry("discr"))
        .has([
            die(c::DW_TAG_member).label("discr").of("u32"),
            variant(Some(0), "None", "N"),
            variant(Some(1), "Some", "S"),
        ])]),
        die(c::DW_TAG_structure_type).label("N").name("None").size(8),
        die(c::DW_TAG_structure_type)
            .label("S")
            .name("Some")
            .size(8)
            .has([member("__0", "u32", 4)]),
    ]);
    let read = |bytes: &[u8]| shown(&sections, "v", &World::with(bytes));
    assert_eq!(read(&[1, 0, 0, 0, 7, 0, 0, 0]), "Some(7)");
    assert_eq!(read(&[0, 0, 0, 0]), "None");
    assert_eq!(read(&[2, 0, 0, 0, 7, 0, 0, 0]), "absent: damaged variant");
    // A niche: 0 is None, any other number Some.
    let niche = local([
        base("u8", "u8", 1, c::DW_ATE_unsigned),
        die(c::DW_TAG_structure_type).label("T").name("Option<NonZero>").size(1).has([die(
            c::DW_TAG_variant_part,
        )
        .with(c::DW_AT_discr, Attribute::Entry("discr"))
        .has([
            die(c::DW_TAG_member).label("discr").of("u8"),
            variant(Some(0), "None", "N"),
            variant(None, "Some", "S"),
        ])]),
        die(c::DW_TAG_structure_type).label("N").name("None").size(1),
        die(c::DW_TAG_structure_type).label("S").name("Some").size(1).has([member("__0", "u8", 0)]),
    ]);
    let read = |byte| shown(&niche, "v", &World::with(&[byte]));
    assert_eq!([read(0), read(9)], ["None", "Some(9)"]);
}
