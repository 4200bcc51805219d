//! Arguments of probes.

use address::Arch;
use gimli::constants as c;
use values::{Functions, ProbeArgument, ProbeField, ProbePoint};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{base, with_sources};

fn member(name: &'static str, of: &'static str, offset: u64) -> Die {
    die(c::DW_TAG_member)
        .name(name)
        .of(of)
        .with(c::DW_AT_data_member_location, Attribute::Unsigned(offset))
}

fn image() -> Sections {
    let parameter =
        |name, of, bytes: &[u8]| die(c::DW_TAG_formal_parameter).name(name).of(of).at(bytes);
    let flag = member("flag", "int", 0)
        .with(c::DW_AT_bit_size, Attribute::Unsigned(3))
        .with(c::DW_AT_data_bit_offset, Attribute::Unsigned(68));
    Sections::new([
        base("int", "int", 4, c::DW_ATE_signed),
        base("char", "char", 1, c::DW_ATE_signed_char),
        base("double", "double", 8, c::DW_ATE_float),
        base("byte", "u8", 1, c::DW_ATE_unsigned),
        base("usize", "usize", 8, c::DW_ATE_unsigned),
        die(c::DW_TAG_pointer_type).label("bytes").of("byte"),
        die(c::DW_TAG_structure_type)
            .label("str")
            .name("&str")
            .size(16)
            .has([member("data_ptr", "bytes", 0), member("length", "usize", 8)]),
        die(c::DW_TAG_pointer_type).label("text").of("char"),
        die(c::DW_TAG_pointer_type).label("P").of("S"),
        die(c::DW_TAG_structure_type).label("S").name("S").size(32).has([
            member("path", "text", 16),
            member("size", "int", 24),
            member("next", "P", 0),
            flag,
        ]),
        die(c::DW_TAG_subprogram)
            .name("handle")
            .of("int")
            .code(0x1000, 0x100)
            .with(c::DW_AT_frame_base, Attribute::Expression(vec![0x9c]))
            .has([
                parameter("size", "int", &[0x54]),
                parameter("path", "text", &[0x55]),
                parameter("r", "P", &[0x55]),
                parameter("seventh", "int", &[0x91, 0]),
                parameter("stored", "int", &[0x91, 0x6c]),
                parameter("real", "double", &[0x61]),
                parameter("pair", "S", &[0x51, 0x93, 8, 0x52, 0x93, 8]),
                parameter("text", "str", &[0x55, 0x93, 8, 0x54, 0x93, 8]),
                die(c::DW_TAG_formal_parameter)
                    .name("fixed")
                    .of("int")
                    .with(c::DW_AT_const_value, Attribute::Signed(-5)),
                die(c::DW_TAG_variable).name("inner").of("int").at(&[0x54]),
            ]),
    ])
}

fn arguments(arch: Arch, paths: &[&str], point: impl Fn(ProbePoint) -> ProbePoint) -> Vec<String> {
    let fields = paths.iter().map(|path| ProbeField::parse(path).expect("a field"));
    let fields: Vec<ProbeField> = fields.collect();
    with_sources(&image(), |sources| {
        let functions = Functions::find(sources, &["handle"]).expect("functions");
        let instance = functions.instances(0).expect("found").first().expect("an instance");
        let point = point(ProbePoint::entry(arch, 0x1000).expect("a point"));
        let found = instance.probe_arguments(sources, &point, &fields).into_iter();
        let text = |arguments: Vec<ProbeArgument>| {
            arguments.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        found.map(|it| it.map_or_else(|error| format!("no: {error}"), text)).collect()
    })
}

#[test]
fn arguments_at_the_entry() {
    let paths = ["size", "path", "r", "r->path", "r.size", "r.next.size", "r.flag", "seventh"];
    let expected = [
        "size=%si:s32",
        "path=+0(%di):string",
        "r=%di:x64",
        "r_path=+0(+16(%di)):string",
        "r_size=+24(%di):s32",
        "r_next_size=+24(+0(%di)):s32",
        "r_flag=+8(%di):b3@4/8",
        "seventh=+8(%sp):s32",
    ];
    assert_eq!(arguments(Arch::X86_64, &paths, |it| it), expected);
    let expected = ["size=%x4:s32", "path=+0(%x5):string", "seventh=+0(%sp):s32"];
    assert_eq!(arguments(Arch::Aarch64, &["size", "path", "seventh"], |it| it), expected);
    let expected = ["pair_next=%dx:x64", "text=+0(%di):x64[64] text__len=%si:u64"];
    assert_eq!(arguments(Arch::X86_64, &["pair.next", "text"], |it| it), expected);
    let expected = ["fixed=\\-5:s32", "n=+24(%di):s32"];
    assert_eq!(arguments(Arch::X86_64, &["fixed", "n=r->size"], |it| it), expected);
}

#[test]
fn reasons_for_none() {
    let paths = ["stored", "real", "inner", "missing", "size.x", "pair.size"];
    let expected = [
        "no: the function stores it after this instruction",
        "no: it is in a register of floating point, which probes cannot read",
        "no: it is a local variable; probes read arguments",
        "no: handle has no variable missing; it has: size, path, r, seventh, stored, real, pair, text, fixed",
        "no: .x cannot be applied to int",
        "no: unsupported operation upper part of a register",
    ];
    assert_eq!(arguments(Arch::X86_64, &paths, |it| it), expected);
    // After the prologue, the frame address is known from call frame information.
    let later = |point| ProbePoint { cfa: (6, 16), is_entry: false, ..point };
    assert_eq!(arguments(Arch::X86_64, &["stored"], later), ["stored=-4(%bp):s32"]);
    let outside = |point| ProbePoint { address: 0x2000, ..point };
    assert_eq!(
        arguments(Arch::X86_64, &["size"], outside),
        ["no: the address is not of the function's own code"]
    );
    assert_eq!(ProbePoint::entry(Arch::S390x, 0), None);
}

#[test]
fn results_of_functions() {
    with_sources(&image(), |sources| {
        let functions = Functions::find(sources, &["handle"]).expect("functions");
        let instance = functions.instances(0).expect("found").first().expect("an instance");
        let result = instance.probe_result(sources).expect("a type");
        assert_eq!(
            result.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["retval=$retval:s32"]
        );
        assert_eq!(instance.probe_address(&[]), Some((0x1000, true)));
        assert!(!instance.is_go());
    });
}
