//! Tests of expressions on a frame of numbers: register N holds `0x100 * N`, memory at `0x1000` the bytes 0, 1, 2 …

use std::collections::BTreeMap;
use std::sync::Arc;

use budget::{Budget, Limit, Meter, Resource};
use gimli::ValueType;

use super::call_sites::{CallSite, CallSites, CallTarget, Identity, ParameterKey};
use super::evaluate::Context;
use super::frame::{Caller, Frame};
use super::location::Location;
use super::place::Pointee;
use super::program::Program;
use crate::absence::Absence;
use crate::dwarf::DieKey;

#[derive(Default)]
struct Numbers {
    cfa: Option<u64>,
    caller: Option<(Box<Self>, CallSites)>,
    missing: Vec<u16>,
}

impl Frame for Numbers {
    fn register(&self, number: u16) -> Option<u64> {
        (number < 17 && !self.missing.contains(&number)).then(|| 0x100 * u64::from(number))
    }
    fn cfa(&self) -> Option<u64> {
        self.cfa
    }
    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        let known = 0x1100_u64.saturating_sub(address).min(bytes.len() as u64) as usize;
        if address < 0x1000 {
            return 0;
        }
        for (index, byte) in bytes.iter_mut().take(known).enumerate() {
            *byte = (address - 0x1000) as u8 + index as u8;
        }
        known
    }
    fn bias(&self) -> u64 {
        0x10_0000
    }
    fn thread_local(&self, offset: u64) -> Option<u64> {
        (offset < 0x100).then_some(0x1000 + offset)
    }
    fn caller(&self) -> Option<Caller<'_>> {
        let (frame, sites) = self.caller.as_ref()?;
        Some(Caller { frame: &**frame, return_address: 0x5001, sites, same_image: true })
    }
}

fn identity() -> Identity {
    let die = Some(DieKey { section: 0, offset: 1 });
    Identity { die, symbol: None, entry: Some(0x4000) }
}

fn read_in(
    frame: &dyn Frame,
    frame_base: &Location,
    location: &Location,
    width: u64,
) -> Result<Vec<u8>, Absence> {
    let meter = Meter::new(&Budget::default(), 1000);
    let function = identity();
    let context = Context {
        frame,
        address: 0x4010,
        frame_base,
        function: &function,
        meter: &meter,
        nesting: 0,
    };
    context.locate(location, Some(width))?.read(0, width, &context)
}

/// A frame of a function without a frame base.
fn plain<'c>(frame: &'c Numbers, function: &'c Identity, meter: &'c Meter) -> Context<'c> {
    Context { frame, address: 0, frame_base: &Location::Absent, function, meter, nesting: 0 }
}

fn whole(program: Program) -> Location {
    Location::Everywhere(Arc::new(program))
}

fn read(bytes: &[u8], width: u64) -> Result<Vec<u8>, Absence> {
    read_in(&Numbers::default(), &Location::Absent, &whole(Program::of(bytes)), width)
}

#[test]
fn registers_memory_and_values() {
    assert_eq!(read(&[0x55], 4), Ok(vec![0, 5, 0, 0])); // reg5
    assert_eq!(read(&[0x50 + 16], 8), Ok(vec![0, 16, 0, 0, 0, 0, 0, 0])); // reg16
    assert_eq!(read(&[0x90, 5], 2), Ok(vec![0, 5])); // regx 5
    assert_eq!(read(&[0x90, 40], 8), Err(Absence::Register(40)));
    assert_eq!(read(&[0x55], 16), Err(Absence::RegisterWidth(5)));
    assert_eq!(read(&[0x80, 0x03], 2), Ok(vec![3, 4])); // breg16 3: 0x1003
    assert_eq!(read(&[0x71, 0], 2), Err(Absence::Memory(0x100))); // breg1 0
    assert_eq!(read(&[0x80, 0xfe, 1], 4), Err(Absence::Memory(0x1100))); // the last two bytes alone
    assert_eq!(read(&[0x71, 2, 0x9f], 4), Ok(vec![2, 1, 0, 0])); // breg1 2; stack_value
    assert_eq!(read(&[0x9e, 2, 7, 8], 2), Ok(vec![7, 8])); // implicit_value
    assert_eq!(read(&[0x9e, 2, 7, 8], 4), Err(Absence::Malformed("constant")));
    assert_eq!(
        read(&[0x31, 0x9f], 16),
        Err(Absence::Operation("value that is narrower than its type"))
    );
    // breg16 8; deref; stack_value
    assert_eq!(read(&[0x80, 8, 0x06, 0x9f], 8), Ok(vec![8, 9, 10, 11, 12, 13, 14, 15]));
    // addr 0x1000 gets the bias, which leads away from memory.
    assert_eq!(read(&[3, 0, 16, 0, 0, 0, 0, 0, 0], 1), Err(Absence::Memory(0x10_1000)));
    // const1u 8; form_tls_address
    assert_eq!(read(&[0x08, 8, 0x9b], 2), Ok(vec![8, 9]));
    assert_eq!(read(&[0x0a, 0, 1, 0x9b], 2), Err(Absence::ThreadLocal));
}

#[test]
fn the_frame_base_is_an_expression_too() {
    let frame = Numbers { cfa: Some(0x1020), ..Numbers::default() };
    let fbreg = whole(Program::of(&[0x91, 0x70])); // fbreg -16
    let cfa = whole(Program::of(&[0x9c]));
    assert_eq!(read_in(&frame, &cfa, &fbreg, 2), Ok(vec![16, 17]));
    assert_eq!(read_in(&Numbers::default(), &cfa, &fbreg, 2), Err(Absence::NoCfa));
    let register = whole(Program::of(&[0x50 + 16]));
    let fbreg = whole(Program::of(&[0x91, 4]));
    assert_eq!(read_in(&frame, &register, &fbreg, 2), Ok(vec![4, 5]));
    assert_eq!(read_in(&frame, &Location::Absent, &fbreg, 2), Err(Absence::NoFrameBase));
    // A frame base that needs itself.
    assert_eq!(read_in(&frame, &fbreg, &fbreg, 2), Err(Absence::Malformed("nesting of locations")));
}

#[test]
fn lists_are_looked_up_by_address() {
    let entry = |start, end, bytes: &[u8]| (start..end, Arc::new(Program::of(bytes)));
    let list = vec![
        entry(0x4000, 0x4010, &[0x51]),
        entry(0x4010, 0x4011, &[0x52]),
        entry(0, u64::MAX, &[0x53]),
    ];
    let frame = Numbers::default();
    assert_eq!(
        read_in(&frame, &Location::Absent, &Location::List(list.clone()), 2),
        Ok(vec![0, 2])
    );
    let other = vec![list[0].clone(), list[2].clone()];
    assert_eq!(read_in(&frame, &Location::Absent, &Location::List(other), 2), Ok(vec![0, 3]));
    let none = Location::List(vec![list[0].clone()]);
    assert_eq!(read_in(&frame, &Location::Absent, &none, 2), Err(Absence::OptimizedOut));
    let empty = Location::List(vec![entry(0x4010, 0x4011, &[])]);
    assert_eq!(read_in(&frame, &Location::Absent, &empty, 2), Err(Absence::OptimizedOut));
    let range = 0x4008..0x4020;
    let ranges = std::slice::from_ref(&range);
    assert_eq!([Location::List(list).available(ranges), none.available(ranges)], [0x18, 8]);
}

#[test]
fn constants_have_the_width_of_the_type() {
    let read = |location: Location, width| {
        read_in(&Numbers::default(), &Location::Absent, &location, width)
    };
    assert_eq!(read(Location::Number(-2), 2), Ok(vec![0xfe, 0xff]));
    assert_eq!(read(Location::Number(-2), 16), Ok([vec![0xfe], vec![0xff; 15]].concat()));
    assert_eq!(read(Location::Number(1), 17), Err(Absence::Length(17)));
    assert_eq!(read(Location::Bytes([1, 2].into()), 2), Ok(vec![1, 2]));
}

#[test]
fn pieces_are_joined() {
    // reg1; piece 2; breg16 4; piece 2
    let both = [0x51, 0x93, 2, 0x80, 4, 0x93, 2];
    assert_eq!(read(&both, 4), Ok(vec![0, 1, 4, 5]));
    assert_eq!(read(&both, 6), Err(Absence::OptimizedOut));
    // reg1; piece 2; piece 2: the second is optimized out.
    assert_eq!(read(&[0x51, 0x93, 2, 0x93, 2], 2), Ok(vec![0, 1]));
    assert_eq!(read(&[0x51, 0x93, 2, 0x93, 2], 4), Err(Absence::OptimizedOut));
    // reg3; bit_piece 8, 8: the second byte.
    assert_eq!(read(&[0x53, 0x9d, 8, 8], 1), Ok(vec![3]));
    assert_eq!(read(&[0x53, 0x9d, 3, 0], 1), Err(Absence::Operation("bit_piece")));
}

#[test]
fn typed_operations() {
    let typed = |bytes: &[u8], width| {
        let program = Program::of(bytes)
            .with_type(0x10, ValueType::I32)
            .with_type(0x20, ValueType::U8)
            .with_type(0x30, ValueType::F64)
            .with_type(0x40, ValueType::I64);
        read_in(&Numbers::default(), &Location::Absent, &whole(program), width)
    };
    // regval_type reg3 as I32; const_type I32 -1; plus; stack_value
    assert_eq!(
        typed(&[0xa5, 3, 0x10, 0xa4, 0x10, 4, 255, 255, 255, 255, 0x22, 0x9f], 4),
        Ok(vec![255, 2, 0, 0])
    );
    // breg16 0; deref_type 1, U8; convert I32; stack_value
    assert_eq!(typed(&[0x80, 5, 0xa6, 1, 0x20, 0xa8, 0x10, 0x9f], 4), Ok(vec![5, 0, 0, 0]));
    // const_type I32 -1; convert I64; stack_value: the sign is extended.
    assert_eq!(typed(&[0xa4, 0x10, 4, 255, 255, 255, 255, 0xa8, 0x40, 0x9f], 8), Ok(vec![255; 8]));
    // const_type F64 1.5; reinterpret I64; stack_value
    let float = 1.5_f64.to_le_bytes();
    let bytes = [&[0xa4, 0x30, 8][..], &float, &[0xa9, 0x40, 0x9f]].concat();
    assert_eq!(typed(&bytes, 8), Ok(float.to_vec()));
    assert_eq!(typed(&[0x31, 0xa8, 0x50, 0x9f], 4), Err(Absence::Operation("unknown base type")));
    assert_eq!(
        typed(&[0xa5, 3, 0x20, 0x9f], 4),
        Err(Absence::Operation("value that is narrower than its type"))
    );
}

#[test]
fn implicit_pointers_lead_to_objects() {
    let object = Location::Bytes((*b"abc\0").into());
    let program = Program::of(&[0xa0, 9, 0, 0, 0, 1]).with_object(9, object);
    let meter = Meter::new(&Budget::default(), 1000);
    let (frame, function) = (Numbers::default(), identity());
    let context = plain(&frame, &function, &meter);
    let place = context.evaluate(&program, Some(8)).expect("a pointer");
    assert_eq!(place.read(0, 8, &context), Err(Absence::NoAddress));
    let Ok(Pointee::Object(object)) = place.pointee(0, 8, &context) else { panic!("no object") };
    assert_eq!(object.read_some(256, &context), Ok(b"bc\0".to_vec()));
    let program = Program::of(&[0xa0, 9, 0, 0, 0, 1]);
    let place = context.evaluate(&program, Some(8)).expect("a pointer");
    assert!(matches!(place.pointee(0, 8, &context), Err(Absence::NoAddress)));
}

fn sites(target: CallTarget, is_recursive: bool) -> CallSites {
    let value = Arc::new(Program::of(&[0x73, 1])); // breg3 1
    let site = CallSite {
        target,
        parameters: vec![
            (ParameterKey::Register(5), value.clone()),
            (ParameterKey::Entry(0x77), value),
        ],
        frame_base: Arc::default(),
        caller: Arc::default(),
    };
    let mut sites = CallSites { sites: BTreeMap::from([(0x5001, site)]), ..CallSites::default() };
    if is_recursive {
        sites.tail_recursive.extend(identity().die);
    }
    sites
}

#[test]
fn values_at_entry_come_from_the_caller() {
    let entered = |frame: &Numbers, bytes: &[u8]| {
        read_in(frame, &Location::Absent, &whole(Program::of(bytes)), 8)
    };
    let with = |target, is_recursive| Numbers {
        caller: Some((Box::default(), sites(target, is_recursive))),
        ..Numbers::default()
    };
    let expected = Ok(vec![1, 3, 0, 0, 0, 0, 0, 0]);
    let value = [0xa3, 1, 0x55, 0x9f]; // entry_value(reg5); stack_value
    let called = with(CallTarget::Function(identity()), false);
    assert_eq!(entered(&called, &value), expected);
    assert_eq!(entered(&called, &[0xf3, 1, 0x55, 0x9f]), expected); // GNU_entry_value
    assert_eq!(entered(&called, &[0xfa, 0x77, 0, 0, 0, 0x9f]), expected); // GNU_parameter_ref
    assert_eq!(entered(&called, &[0xa3, 1, 0x54, 0x9f]), Err(Absence::NoCallSite));
    assert!(entered(&called, &[0xa3, 2, 0x55, 0x06, 0x9f]).is_err());
    assert_eq!(entered(&Numbers::default(), &value), Err(Absence::NoCaller));
    assert_eq!(entered(&with(CallTarget::Unknown, false), &value), Err(Absence::NoCallSite));
    let other = Identity { die: Some(DieKey { section: 0, offset: 2 }), ..identity() };
    assert_eq!(
        entered(&with(CallTarget::Function(other), false), &value),
        Err(Absence::OtherCallee)
    );
    assert_eq!(
        entered(&with(CallTarget::Function(identity()), true), &value),
        Err(Absence::OtherCallee)
    );
    // Computed callees: const4u 0x104000 is the entry with the bias.
    let computed = |bytes: &[u8]| with(CallTarget::Computed(Arc::new(Program::of(bytes))), false);
    assert_eq!(entered(&computed(&[0x0c, 0, 0x40, 0x10, 0]), &value), expected);
    assert_eq!(entered(&computed(&[0x0c, 4, 0x40, 0x10, 0]), &value), Err(Absence::OtherCallee));
    // A register of the caller that is not restored.
    let mut lost = with(CallTarget::Function(identity()), false);
    if let Some((caller, _)) = &mut lost.caller {
        caller.missing.push(3);
    }
    assert_eq!(entered(&lost, &value), Err(Absence::Register(3)));
}

#[test]
fn hostile_expressions_end() {
    assert_eq!(read(&[0x2f, 0xfd, 0xff], 4), Err(Absence::Budget)); // skip -3
    assert_eq!(read(&[0x31, 0x31, 0x28, 0xfb, 0xff], 4), Err(Absence::Budget)); // bra back
    assert_eq!(read(&[0x31, 0x2f, 0xfc, 0xff], 4), Err(Absence::Budget)); // pushes without end
    assert_eq!(read(&[0x22], 4), Err(Absence::Malformed("expression")));
    assert_eq!(
        read(&[0x31, 0x30, 0x1b, 0x9f], 4),
        Err(Absence::Malformed("division by zero in an expression"))
    );
    assert_eq!(read(&[0xff], 4), Err(Absence::Malformed("expression")));
    assert_eq!(read(&[0x98, 9, 0], 4), Err(Absence::Operation("call"))); // call2
    let called = Program::of(&[0x98, 9, 0]).with_call(9, Program::of(&[0x98, 9, 0]));
    let recursive = read_in(&Numbers::default(), &Location::Absent, &whole(called), 4);
    assert_eq!(recursive, Err(Absence::Budget));
    assert_eq!(read(&[0x55], u64::MAX), Err(Absence::Length(u64::MAX)));
    let pieces = [0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1].repeat(50);
    assert_eq!(read(&pieces, 4), Err(Absence::Malformed("expression")));
}

#[test]
fn work_is_charged() {
    let limit = Limit { base: 40, per_byte: 0, most: 40 };
    let meter = Meter::new(&Budget::default().with(Resource::Steps, limit), 0);
    let (frame, function) = (Numbers::default(), identity());
    let context = plain(&frame, &function, &meter);
    let program = Program::of(&[0x55]);
    let ended = (0..10).find(|_| context.evaluate(&program, Some(8)).is_err());
    assert_eq!(ended, Some(4));
    assert_eq!(context.evaluate(&program, Some(8)).err(), Some(Absence::Budget));
}
