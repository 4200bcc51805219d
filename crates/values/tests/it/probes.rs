//! Arguments of probes.

use address::Arch;
use gimli::constants as c;
use values::{Functions, Path, ProbePoint};

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
            ]),
    ])
}

fn arguments(arch: Arch, paths: &[&str], point: impl Fn(ProbePoint) -> ProbePoint) -> Vec<String> {
    let paths: Vec<Path> = paths.iter().map(|path| Path::parse(path).expect("a path")).collect();
    with_sources(&image(), |sources| {
        let functions = Functions::find(sources, &["handle"]).expect("functions");
        let instance = functions.instances(0).expect("found").first().expect("an instance");
        let point = point(ProbePoint::entry(arch, 0x1000).expect("a point"));
        let found = instance.probe_arguments(sources, &point, &paths).into_iter();
        found
            .map(|it| it.map_or_else(|error| format!("no: {error}"), |it| it.to_string()))
            .collect()
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
    assert_eq!(arguments(Arch::X86_64, &["pair.next"], |it| it), ["pair_next=%dx:x64"]);
}

#[test]
fn reasons_for_none() {
    let paths = ["stored", "real", "missing", "size.x", "pair.size"];
    let expected = [
        "no: the function stores it after this instruction",
        "no: register 17 is not restored",
        "no: handle has no variable missing; it has: size, path, r, seventh, stored, real, pair",
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
