//! Values at entry, by the calls of an image.

use gimli::constants as c;
use values::{Absence, Value};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{World, base, found, value};

fn call(return_address: u64, callee: &'static str, value: &[u8]) -> Die {
    let parameter = die(c::DW_TAG_call_site_parameter)
        .at(&[0x55])
        .with(c::DW_AT_call_value, Attribute::Expression(value.to_vec()));
    die(c::DW_TAG_call_site)
        .with(c::DW_AT_call_return_pc, Attribute::Address(return_address))
        .with(c::DW_AT_call_origin, Attribute::Entry(callee))
        .has([parameter])
}

fn function(label: &'static str, start: u64) -> Die {
    die(c::DW_TAG_subprogram)
        .label(label)
        .name(label)
        .code(start, 0x100)
        .with(c::DW_AT_external, Attribute::Flag)
        .with(c::DW_AT_call_all_calls, Attribute::Flag)
}

fn tail_call(callee: &'static str) -> Die {
    die(c::DW_TAG_call_site)
        .with(c::DW_AT_call_origin, Attribute::Entry(callee))
        .with(c::DW_AT_call_tail_call, Attribute::Flag)
}

/// `outer` calls `middle` with 5, and `middle` calls `inner` with its own argument + 1.
fn image(more: Option<Die>) -> Sections {
    let entry = [0xa3, 1, 0x55, 0x9f];
    let parameter = die(c::DW_TAG_formal_parameter).name("n").of("int").at(&entry);
    Sections::new([
        base("int", "int", 4, c::DW_ATE_signed),
        function("inner", 0x1000).has([parameter]).has(more),
        function("middle", 0x2000).has([call(0x2010, "inner", &[0xa3, 1, 0x55, 0x23, 1])]),
        function("outer", 0x3000)
            .has([call(0x3010, "middle", &[0x73, 0]), call(0x3020, "inner", &[0x38])]),
        function("third", 0x4000).has([tail_call("inner")]),
    ])
}

fn entered(sections: &Sections, return_address: u64) -> Result<Value, Absence> {
    let sites = found(sections, "inner(n)").expect("found").call_sites().clone();
    let outer = World { registers: [(3, 5)].into(), ..World::default() };
    let middle =
        World { caller: Some((Box::new(outer), 0x3010, sites.clone())), ..World::default() };
    let inner =
        World { caller: Some((Box::new(middle), return_address, sites)), ..World::default() };
    value(sections, "inner(n)", 0x1010, &inner)
}

#[test]
fn values_are_followed_through_callers() {
    let sections = image(None);
    let signed = |number| Ok(Value::Signed { number, bits: 32 });
    assert_eq!(entered(&sections, 0x2010), signed(6));
    assert_eq!(entered(&sections, 0x3020), signed(8));
    assert_eq!(entered(&sections, 0x3010), Err(Absence::OtherCallee));
    assert_eq!(entered(&sections, 0x3030), Err(Absence::NoCallSite));
    assert_eq!(value(&sections, "inner(n)", 0x1010, &World::default()), Err(Absence::NoCaller));
}

#[test]
fn tail_calls_to_itself_make_the_value_uncertain() {
    // Directly, by way of another function, and to an unknown one.
    assert_eq!(entered(&image(Some(tail_call("inner"))), 0x3020), Err(Absence::OtherCallee));
    assert_eq!(entered(&image(Some(tail_call("third"))), 0x3020), Err(Absence::OtherCallee));
    let unknown = die(c::DW_TAG_call_site).with(c::DW_AT_call_tail_call, Attribute::Flag);
    assert_eq!(entered(&image(Some(unknown)), 0x3020), Err(Absence::OtherCallee));
    let other = entered(&image(Some(tail_call("middle"))), 0x3020);
    assert_eq!(other, Ok(Value::Signed { number: 8, bits: 32 }));
}
