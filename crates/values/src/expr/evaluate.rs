//! Evaluation of an expression for a frame.

use gimli::{
    EndianSlice, Evaluation, EvaluationResult, Expression, Operation, RunTimeEndian, Value,
};

use budget::Meter;

use super::call_sites::{CallTarget, Identity, ParameterKey};
use super::frame::{Caller, Frame};
use super::location::Location;
use super::place::{Part, Piece, Place, read_memory};
use super::program::Program;
use super::simple::{Simple, Start, Sum};
use crate::absence::Absence;

/// Maximum number of operations of an expression.
const MAX_OPERATIONS: u32 = 1000;
/// Maximum nesting of evaluations: frame bases, values at entry and objects of implicit pointers.
const MAX_NESTING: u32 = 8;

type Slice<'p> = EndianSlice<'p, RunTimeEndian>;

/// Everything that an expression of a frame may use.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Physical frame.
    pub(crate) frame: &'a dyn Frame,
    /// Address of the image (SVMA) to look up: that of the leaf, or the return address - 1.
    pub(crate) address: u64,
    /// Frame base of the function.
    pub(crate) frame_base: &'a Location,
    /// Physical function of the frame.
    pub(crate) function: &'a Identity,
    /// Meter of the work.
    pub(crate) meter: &'a Meter,
    /// Number of evaluations around this one.
    pub(crate) nesting: u32,
}

impl<'a> Context<'a> {
    /// Returns the context of an evaluation inside of this one.
    fn nested(&self) -> Result<Self, Absence> {
        let nesting = self.nesting + 1;
        if nesting > MAX_NESTING {
            return Err(Absence::Malformed("nesting of locations"));
        }
        Ok(Self { nesting, ..*self })
    }

    /// Evaluates a location for an object of `width` bytes, if its size is known.
    pub(crate) fn locate(&self, location: &Location, width: Option<u64>) -> Result<Place, Absence> {
        match location {
            Location::Number(number) => Ok(Place::number(*number, width)),
            Location::Bytes(bytes) => Ok(Place::bytes(bytes.to_vec())),
            _ => self.evaluate(location.at(self.address)?, width),
        }
    }

    /// Evaluates an expression as the location of an object.
    ///
    /// Source: DWARF 5, sections 2.5 and 2.6.
    pub(crate) fn evaluate(&self, program: &Program, width: Option<u64>) -> Result<Place, Absence> {
        if let Some(simple) = program.simple() {
            self.meter.steps(8 + program.slice().len() as u64)?;
            let part = match simple {
                Simple::Register(register) => Part::Register(register),
                Simple::Memory(sum) => Part::Memory(self.sum(sum)?),
                Simple::Value(sum) => Part::Value { value: self.sum(sum)?, bytes: 8 },
            };
            return Ok(Place::of_part(part, width, program.endian()));
        }
        let evaluation = self.run(program)?;
        let pieces = evaluation.as_result().iter().map(|piece| self.piece(program, piece));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        Ok(Place::new(pieces, width, program.endian()))
    }

    /// Evaluates an expression as a number: an address, the contents of a register, or a value.
    fn number(&self, program: &Program) -> Result<u64, Absence> {
        if let Some(simple) = program.simple() {
            self.meter.steps(8 + program.slice().len() as u64)?;
            return match simple {
                Simple::Register(register) => self.register(register),
                Simple::Memory(sum) | Simple::Value(sum) => self.sum(sum),
            };
        }
        let evaluation = self.run(program)?;
        let [piece] = evaluation.as_result() else {
            return Err(Absence::Malformed("number in pieces"));
        };
        match piece.location {
            gimli::Location::Address { address } => Ok(address),
            gimli::Location::Register { register } => self.register(register.0),
            gimli::Location::Value { value } => number(value),
            _ => Err(Absence::Operation("location of a number")),
        }
    }

    fn sum(&self, sum: Sum) -> Result<u64, Absence> {
        let base = match sum.start {
            Start::Register(register) => self.register(register)?,
            Start::FrameBase => self.frame_base_address()?,
            Start::Cfa => self.frame.cfa().ok_or(Absence::NoCfa)?,
            Start::Entry(register) => self.parameter(&ParameterKey::Register(register))?,
            Start::Zero => 0,
        };
        Ok(base.wrapping_add(sum.offset))
    }

    fn register(&self, number: u16) -> Result<u64, Absence> {
        self.frame.register(number).ok_or(Absence::Register(number))
    }

    fn piece(&self, program: &Program, piece: &gimli::Piece<Slice<'_>>) -> Result<Piece, Absence> {
        let part = match piece.location {
            gimli::Location::Empty => Part::Missing,
            gimli::Location::Register { register } => Part::Register(register.0),
            gimli::Location::Address { address } => Part::Memory(address),
            gimli::Location::Value { value } => {
                let (value, bits) = bits_of(value, program.encoding().address_size);
                Part::Value { value, bytes: bits / 8 }
            }
            gimli::Location::Bytes { value } => {
                self.meter.steps(value.len() as u64)?;
                Part::Bytes(value.to_vec())
            }
            gimli::Location::ImplicitPointer { value, byte_offset } => {
                Part::Object { location: program.object(value.0).cloned(), offset: byte_offset }
            }
        };
        Ok(Piece { part, bits: piece.size_in_bits, skip_bits: piece.bit_offset.unwrap_or(0) })
    }

    fn run<'p>(&self, program: &'p Program) -> Result<Evaluation<Slice<'p>>, Absence> {
        if program.is_damaged() {
            return Err(Absence::Malformed("expression"));
        }
        if program.converts_to_float() {
            return Err(Absence::Operation("conversion to floating point"));
        }
        if program.depends_on_upper_bits() {
            return Err(Absence::Operation("division or shift"));
        }
        let slice = program.slice();
        self.meter.steps(8 + slice.len() as u64)?;
        let mut evaluation = Expression(slice).evaluation(program.encoding());
        evaluation.set_max_iterations(MAX_OPERATIONS);
        let mut state = evaluation.evaluate().map_err(failure)?;
        loop {
            self.meter.steps(1)?;
            state = match state {
                EvaluationResult::Complete => return Ok(evaluation),
                state => self.resume(program, &mut evaluation, state)?,
            };
        }
    }

    /// Provides an evaluation with the value that it waits for.
    fn resume<'p>(
        &self,
        program: &'p Program,
        evaluation: &mut Evaluation<Slice<'p>>,
        state: EvaluationResult<Slice<'p>>,
    ) -> Result<EvaluationResult<Slice<'p>>, Absence> {
        let type_of = |offset: gimli::UnitOffset| {
            program.value_type(offset.0).ok_or(Absence::Operation("unknown base type"))
        };
        let next = match state {
            EvaluationResult::Complete => Ok(state),
            EvaluationResult::RequiresMemory { space: Some(_), .. } => {
                return Err(Absence::Operation("address space"));
            }
            EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                let mut bytes = [0; u8::MAX as usize];
                let bytes = bytes.get_mut(..usize::from(size)).unwrap_or_default();
                read_memory(self.frame, address, bytes, self.meter)?;
                let value = typed(type_of(base_type)?, bytes, program)?;
                evaluation.resume_with_memory(value)
            }
            EvaluationResult::RequiresRegister { register, base_type } => {
                let value = self.register(register.0)?;
                let value = register_value(value, type_of(base_type)?, program)?;
                evaluation.resume_with_register(value)
            }
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(self.frame_base_address()?)
            }
            EvaluationResult::RequiresTls(offset) => {
                let address = self.frame.thread_local(offset).ok_or(Absence::ThreadLocal)?;
                evaluation.resume_with_tls(address)
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(self.frame.cfa().ok_or(Absence::NoCfa)?)
            }
            EvaluationResult::RequiresAtLocation(reference) => {
                let called = program.call(reference).ok_or(Absence::Operation("call"))?;
                self.meter.steps(called.slice().len() as u64)?;
                evaluation.resume_with_at_location(called.slice())
            }
            EvaluationResult::RequiresEntryValue(expression) => {
                let value = self.value_at_entry(program, expression)?;
                evaluation.resume_with_entry_value(value)
            }
            EvaluationResult::RequiresParameterRef(offset) => evaluation
                .resume_with_parameter_ref(self.parameter(&ParameterKey::Entry(offset.0))?),
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address.wrapping_add(self.frame.bias()))
            }
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                let address =
                    program.address(index.0).ok_or(Absence::Malformed("index of an address"))?;
                let bias = if relocate { self.frame.bias() } else { 0 };
                evaluation.resume_with_indexed_address(address.wrapping_add(bias))
            }
            EvaluationResult::RequiresBaseType(offset) => {
                evaluation.resume_with_base_type(type_of(offset)?)
            }
        };
        next.map_err(failure)
    }

    fn frame_base_address(&self) -> Result<u64, Absence> {
        match self.frame_base {
            Location::Absent => Err(Absence::NoFrameBase),
            location => self.nested()?.number(location.at(self.address)?),
        }
    }

    /// Value of `DW_OP_entry_value`.
    fn value_at_entry(
        &self,
        program: &Program,
        expression: Expression<Slice<'_>>,
    ) -> Result<Value, Absence> {
        let mut operations = expression.operations(program.encoding());
        let first = operations.next().map_err(failure)?;
        let rest = operations.next().map_err(failure)?;
        match (first, rest) {
            (Some(Operation::Register { register }), None) => {
                self.parameter(&ParameterKey::Register(register.0)).map(Value::Generic)
            }
            (Some(Operation::RegisterOffset { register, offset: 0, base_type }), None) => {
                let value = self.parameter(&ParameterKey::Register(register.0))?;
                let value_type = program.value_type(base_type.0);
                let value_type = value_type.ok_or(Absence::Operation("unknown base type"))?;
                register_value(value, value_type, program)
            }
            _ => Err(Absence::Operation("value at entry of an expression")),
        }
    }

    /// Value that the caller states for a parameter.
    ///
    /// Source: DWARF 5, sections 2.5.1.7 and 3.4.2.
    fn parameter(&self, key: &ParameterKey) -> Result<u64, Absence> {
        let nested = self.nested()?;
        let caller = self.frame.caller().ok_or(Absence::NoCaller)?;
        let site = caller.sites.get(caller.return_address).ok_or(Absence::NoCallSite)?;
        let inside = Context {
            frame: caller.frame,
            address: caller.return_address.wrapping_sub(1),
            frame_base: &site.frame_base,
            function: &site.caller,
            ..nested
        };
        self.check_callee(&caller, &site.target, &inside)?;
        let (_, program) =
            site.parameters.iter().find(|(it, _)| it == key).ok_or(Absence::NoCallSite)?;
        inside.number(program)
    }

    /// Checks that the call led to this frame's function, and that no tail call came between.
    fn check_callee(
        &self,
        caller: &Caller<'_>,
        target: &CallTarget,
        inside: &Context<'_>,
    ) -> Result<(), Absence> {
        let is_this = match target {
            CallTarget::Function(function) => function.is(self.function, caller.same_image),
            CallTarget::Computed(program) => {
                let entry = self.function.entry.map(|it| it.wrapping_add(self.frame.bias()));
                Some(inside.number(program)?) == entry
            }
            CallTarget::Unknown => return Err(Absence::NoCallSite),
        };
        let Some(die) = self.function.die else { return Err(Absence::NoCallSite) };
        let is_certain = caller.same_image && !caller.sites.tail_recursive.contains(&die);
        if is_this && (is_certain || !caller.same_image) {
            Ok(())
        } else {
            Err(Absence::OtherCallee)
        }
    }
}

/// Returns the number of a value; a sign is extended.
fn number(value: Value) -> Result<u64, Absence> {
    match value {
        Value::F32(_) | Value::F64(_) => Err(Absence::Operation("floating point as address")),
        value => value.to_u64(u64::MAX).map_err(failure),
    }
}

/// Returns the bits of a value, and their number.
fn bits_of(value: Value, address_size: u8) -> (u64, u64) {
    match value {
        Value::Generic(value) => (value, 8 * u64::from(address_size)),
        Value::I8(value) => (u64::from(value.cast_unsigned()), 8),
        Value::U8(value) => (value.into(), 8),
        Value::I16(value) => (u64::from(value.cast_unsigned()), 16),
        Value::U16(value) => (value.into(), 16),
        Value::I32(value) => (u64::from(value.cast_unsigned()), 32),
        Value::U32(value) => (value.into(), 32),
        Value::I64(value) => (value.cast_unsigned(), 64),
        Value::U64(value) => (value, 64),
        Value::F32(value) => (value.to_bits().into(), 32),
        Value::F64(value) => (value.to_bits(), 64),
    }
}

/// Decodes memory as a value; memory that is narrower than the type is extended without sign.
fn typed(value_type: gimli::ValueType, bytes: &[u8], program: &Program) -> Result<Value, Absence> {
    let is_big = gimli::Endianity::is_big_endian(program.endian());
    let value = bytes.iter().enumerate().fold(0, |value, (index, &byte)| {
        let at = if is_big { bytes.len() - 1 - index } else { index };
        value | u64::from(byte) << (8 * at.min(7))
    });
    register_value(value, value_type, program)
}

/// Interprets the lowest bits of a register as a value.
fn register_value(
    value: u64,
    value_type: gimli::ValueType,
    program: &Program,
) -> Result<Value, Absence> {
    match value_type {
        gimli::ValueType::Generic => {
            let unused = 64 - 8 * u32::from(program.encoding().address_size);
            Ok(Value::Generic(value << unused >> unused))
        }
        gimli::ValueType::F32 => Ok(Value::F32(f32::from_bits(value as u32))),
        gimli::ValueType::F64 => Ok(Value::F64(f64::from_bits(value))),
        value_type => Value::from_u64(value_type, value).map_err(failure),
    }
}

fn failure(error: gimli::Error) -> Absence {
    match error {
        gimli::Error::TooManyIterations => Absence::Budget,
        gimli::Error::UnsupportedEvaluation => Absence::Operation("unsupported"),
        gimli::Error::DivisionByZero => Absence::Malformed("division by zero in an expression"),
        _ => Absence::Malformed("expression"),
    }
}
