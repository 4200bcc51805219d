//! DWARF expressions of call frame information: a small stack machine over the sampled registers and the recorded
//! memory. Steps and depth are bounded. Values have the width of an address: arithmetic wraps at that width, and the
//! highest bit is the sign.

use gimli::{EndianSlice, Operation, RunTimeEndian};

use crate::state::{RegisterError, Registers, SampleMemory};

/// The reason why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpressionError {
    /// It is damaged or endless, or uses operations that call frame information must not use.
    Bad,
    /// It needs an unknown register or unknown memory.
    Register(RegisterError),
}

const MAX_STEPS: usize = 1000;
const MAX_DEPTH: usize = 64;

/// Evaluates the expression in `bytes`; `cfa` is on the stack at the start, for expressions of registers.
///
/// Source: DWARF 5, sections 2.5 and 6.4.2.
pub(crate) fn evaluate(
    bytes: &[u8],
    cfa: Option<u64>,
    registers: &Registers,
    memory: &SampleMemory<'_>,
) -> Result<u64, ExpressionError> {
    let endian = if memory.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let address_size = memory.word_size() as u8;
    let encoding = gimli::Encoding { address_size, format: gimli::Format::Dwarf32, version: 5 };
    let whole = EndianSlice::new(bytes, endian);
    let unused = 64 - 8 * u32::from(address_size);
    let mut machine = StackMachine { stack: [0; MAX_DEPTH], depth: 0, unused, registers, memory };
    if let Some(cfa) = cfa {
        machine.push(cfa)?;
    }
    let mut rest = whole;
    for _ in 0..MAX_STEPS {
        if rest.is_empty() {
            return machine.pop();
        }
        let left = memory.steps.get().checked_sub(1).ok_or(ExpressionError::Bad)?;
        memory.steps.set(left);
        let operation = Operation::parse(&mut rest, encoding).map_err(|_| ExpressionError::Bad)?;
        let jump = match operation {
            Operation::Skip { target } => Some(target),
            Operation::Bra { target } => (machine.pop()? != 0).then_some(target),
            other => {
                machine.run(&other)?;
                None
            }
        };
        if let Some(target) = jump {
            let here = bytes.len() - rest.len();
            let there = here.checked_add_signed(isize::from(target)).ok_or(ExpressionError::Bad)?;
            rest = EndianSlice::new(bytes.get(there..).ok_or(ExpressionError::Bad)?, endian);
        }
    }
    Err(ExpressionError::Bad)
}

struct StackMachine<'a> {
    stack: [u64; MAX_DEPTH],
    depth: usize,
    /// Number of upper bits, of 64, that values do not use. Invariant: they are 0 on the stack.
    unused: u32,
    registers: &'a Registers,
    memory: &'a SampleMemory<'a>,
}

impl StackMachine<'_> {
    fn push(&mut self, value: u64) -> Result<(), ExpressionError> {
        let value = value << self.unused >> self.unused;
        *self.stack.get_mut(self.depth).ok_or(ExpressionError::Bad)? = value;
        self.depth += 1;
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, ExpressionError> {
        self.depth = self.depth.checked_sub(1).ok_or(ExpressionError::Bad)?;
        self.stack.get(self.depth).copied().ok_or(ExpressionError::Bad)
    }

    fn pick(&self, index: usize) -> Result<u64, ExpressionError> {
        let at = self.depth.checked_sub(1 + index).ok_or(ExpressionError::Bad)?;
        self.stack.get(at).copied().ok_or(ExpressionError::Bad)
    }

    fn unary(&mut self, f: impl FnOnce(u64) -> u64) -> Result<(), ExpressionError> {
        let value = self.pop()?;
        self.push(f(value))
    }

    /// Applies `f` to the second value of the stack and the top one.
    fn binary(&mut self, f: impl FnOnce(u64, u64) -> Option<u64>) -> Result<(), ExpressionError> {
        let top = self.pop()?;
        let second = self.pop()?;
        self.push(f(second, top).ok_or(ExpressionError::Bad)?)
    }

    /// As `binary`, for signed numbers.
    fn signed(&mut self, f: impl FnOnce(i64, i64) -> Option<i64>) -> Result<(), ExpressionError> {
        let unused = self.unused;
        let number = |value: u64| value.cast_signed() << unused >> unused;
        self.binary(|a, b| f(number(a), number(b)).map(i64::cast_unsigned))
    }

    fn compare(&mut self, f: impl FnOnce(&i64, &i64) -> bool) -> Result<(), ExpressionError> {
        self.signed(|a, b| Some(i64::from(f(&a, &b))))
    }

    fn run(
        &mut self,
        operation: &Operation<EndianSlice<'_, RunTimeEndian>>,
    ) -> Result<(), ExpressionError> {
        match *operation {
            Operation::Deref { size, space: false, .. } => {
                let address = self.pop()?;
                let value = self.memory.read_sized(address, size);
                self.push(
                    value
                        .map_err(|error| ExpressionError::Register(RegisterError::Memory(error)))?,
                )
            }
            Operation::RegisterOffset { register, offset, .. } => {
                let number = u8::try_from(register.0).map_err(|_| ExpressionError::Bad)?;
                let value =
                    self.registers.get(number, self.memory).map_err(ExpressionError::Register)?;
                self.push(value.wrapping_add_signed(offset))
            }
            Operation::UnsignedConstant { value } | Operation::Address { address: value } => {
                self.push(value)
            }
            Operation::SignedConstant { value } => self.push(value as u64),
            Operation::PlusConstant { value } => self.unary(|a| a.wrapping_add(value)),
            Operation::Drop => self.pop().map(drop),
            Operation::Pick { index } => self.push(self.pick(usize::from(index))?),
            Operation::Swap => {
                let (top, second) = (self.pop()?, self.pop()?);
                self.push(top)?;
                self.push(second)
            }
            Operation::Rot => {
                let (first, second, third) = (self.pop()?, self.pop()?, self.pop()?);
                self.push(first)?;
                self.push(third)?;
                self.push(second)
            }
            Operation::Nop | Operation::StackValue => Ok(()),
            _ => self.arithmetic(operation),
        }
    }

    fn arithmetic(
        &mut self,
        operation: &Operation<EndianSlice<'_, RunTimeEndian>>,
    ) -> Result<(), ExpressionError> {
        match operation {
            Operation::Abs => {
                let unused = self.unused;
                self.unary(|a| (a.cast_signed() << unused >> unused).unsigned_abs())
            }
            Operation::Neg => self.unary(u64::wrapping_neg),
            Operation::Not => self.unary(|a| !a),
            Operation::And => self.binary(|a, b| Some(a & b)),
            Operation::Or => self.binary(|a, b| Some(a | b)),
            Operation::Xor => self.binary(|a, b| Some(a ^ b)),
            Operation::Plus => self.binary(|a, b| Some(a.wrapping_add(b))),
            Operation::Minus => self.binary(|a, b| Some(a.wrapping_sub(b))),
            Operation::Mul => self.binary(|a, b| Some(a.wrapping_mul(b))),
            Operation::Div => self.signed(i64::checked_div),
            Operation::Mod => self.binary(u64::checked_rem),
            Operation::Shl => self.binary(|a, b| Some(shift(b, |b| a << b))),
            Operation::Shr => self.binary(|a, b| Some(shift(b, |b| a >> b))),
            Operation::Shra => self.signed(|a, b| Some(a >> b.cast_unsigned().min(63))),
            Operation::Eq => self.compare(i64::eq),
            Operation::Ne => self.compare(i64::ne),
            Operation::Lt => self.compare(i64::lt),
            Operation::Le => self.compare(i64::le),
            Operation::Gt => self.compare(i64::gt),
            Operation::Ge => self.compare(i64::ge),
            _ => Err(ExpressionError::Bad),
        }
    }
}

/// Shifts; by 64 and more, the result is 0.
fn shift(by: u64, f: impl FnOnce(u32) -> u64) -> u64 {
    u32::try_from(by).ok().filter(|&by| by < 64).map_or(0, f)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use image_store::ImageStore;
    use module_map::Space;

    use super::*;
    use crate::state::WordForm;

    fn run(bytes: &[u8], cfa: Option<u64>) -> Result<u64, ExpressionError> {
        run_on(WordForm::Little64, bytes, cfa)
    }

    fn run_on(form: WordForm, bytes: &[u8], cfa: Option<u64>) -> Result<u64, ExpressionError> {
        let (space, images) = (Space::default(), ImageStore::default());
        let stack = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 9, 0, 0, 0, 0, 0, 0, 0];
        let memory = SampleMemory {
            stack: &stack,
            stack_start: 0x1000,
            form,
            space: &space,
            images: &images,
            steps: &Cell::new(u32::MAX),
        };
        let mut registers = Registers::new();
        registers.set(7, 0x1000);
        registers.set(16, 0x40_100b);
        evaluate(bytes, cfa, &registers, &memory)
    }

    #[test]
    fn the_plt_rule() {
        // breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus: one more word after the push at +11.
        let plt = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
        assert_eq!(run(&plt, None), Ok(0x1010));
    }

    #[test]
    fn memory_and_stack_operations() {
        // breg7 0; deref
        assert_eq!(run(&[0x77, 0, 0x06], None), Ok(0x8877_6655_4433_2211));
        // breg7 0; deref_size 2
        assert_eq!(run(&[0x77, 0, 0x94, 2], None), Ok(0x2211));
        // cfa on the stack; lit8; minus
        assert_eq!(run(&[0x38, 0x1c], Some(0x2000)), Ok(0x1ff8));
        // lit1 lit2 lit3 rot: 3 goes below; drop; drop leaves 3
        assert_eq!(run(&[0x31, 0x32, 0x33, 0x17, 0x13, 0x13], None), Ok(3));
        // lit1 lit2 swap minus
        assert_eq!(run(&[0x31, 0x32, 0x16, 0x1c], None), Ok(1));
    }

    #[test]
    fn numbers_of_32_bits_wrap() {
        let narrow = |bytes: &[u8]| run_on(WordForm::Little32, bytes, Some(0xffff_fff0));
        // breg7 0; deref: four bytes
        assert_eq!(narrow(&[0x77, 0, 0x06]), Ok(0x4433_2211));
        // plus_uconst 0x20; then down again: lit31; minus; lit1; minus
        assert_eq!(narrow(&[0x23, 0x20]), Ok(0x10));
        assert_eq!(narrow(&[0x23, 0x20, 0x4f, 0x1c, 0x31, 0x1c]), Ok(0xffff_fff0));
        // lit0; lt: bit 31 is the sign. lit4; shra. abs. lit4; neg; div.
        assert_eq!(narrow(&[0x30, 0x2d]), Ok(1));
        assert_eq!(narrow(&[0x34, 0x26]), Ok(0xffff_ffff));
        assert_eq!(narrow(&[0x19]), Ok(0x10));
        assert_eq!(narrow(&[0x34, 0x1f, 0x1b]), Ok(4));
        // addr: four bytes
        assert_eq!(narrow(&[0x03, 4, 3, 2, 1]), Ok(0x0102_0304));
    }

    #[test]
    fn hostile_expressions_end() {
        assert_eq!(run(&[0x2f, 0xfd, 0xff], None), Err(ExpressionError::Bad)); // skip -3: an endless loop
        assert_eq!(run(&[0x30; 100], None), Err(ExpressionError::Bad)); // too deep
        assert_eq!(run(&[0x22], None), Err(ExpressionError::Bad)); // nothing to add
        assert_eq!(run(&[0x31, 0x30, 0x1b], None), Err(ExpressionError::Bad)); // division by zero
        assert_eq!(run(&[0x73, 0], None), Err(ExpressionError::Register(RegisterError::Unknown)));
        assert_eq!(run(&[], None), Err(ExpressionError::Bad));
    }
}
