//! Thread-local variables by name, and the context of OpenTelemetry.

use budget::{Budget, Meter};
use gimli::constants as c;
use values::{Absence, Error};

use crate::assembler::{Attribute, Die, Sections, die};
use crate::world::{MEMORY, World, base, found};

/// Location at an offset in the block of the thread.
fn in_block(offset: u8) -> Vec<u8> {
    // const1u; form_tls_address
    vec![0x08, offset, 0x9b]
}

fn int() -> Die {
    base("int", "int", 4, c::DW_ATE_signed)
}

/// `id` and `app::id`, and a static member that is defined outside of its class.
fn variables() -> Sections {
    let variable =
        |name, offset| die(c::DW_TAG_variable).name(name).of("int").at(&in_block(offset));
    let declaration = die(c::DW_TAG_variable).label("declared").name("cost").of("int");
    let member = declaration.with(c::DW_AT_declaration, Attribute::Flag);
    let class = die(c::DW_TAG_class_type).name("Shop").has([member]);
    Sections::new([
        int(),
        variable("id", 0),
        variable("twice", 4),
        variable("twice", 8),
        die(c::DW_TAG_variable).name("plain").of("int").at(&[0x03, 0, 0, 0, 0, 0, 0, 0, 0]),
        die(c::DW_TAG_namespace).name("app").has([variable("tenant", 12), class]),
        die(c::DW_TAG_variable)
            .with(c::DW_AT_specification, Attribute::Entry("declared"))
            .at(&in_block(16)),
    ])
}

/// Reads a thread-local variable as text.
fn shown(sections: &Sections, request: &str, thread: &World) -> Result<String, Absence> {
    let variables = found(sections, request).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((variables.at(0).count(), variables.is_empty()), (0, false));
    let [variable] = variables.thread_locals() else { panic!("{request}: one variable") };
    assert_eq!(variable.request(), 0);
    let meter = Meter::new(&Budget::default(), 4096);
    variable.value(thread, &meter).map(|value| value.to_string())
}

#[test]
fn variables_of_a_thread_are_found_by_name() {
    let memory: Vec<u8> = [7_i32, 0, 0, 8, 9].iter().flat_map(|it| it.to_le_bytes()).collect();
    let thread = World { thread: Some(MEMORY), ..World::with(&memory) };
    let sections = variables();
    let read = |name: &str| shown(&sections, &format!("thread-local({name})"), &thread);
    for (name, value) in [
        ("id", "7"),
        ("tenant", "8"),
        ("app::tenant", "8"),
        ("cost", "9"),
        ("Shop::cost", "9"),
        ("app::Shop::cost", "9"),
    ] {
        assert_eq!(read(name).as_deref(), Ok(value), "{name}");
    }
    let unknown = World::default();
    assert_eq!(shown(&sections, "thread-local(id)", &unknown), Err(Absence::ThreadLocal));
    let elsewhere = World { thread: Some(MEMORY + 64), ..thread };
    let missing = shown(&sections, "thread-local(id)", &elsewhere);
    assert_eq!(missing, Err(Absence::Memory(MEMORY + 64)));
}

#[test]
fn other_names_are_errors() {
    let sections = variables();
    let count = |name: &str| match found(&sections, &format!("thread-local({name})")) {
        Err(Error::ThreadLocal { count, .. }) => count,
        other => panic!("{name}: {other:?}"),
    };
    let names = ["nothing", "plain", "twice", "other::tenant", "p::tenant"];
    assert_eq!(names.map(count), [0, 0, 2, 0, 0]);
    let message = found(&sections, "thread-local(twice)").map(|_| ()).unwrap_err().to_string();
    assert_eq!(message, "2 thread-local variables twice; name one with its namespace");
    let message = found(&sections, "thread-local(id.x)").map(|_| ()).unwrap_err().to_string();
    assert_eq!(message, ".x cannot be applied to int");
}

/// Memory of a thread: the pointer to a context, and the context with these attributes.
fn thread_with(valid: u8, attributes: &[u8]) -> World {
    let mut memory = (MEMORY + 8).to_le_bytes().to_vec();
    memory.extend([0xab; 16]);
    memory.extend([1, 2, 3, 4, 5, 6, 7, 8, valid, 1]);
    memory.extend((attributes.len() as u16).to_le_bytes());
    memory.extend(attributes);
    World { thread: Some(MEMORY), ..World::with(&memory) }
}

#[test]
fn contexts_of_opentelemetry_are_decoded() {
    let pointer = die(c::DW_TAG_pointer_type).label("pointer").size(8);
    let variable = die(c::DW_TAG_variable).name("otel_thread_ctx_v1").of("pointer");
    let sections = Sections::new([pointer, variable.at(&in_block(0))]);
    let read = |path: &str, thread: &World| {
        shown(&sections, &format!("thread-local(otel_thread_ctx_v1{path})"), thread)
    };
    let thread = thread_with(1, b"\0\x04/one\x02\x03GET\0\x04/two\x01\x09cut");
    let trace = "ab".repeat(16);
    let whole = format!("{trace} 0102030405060708 01 0=/two 2=GET");
    for (path, value) in [
        ("", whole.as_str()),
        (".trace_id", &trace),
        (".span_id", "0102030405060708"),
        (".trace_flags", "1"),
        (".attributes[0]", "/two"),
        (".attributes[2]", "GET"),
    ] {
        assert_eq!(read(path, &thread).as_deref(), Ok(value), "{path}");
    }
    assert_eq!(read(".attributes[1]", &thread), Err(Absence::NoContext));
    assert_eq!(read("", &thread_with(0, &[])), Err(Absence::NoContext));
    let none = World { thread: Some(MEMORY), ..World::with(&[0; 8]) };
    assert_eq!(read("", &none), Err(Absence::NoContext));
    // The record is on the heap.
    let mut heap = World { thread: Some(MEMORY), ..World::with(&[1; 8]) };
    assert_eq!(read("", &heap), Err(Absence::Memory(0x0101_0101_0101_0101)));
    heap.thread = None;
    assert_eq!(read("", &heap), Err(Absence::ThreadLocal));
    let error = found(&sections, "thread-local(otel_thread_ctx_v1.other)").map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::UnknownField { .. }), "{error}");
}
