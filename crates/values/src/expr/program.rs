//! Expressions that hold all that they refer to, without their file.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{
    AttributeValue, DieReference, Encoding, EndianSlice, Expression, Operation, Reader,
    RunTimeEndian, ValueType, constants as c,
};

use super::location::{Location, compile_attribute};
use super::simple::Simple;
use crate::dwarf::{DieKey, LoadedUnit, Sources};
use crate::error::Error;

/// Maximum nesting of references between expressions.
const MAX_NESTING: u32 = 4;

/// An expression, with the entries of its unit that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    bytes: Box<[u8]>,
    encoding: Encoding,
    is_big_endian: bool,
    operands: Operands,
    /// Its only part, if it needs no interpreter.
    simple: Option<Simple>,
}

/// Entries that an expression refers to.
#[derive(Clone, Debug, Default)]
struct Operands {
    /// Base types, by offset in the unit.
    types: BTreeMap<usize, ValueType>,
    /// Addresses of `.debug_addr`, by index.
    addresses: BTreeMap<usize, u64>,
    /// Called expressions; those of the same unit alone.
    calls: BTreeMap<usize, Arc<Program>>,
    /// Objects of implicit pointers, by offset in the section.
    objects: BTreeMap<usize, Arc<Location>>,
    /// True if it needs a value at entry.
    needs_entry: bool,
    /// True if it converts to a floating point type.
    converts_to_float: bool,
    /// True if it depends on upper bits that the compiler may not have stated.
    depends_on_upper_bits: bool,
    /// True if it must not be decoded.
    is_damaged: bool,
}

impl Operands {
    /// Makes integer types of the width of an address generic, if the operations mean the same for both.
    /// LLVM adds values of `signed_64` to generic ones, which have another type; gimli refuses that.
    fn join_types<R: Reader<Offset = usize>>(&mut self, bytes: &R, encoding: Encoding) {
        let mut operations = Expression(bytes.clone()).operations(encoding);
        let (mut signed, mut unsigned) = (encoding.address_size == 8, encoding.address_size == 8);
        let mut literals = Vec::new();
        while let Ok(Some(operation)) = operations.next() {
            match operation {
                Operation::Mod | Operation::Shr => signed = false,
                Operation::Div
                | Operation::Shra
                | Operation::Lt
                | Operation::Le
                | Operation::Gt
                | Operation::Ge => unsigned = false,
                Operation::TypedLiteral { base_type, .. } => literals.push(base_type.0),
                Operation::Call { .. } => (signed, unsigned) = (false, false),
                _ => {}
            }
        }
        for (offset, value_type) in &mut self.types {
            let is_generic = match value_type {
                ValueType::I64 => signed,
                ValueType::U64 => unsigned,
                _ => false,
            };
            if is_generic && !literals.contains(offset) {
                *value_type = ValueType::Generic;
            }
        }
    }
}

/// Progress of an extension of a narrow number: a shift to the left by a constant, and one to the right by the same.
#[derive(Default)]
struct Extension {
    /// The last operations: constants, and shifts to the left as `None`.
    last: [Option<Option<u64>>; 3],
}

impl Extension {
    /// Adds the next operation; returns true if its result depends on all bits of a word, and it ends no extension.
    fn is_broken_by<R: Reader>(&mut self, operation: &Operation<R>) -> bool {
        let [first, shift, second] = self.last;
        let next = match operation {
            Operation::UnsignedConstant { value } => Some(Some(*value)),
            Operation::Shl => Some(None),
            _ => None,
        };
        self.last = [shift, second, next];
        match operation {
            Operation::Shr | Operation::Shra => {
                shift != Some(None) || first.flatten().is_none() || first != second
            }
            Operation::Div | Operation::Mod => true,
            _ => false,
        }
    }
}

/// Returns true if an operand can be a piece of 2^60 bytes or more, of which gimli's number of bits overflows.
fn has_huge_piece(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().any(|(at, &byte)| {
        let operand = bytes.get(at + 1..at + 9);
        byte == c::DW_OP_piece.0 && operand.is_some_and(|it| it.iter().all(|byte| byte & 0x80 != 0))
    })
}

impl Program {
    fn new(bytes: &[u8], encoding: Encoding, is_big_endian: bool, operands: Operands) -> Self {
        let bytes = bytes.into();
        let program = Self { bytes, encoding, is_big_endian, operands, simple: None };
        Self { simple: Simple::of(&program), ..program }
    }

    /// Its only part, if it needs no interpreter.
    pub(crate) const fn simple(&self) -> Option<Simple> {
        self.simple
    }

    /// Bytes of the operations.
    pub(crate) fn slice(&self) -> EndianSlice<'_, RunTimeEndian> {
        EndianSlice::new(&self.bytes, self.endian())
    }

    /// Returns true if it has no operations: the object is optimized out.
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Byte order of its constants.
    pub(crate) const fn endian(&self) -> RunTimeEndian {
        if self.is_big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little }
    }

    /// Encoding of its unit.
    pub(crate) const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns a base type by offset in the unit; 0 is the generic type.
    pub(crate) fn value_type(&self, offset: usize) -> Option<ValueType> {
        if offset == 0 {
            Some(ValueType::Generic)
        } else {
            self.operands.types.get(&offset).copied()
        }
    }

    /// Returns an address of `.debug_addr`.
    pub(crate) fn address(&self, index: usize) -> Option<u64> {
        self.operands.addresses.get(&index).copied()
    }

    /// Returns a called expression. Empty if the entry has no location.
    pub(crate) fn call(&self, reference: DieReference) -> Option<&Self> {
        let DieReference::UnitRef(offset) = reference else { return None };
        self.operands.calls.get(&offset.0).map(|it| &**it)
    }

    /// Returns the object of an implicit pointer.
    pub(crate) fn object(&self, offset: usize) -> Option<&Arc<Location>> {
        self.operands.objects.get(&offset)
    }

    /// Returns true if it needs a value at entry, itself or by its references.
    pub(crate) fn needs_entry(&self) -> bool {
        self.operands.needs_entry
            || self.operands.calls.values().any(|it| it.needs_entry())
            || self.operands.objects.values().any(|it| it.needs_entry())
    }

    /// Returns true if it must not be decoded.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.operands.is_damaged
    }

    /// Returns true if it converts to a floating point type. gimli converts negative numbers wrongly.
    pub(crate) const fn converts_to_float(&self) -> bool {
        self.operands.converts_to_float
    }

    /// Returns true if it divides or shifts to the right, apart from the extension of a narrow number. GCC states
    /// arithmetic on narrow numbers by operations on whole words, without the extension that these operations need.
    pub(crate) const fn depends_on_upper_bits(&self) -> bool {
        self.operands.depends_on_upper_bits
    }

    /// Decodes the operations; `None` if they are damaged.
    pub(crate) fn operations(&self) -> Option<Vec<Operation<EndianSlice<'_, RunTimeEndian>>>> {
        if self.operands.is_damaged {
            return None;
        }
        let mut operations = Expression(self.slice()).operations(self.encoding);
        let mut decoded = Vec::new();
        while let Some(operation) = operations.next().ok()? {
            decoded.push(operation);
        }
        Some(decoded)
    }

    /// Creates an expression from its bytes.
    #[cfg(test)]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let encoding = Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };
        let operands = Operands { is_damaged: has_huge_piece(bytes), ..Operands::default() };
        Self::new(bytes, encoding, false, operands)
    }

    /// Adds a base type.
    #[cfg(test)]
    pub(crate) fn with_type(mut self, offset: usize, value_type: ValueType) -> Self {
        self.operands.types.insert(offset, value_type);
        self
    }

    /// Adds a called expression.
    #[cfg(test)]
    pub(crate) fn with_call(mut self, offset: usize, program: Self) -> Self {
        self.operands.calls.insert(offset, Arc::new(program));
        self
    }

    /// Adds the object of an implicit pointer.
    #[cfg(test)]
    pub(crate) fn with_object(mut self, offset: usize, location: Location) -> Self {
        self.operands.objects.insert(offset, Arc::new(location));
        self
    }
}

/// Compiler of a unit's expressions.
pub(crate) struct Compiler<'a, 's, R: Reader<Offset = usize>> {
    /// Files of the image.
    pub(crate) sources: &'s Sources<'a, R>,
    /// Unit of the expressions.
    pub(crate) unit: &'s LoadedUnit<'a, R>,
    /// Number of references that led here.
    pub(crate) nesting: u32,
}

impl<'a, 's, R: Reader<Offset = usize>> Compiler<'a, 's, R> {
    /// Creates a compiler for a unit.
    pub(crate) const fn new(sources: &'s Sources<'a, R>, unit: &'s LoadedUnit<'a, R>) -> Self {
        Self { sources, unit, nesting: 0 }
    }

    /// Compiles an expression. References that cannot be followed are left out; their evaluation fails.
    ///
    /// Source: DWARF 5, section 2.5.
    pub(crate) fn program(&self, expression: &Expression<R>) -> Result<Arc<Program>, Error> {
        let bytes = expression.0.to_slice()?;
        let meter = self.sources.meter();
        meter.steps(1 + bytes.len() as u64)?;
        meter.hold(size_of::<Program>() + bytes.len())?;
        let mut operands = Operands { is_damaged: has_huge_piece(&bytes), ..Operands::default() };
        if !operands.is_damaged {
            self.operands(&expression.0, &mut operands, 0)?;
            operands.join_types(&expression.0, self.unit.unit.encoding());
        }
        let encoding = self.unit.unit.encoding();
        let is_big_endian = gimli::Endianity::is_big_endian(expression.0.endian());
        Ok(Arc::new(Program::new(&bytes, encoding, is_big_endian, operands)))
    }

    fn operands(&self, bytes: &R, operands: &mut Operands, nesting: u32) -> Result<(), Error> {
        let mut operations = Expression(bytes.clone()).operations(self.unit.unit.encoding());
        let mut extension = Extension::default();
        // Damage is found again when the expression is evaluated, by frames that reach it.
        while let Ok(Some(operation)) = operations.next() {
            operands.depends_on_upper_bits |= extension.is_broken_by(&operation);
            match operation {
                Operation::Convert { base_type } => {
                    self.value_type(base_type, operands)?;
                    let target = operands.types.get(&base_type.0);
                    operands.converts_to_float |=
                        matches!(target, Some(ValueType::F32 | ValueType::F64));
                }
                Operation::Deref { base_type, .. }
                | Operation::RegisterOffset { base_type, .. }
                | Operation::TypedLiteral { base_type, .. }
                | Operation::Reinterpret { base_type } => self.value_type(base_type, operands)?,
                Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
                    if let Ok(address) = self.unit.dwarf.address(&self.unit.unit, index) {
                        self.sources.meter().hold(64)?;
                        operands.addresses.insert(index.0, address);
                    }
                }
                Operation::EntryValue { expression } => {
                    operands.needs_entry = true;
                    if nesting < MAX_NESTING {
                        self.operands(&expression, operands, nesting + 1)?;
                    }
                }
                Operation::ParameterRef { .. } => operands.needs_entry = true,
                Operation::Call { offset: DieReference::UnitRef(offset) } => {
                    if let Some(program) = self.called(offset)? {
                        operands.calls.insert(offset.0, program);
                    }
                }
                Operation::ImplicitPointer { value, .. } => {
                    if let Some(location) = self.object(self.unit.key_of_section(value))? {
                        operands.objects.insert(value.0, location);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn value_type(&self, base: gimli::UnitOffset, operands: &mut Operands) -> Result<(), Error> {
        if base.0 == 0 || operands.types.contains_key(&base.0) {
            return Ok(());
        }
        self.sources.meter().steps(1)?;
        self.sources.meter().hold(64)?;
        let Ok(die) = self.unit.unit.entry(base) else { return Ok(()) };
        if let Ok(Some(value_type)) = ValueType::from_entry(&die) {
            operands.types.insert(base.0, value_type);
        }
        Ok(())
    }

    fn nested(&self, unit: &'s LoadedUnit<'a, R>) -> Option<Self> {
        let nesting = self.nesting + 1;
        (nesting <= MAX_NESTING).then_some(Compiler { sources: self.sources, unit, nesting })
    }

    fn called(&self, offset: gimli::UnitOffset) -> Result<Option<Arc<Program>>, Error> {
        let Some(nested) = self.nested(self.unit) else { return Ok(None) };
        self.sources.meter().steps(1)?;
        let Ok(die) = self.unit.unit.entry(offset) else { return Ok(None) };
        match die.attr_value(c::DW_AT_location) {
            Some(AttributeValue::Exprloc(expression)) => nested.program(&expression).map(Some),
            _ => Ok(None),
        }
    }

    fn object(&self, key: DieKey) -> Result<Option<Arc<Location>>, Error> {
        if self.nesting >= MAX_NESTING {
            return Ok(None);
        }
        let Ok(entry) = self.sources.entry(key) else { return Ok(None) };
        let nested =
            Compiler { sources: self.sources, unit: &entry.unit, nesting: self.nesting + 1 };
        let location = compile_attribute(&nested, &entry.die)?;
        Ok((!matches!(location, Location::Absent)).then(|| Arc::new(location)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if an expression depends on upper bits of its operands.
    fn depends(bytes: &[u8]) -> bool {
        let encoding = Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
        let slice = EndianSlice::new(bytes, RunTimeEndian::Little);
        let (mut extension, mut depends) = (Extension::default(), false);
        let mut operations = Expression(slice).operations(encoding);
        while let Ok(Some(operation)) = operations.next() {
            depends |= extension.is_broken_by(&operation);
        }
        depends
    }

    #[test]
    fn only_extensions_shift_to_the_right() {
        // breg5 0; const1u 32; shl; const1u 32; shra
        assert!(!depends(&[0x75, 0, 0x08, 32, 0x24, 0x08, 32, 0x26]));
        // breg5 0; const1u 32; shl; const1u 31; shr
        assert!(depends(&[0x75, 0, 0x08, 32, 0x24, 0x08, 31, 0x25]));
        // breg5 0; lit31; shra
        assert!(depends(&[0x75, 0, 0x4f, 0x26]));
        // breg5 0; lit7; div
        assert!(depends(&[0x75, 0, 0x37, 0x1b]));
        // breg5 0; lit7; mul; lit1; plus
        assert!(!depends(&[0x75, 0, 0x37, 0x1e, 0x31, 0x22]));
    }
}
