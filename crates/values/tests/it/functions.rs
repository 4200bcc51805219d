//! Functions by name, their instances, and the scopes of their variables.

use gimli::constants as c;
use values::{Absence, Functions, Sources};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{World, base, found, value, with_sources};

fn int() -> Die {
    base("int", "int", 4, c::DW_ATE_signed)
}

fn constant(name: &'static str, value: i64) -> Die {
    die(c::DW_TAG_variable)
        .name(name)
        .of("int")
        .with(c::DW_AT_const_value, Attribute::Signed(value))
}

#[test]
fn the_innermost_block_wins() {
    let block = |start, length, value| {
        die(c::DW_TAG_lexical_block).code(start, length).has([constant("x", value)])
    };
    let inner = block(0x1018, 8, 3);
    let sections = Sections::new([
        int(),
        die(c::DW_TAG_subprogram).name("f").code(0x1000, 0x40).has([
            constant("x", 1),
            block(0x1010, 0x10, 2).has([inner]),
            die(c::DW_TAG_lexical_block).code(0x1030, 8).has([constant("y", 4)]),
        ]),
    ]);
    let read = |request: &str, address| {
        value(&sections, request, address, &World::default()).map(|it| it.integer())
    };
    let at = |address| read("f(x)", address);
    assert_eq!(
        [0x1000, 0x1010, 0x1018, 0x101f, 0x1020, 0x103f].map(at),
        [1, 2, 3, 3, 1, 1].map(|it| Ok(Some(it)))
    );
    assert_eq!(
        [read("f(y)", 0x1030), read("f(y)", 0x1038)],
        [Ok(Some(4)), Err(Absence::OutOfScope)]
    );
    let variables = found(&sections, "f(x)").expect("found");
    assert_eq!([0xfff, 0x1040].map(|address| variables.at(address).count()), [0, 0]);
}

/// `ns::C::run` declared in a class, defined outside, inlined into `main` and into itself.
fn methods() -> Sections {
    let parameter = || die(c::DW_TAG_formal_parameter);
    let origin = |die: Die, label| die.with(c::DW_AT_abstract_origin, Attribute::Entry(label));
    let inlined = |start, length, register: u8| {
        origin(die(c::DW_TAG_inlined_subroutine).code(start, length), "abstract").has([origin(
            parameter(),
            "p",
        )
        .at(&[0x50 + register])])
    };
    Sections::new([
        int(),
        die(c::DW_TAG_namespace).name("ns").has([die(c::DW_TAG_class_type).name("C<int>").has([
            die(c::DW_TAG_subprogram)
                .label("declared")
                .name("run")
                .with(c::DW_AT_linkage_name, Attribute::Text("_ZN2ns1C3runEi"))
                .with(c::DW_AT_declaration, Attribute::Flag),
            die(c::DW_TAG_subprogram).name("other").code(0x3000, 4),
        ])]),
        die(c::DW_TAG_subprogram)
            .label("abstract")
            .with(c::DW_AT_specification, Attribute::Entry("declared"))
            .has([
                parameter().label("p").name("n").of("int"),
                die(c::DW_TAG_variable).label("q").name("gone").of("int"),
            ]),
        origin(die(c::DW_TAG_subprogram).code(0x1000, 0x10), "abstract").has([origin(
            parameter(),
            "p",
        )
        .at(&[0x55])]),
        die(c::DW_TAG_subprogram)
            .name("main")
            .code(0x2000, 0x100)
            .has([inlined(0x2010, 0x20, 1).has([inlined(0x2018, 8, 2)])]),
    ])
}

#[test]
fn instances_are_found_by_their_references() {
    let sections = methods();
    let mut world = World::default();
    world.registers.extend([(1, 11), (2, 22), (5, 55)]);
    for name in
        ["run", "C::run", "ns::C::run", "ns::C<int>::run", "_ZN2ns1C3runEi", "ns::C::run(int)"]
    {
        let request = format!("{name}(n)");
        let read = |address| value(&sections, &request, address, &world).map(|it| it.to_string());
        let expected = ["55", "11", "22"].map(|it| Ok(it.to_owned()));
        assert_eq!([0x1000, 0x2010, 0x2018].map(read), expected, "{name}");
    }
    let variables = found(&sections, "run(n)").expect("found");
    let matches: Vec<_> =
        variables.at(0x2018).map(|it| (it.instance(), it.inlined_into(), it.function())).collect();
    assert_eq!(
        matches,
        [(2, Some("run"), "ns::C<int>::run"), (1, Some("main"), "ns::C<int>::run")]
    );
    let gone = value(&sections, "run(gone)", 0x1000, &world);
    assert_eq!(gone, Err(Absence::OptimizedOut));
}

#[test]
fn unknown_names_are_answered_with_close_ones() {
    let sections = methods();
    let error = |request: &str| found(&sections, request).expect_err("an error").to_string();
    assert_eq!(error("rum(n)"), "no function rum; similar: run");
    assert_eq!(error("D::run(n)"), "no function D::run; similar: run");
    assert_eq!(error("run(char)(n)"), "no function run(char)");
    assert_eq!(error("run(m)"), "ns::C<int>::run has no variable m; it has: n, gone");
    assert_eq!(error("zzz(m)"), "no function zzz");
}

#[test]
fn the_listing_states_the_share_of_code() {
    let list = Attribute::List(vec![
        (0x1000, 0x1008, vec![0x55]),
        (0x1010, 0x1030, vec![0xa3, 1, 0x55, 0x9f]),
    ]);
    let sections = Sections::new([
        int(),
        die(c::DW_TAG_pointer_type).label("P").of("int"),
        die(c::DW_TAG_subprogram).name("f").code(0x1000, 0x20).has([
            die(c::DW_TAG_formal_parameter).name("a").of("int").with(c::DW_AT_location, list),
            die(c::DW_TAG_lexical_block)
                .code(0x1010, 8)
                .has([die(c::DW_TAG_variable).name("b").of("P").at(&[0x91, 8])]),
        ]),
    ]);
    with_sources(&sections, |sources: &Sources<'_, _>| {
        let functions = Functions::find(sources, &["f"]).expect("functions");
        let [instance] = functions.instances(0).expect("found") else { panic!("instances") };
        let listing = instance.listing(sources).expect("a listing");
        let rows: Vec<_> = listing
            .iter()
            .map(|it| {
                (
                    &*it.name,
                    it.is_parameter,
                    &*it.type_name,
                    it.bytes,
                    it.available_bytes,
                    &*it.location,
                )
            })
            .collect();
        let expected = [
            ("a", true, "int", 0x20, 0x18, "register 5, value at entry"),
            ("b", false, "int *", 8, 8, "memory at frame base + 8"),
        ];
        assert_eq!((rows.as_slice(), instance.bytes()), (expected.as_slice(), 0x20));
    });
}
