//! Damaged and hostile debug information: an error or an absence, in bounded work.

use budget::{Budget, Limit, Meter, Resource};
use gimli::constants as c;
use values::{Error, Functions, Request, Sources, Variables};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{World, base, found, local, shown, with_sources};

#[test]
fn references_in_a_circle_end() {
    let origin = |die: Die, label| die.with(c::DW_AT_abstract_origin, Attribute::Entry(label));
    let sections = Sections::new([
        origin(die(c::DW_TAG_subprogram).label("a").name("f").code(0x1000, 16), "b"),
        origin(die(c::DW_TAG_subprogram).label("b"), "a"),
    ]);
    let error = found(&sections, "f(x)").map(|_| ()).map_err(|it| it.to_string());
    assert_eq!(error, Err("f has no variable x".to_owned()));
    // A structure inside of itself, as a base class, a member and a variant.
    let sections = local([die(c::DW_TAG_structure_type).label("T").name("S").size(8).has([
        die(c::DW_TAG_inheritance).of("T"),
        die(c::DW_TAG_member).of("T"),
        die(c::DW_TAG_variant_part)
            .has([die(c::DW_TAG_variant).has([die(c::DW_TAG_member).name("V").of("T")])]),
    ])]);
    assert!(found(&sections, "f(v.x)").is_err());
    assert_eq!(shown(&sections, "v", &World::with(&[0; 8])), "V");
    // A reference to itself, and an array of itself.
    let sections = local([die(c::DW_TAG_reference_type).label("T").of("T")]);
    assert!(shown(&sections, "v", &World::with(&[0; 8])).starts_with("0x0"));
    let range = die(c::DW_TAG_subrange_type).with(c::DW_AT_count, Attribute::Unsigned(2));
    let sections = local([die(c::DW_TAG_array_type).label("T").of("T").has([range])]);
    assert!(shown(&sections, "v", &World::with(&[0; 8])).starts_with("absent"));
}

#[test]
fn deep_trees_are_left_out() {
    let mut tree = die(c::DW_TAG_lexical_block);
    for _ in 0..500 {
        tree = die(c::DW_TAG_lexical_block).has([tree]);
    }
    let sections =
        Sections::new([die(c::DW_TAG_subprogram).name("g").code(0x1000, 16).has([tree])]);
    with_sources(&sections, |sources| {
        let functions = Functions::find(sources, &["f"]).expect("functions");
        assert_eq!(functions.damaged_units(), 1);
        assert!(matches!(functions.instances(0), Err(Error::UnknownFunction { .. })));
    });
}

#[test]
fn work_is_limited() {
    let many = (0..1000).map(|_| die(c::DW_TAG_subprogram).name("g").code(0x1000, 16));
    let sections = Sections::new(many);
    let limit = Limit { base: 500, per_byte: 0, most: 500 };
    let meter = Meter::new(&Budget::default().with(Resource::Steps, limit), 0);
    let dwarf = sections.dwarf();
    let sources = Sources::new(&dwarf, &[], &meter).expect("headers");
    assert!(matches!(Functions::find(&sources, &["f"]), Err(Error::Exhausted(_))));
}

#[test]
fn cut_sections_are_errors() {
    let sections = local([
        base("int", "int", 4, c::DW_ATE_signed),
        die(c::DW_TAG_structure_type)
            .label("T")
            .name("S")
            .size(8)
            .has([die(c::DW_TAG_member).name("a").of("int")]),
    ]);
    let whole = sections.dwarf();
    let bytes = gimli::Section::reader(&whole.debug_info).slice();
    let request = Request::parse("f(v.a)").expect("a request");
    let mut found = 0;
    for end in 0..=bytes.len() {
        for value in [0, 0x7f, 0xff] {
            let mut cut = bytes.to_vec();
            if let Some(byte) = cut.get_mut(end) {
                *byte = value;
            }
            let mut dwarf = sections.dwarf();
            dwarf.debug_info =
                gimli::DebugInfo::from(gimli::EndianSlice::new(&cut, gimli::RunTimeEndian::Little));
            let meter = Meter::new(&Budget::default(), cut.len());
            let Ok(sources) = Sources::new(&dwarf, &[], &meter) else { continue };
            let Ok((variables, _)) = Variables::find(&sources, std::slice::from_ref(&request))
            else {
                continue;
            };
            let meter = Meter::new(&Budget::default(), cut.len());
            let world = World::with(&[1, 0, 0, 0]);
            found += variables.at(0x1010).filter(|it| it.value(&world, &meter).is_ok()).count();
        }
    }
    assert!(found > 0);
}

#[test]
fn an_expression_can_name_itself() {
    // call4 to the variable that holds the expression.
    let mark = [0xde, 0xad, 0xbe, 0xef];
    let call = [&[0x99][..], &mark].concat();
    let variable = die(c::DW_TAG_variable).label("v").name("v").of("int").at(&call);
    let sections = Sections::new([
        base("int", "int", 4, c::DW_ATE_signed),
        die(c::DW_TAG_subprogram).name("f").code(0x1000, 0x100).has([variable]),
    ]);
    let sections = sections.patch(mark, "v");
    assert!(shown(&sections, "v", &World::default()).starts_with("absent"));
    with_sources(&sections, |sources| assert!(Functions::find(sources, &["f"]).is_ok()));
}
