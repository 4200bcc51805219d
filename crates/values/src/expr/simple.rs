//! Expressions of a base and an offset, which most locations are. They are decoded once, and evaluated without the
//! interpreter.

use gimli::{
    EndianSlice, EvaluationResult, Expression, Location, Operation, Piece, RunTimeEndian, Value,
};

use super::program::Program;

/// Maximum number of operations of a constant.
const MOST_CONSTANTS: u32 = 64;

/// An expression with one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Simple {
    /// The object is in a register, by its DWARF number.
    Register(u16),
    /// The object is at the address of this sum.
    Memory(Sum),
    /// The object has the value of this sum.
    Value(Sum),
}

/// A base and an offset; the sum wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    pub(crate) start: Start,
    pub(crate) offset: u64,
}

/// The first operand of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// Contents of a register.
    Register(u16),
    /// The frame base of the function.
    FrameBase,
    /// The canonical frame address.
    Cfa,
    /// The value of a register at entry.
    Entry(u16),
    /// Zero.
    Zero,
}

impl Simple {
    /// Decodes an expression; `None` if it needs the interpreter.
    ///
    /// Source: DWARF 5, sections 2.5 and 2.6.
    pub(super) fn of(program: &Program) -> Option<Self> {
        // Sums of narrower addresses wrap earlier.
        if program.is_damaged() || program.encoding().address_size != 8 {
            return None;
        }
        Self::of_parts(program).or_else(|| Self::constant(program))
    }

    /// Decodes an expression of a base and offsets.
    fn of_parts(program: &Program) -> Option<Self> {
        let mut operations = Expression(program.slice()).operations(program.encoding());
        let (start, mut offset) = match operations.next().ok()?? {
            Operation::Register { register } => {
                let is_all = operations.next().ok()?.is_none();
                return is_all.then_some(Self::Register(register.0));
            }
            Operation::RegisterOffset { register, offset, base_type } if base_type.0 == 0 => {
                (Start::Register(register.0), offset.cast_unsigned())
            }
            Operation::FrameOffset { offset } => (Start::FrameBase, offset.cast_unsigned()),
            Operation::CallFrameCFA => (Start::Cfa, 0),
            Operation::EntryValue { expression } => {
                (Start::Entry(register_alone(expression, program)?), 0)
            }
            Operation::UnsignedConstant { value } => (Start::Zero, value),
            Operation::SignedConstant { value } => (Start::Zero, value.cast_unsigned()),
            _ => return None,
        };
        loop {
            match operations.next().ok()? {
                None => return Some(Self::Memory(Sum { start, offset })),
                Some(Operation::PlusConstant { value }) => offset = offset.wrapping_add(value),
                Some(Operation::StackValue) => {
                    let is_last = operations.next().ok()?.is_none();
                    return is_last.then_some(Self::Value(Sum { start, offset }));
                }
                Some(_) => return None,
            }
        }
    }
}

impl Simple {
    /// Evaluates an expression of constants. GCC states 8388608 as `8 << 20`.
    fn constant(program: &Program) -> Option<Self> {
        if program.converts_to_float() || program.depends_on_upper_bits() {
            return None;
        }
        let mut evaluation = Expression(program.slice()).evaluation(program.encoding());
        evaluation.set_max_iterations(MOST_CONSTANTS);
        let Ok(EvaluationResult::Complete) = evaluation.evaluate() else { return None };
        let [Piece { location, size_in_bits: None, bit_offset: None }] = evaluation.as_result()
        else {
            return None;
        };
        let sum = |offset| Sum { start: Start::Zero, offset };
        match *location {
            Location::Address { address } => Some(Self::Memory(sum(address))),
            Location::Value { value: Value::Generic(value) } => Some(Self::Value(sum(value))),
            _ => None,
        }
    }
}

/// Returns the register that is the only operation of an expression.
fn register_alone(bytes: EndianSlice<'_, RunTimeEndian>, program: &Program) -> Option<u16> {
    let mut operations = Expression(bytes).operations(program.encoding());
    let Some(Operation::Register { register }) = operations.next().ok()? else { return None };
    operations.next().ok()?.is_none().then_some(register.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_one_part() {
        let of = |bytes: &[u8]| Simple::of(&Program::of(bytes));
        let sum = |start, offset| Sum { start, offset };
        // reg5
        assert_eq!(of(&[0x55]), Some(Simple::Register(5)));
        // breg7 -8; plus_uconst 24
        assert_eq!(of(&[0x77, 0x78, 0x23, 24]), Some(Simple::Memory(sum(Start::Register(7), 16))));
        // fbreg -8; stack_value
        let minus_8 = 8_u64.wrapping_neg();
        assert_eq!(of(&[0x91, 0x78, 0x9f]), Some(Simple::Value(sum(Start::FrameBase, minus_8))));
        // call_frame_cfa
        assert_eq!(of(&[0x9c]), Some(Simple::Memory(sum(Start::Cfa, 0))));
        // entry_value reg5; stack_value
        assert_eq!(of(&[0xa3, 1, 0x55, 0x9f]), Some(Simple::Value(sum(Start::Entry(5), 0))));
        // lit3; const1s -1
        assert_eq!(of(&[0x33]), Some(Simple::Memory(sum(Start::Zero, 3))));
        assert_eq!(of(&[0x09, 0xff]), Some(Simple::Memory(sum(Start::Zero, u64::MAX))));
        // lit8; lit20; shl
        assert_eq!(of(&[0x38, 0x44, 0x24]), Some(Simple::Memory(sum(Start::Zero, 8 << 20))));
        // lit3; lit5; plus; stack_value
        assert_eq!(of(&[0x33, 0x35, 0x22, 0x9f]), Some(Simple::Value(sum(Start::Zero, 8))));
    }

    #[test]
    fn others_need_the_interpreter() {
        let of = |bytes: &[u8]| Simple::of(&Program::of(bytes));
        // reg5; piece 4
        assert_eq!(of(&[0x55, 0x93, 4]), None);
        // breg7 8; deref
        assert_eq!(of(&[0x77, 8, 0x06]), None);
        // entry_value breg5 8; stack_value
        assert_eq!(of(&[0xa3, 2, 0x75, 8, 0x9f]), None);
        // lit1; stack_value; lit2
        assert_eq!(of(&[0x31, 0x9f, 0x32]), None);
        // A cut operand.
        assert_eq!(of(&[0x77]), None);
        assert_eq!(of(&[]), None);
    }
}
