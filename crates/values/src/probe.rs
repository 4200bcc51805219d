//! Arguments of uprobes: values at the start of a function, in the notation of the kernel.

use address::Arch;
use gimli::{Operation, Reader};

use crate::absence::Absence;
use crate::dwarf::Sources;
use crate::error::Error;
use crate::expr::{Location, Program};
use crate::functions::{Instance, Variable};
use crate::probe_argument::{ProbeArgument, ProbeError};
use crate::probe_fetch::{At, Fetch, fetched, typed};
use crate::probe_request::ProbeField;
use crate::types::bind;

/// The instruction of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePoint {
    /// Processor.
    pub arch: Arch,
    /// Address of the image (SVMA).
    pub address: u64,
    /// Frame address (CFA) at the instruction: a register by its DWARF number, and an offset in bytes.
    pub cfa: (u16, i64),
    /// True at the first instruction of a function: nothing of its frame is stored yet.
    pub is_entry: bool,
}

impl ProbePoint {
    /// Returns the point at a function's first instruction. `None` for processors without uprobe names here.
    ///
    /// Source: System V psABI for x86-64, section 3.2.2; AAPCS64, section 6.4.5.
    #[must_use]
    pub const fn entry(arch: Arch, address: u64) -> Option<Self> {
        let cfa = match arch {
            Arch::X86_64 => (7, 8),
            Arch::Aarch64 => (31, 0),
            _ => return None,
        };
        Some(Self { arch, address, cfa, is_entry: true })
    }
}

impl Instance {
    /// Returns the address at which a probe reads the fields, and true if it is the first instruction of the function.
    ///
    /// Without optimization, the prologue stores arguments into the frame. Go runs the start of a function again if
    /// its stack grows. Both end with the prologue.
    #[must_use]
    pub fn probe_address(&self, fields: &[ProbeField]) -> Option<(u64, bool)> {
        let entry = self.entry?;
        let is_late = |it: &Variable| {
            it.is_stored_late && fields.iter().any(|field| field.path.variable == it.name)
        };
        let is_after = self.is_go || self.variables.iter().any(is_late);
        if is_after && !self.prologue.is_empty() {
            return Some((self.prologue.end, false));
        }
        Some((entry, self.inlined_into.is_none()))
    }

    /// Returns the arguments of a probe for each field, in order, or the reason why there is none.
    ///
    /// Source: kernel documentation, `trace/uprobetracer.rst`.
    pub fn probe_arguments<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
        point: &ProbePoint,
        fields: &[ProbeField],
    ) -> Vec<Result<Vec<ProbeArgument>, ProbeError>> {
        fields.iter().map(|field| self.probe_field(sources, point, field)).collect()
    }

    /// Returns the argument of a probe at the return; none if the result is not one number, pointer or text.
    ///
    /// # Errors
    /// Damaged debug information, and spent budgets.
    pub fn probe_result<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
    ) -> Result<Vec<ProbeArgument>, Error> {
        if self.result.is_none() {
            return Ok(Vec::new());
        }
        let bound = bind(sources, self.result, &[])?;
        let at = At { pieces: vec![(0, Fetch::Result)], offset: 0 };
        let found = typed(&bound.shape, at).unwrap_or_default();
        Ok(found.into_iter().map(|it| it.named("retval")).collect())
    }

    /// Returns true for functions of Go, whose stacks move: a probe of the return would end the program.
    #[must_use]
    pub const fn is_go(&self) -> bool {
        self.is_go
    }

    fn probe_field<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
        point: &ProbePoint,
        field: &ProbeField,
    ) -> Result<Vec<ProbeArgument>, ProbeError> {
        // Compilers enter inlined code also at an instruction that is part of its caller.
        let is_entry = self.entry == Some(point.address);
        if !is_entry && !self.ranges.iter().any(|range| range.contains(&point.address)) {
            return Err(ProbeError::NoFunction);
        }
        let path = &field.path;
        let is_argument = |it: &&Variable| it.is_parameter && !it.is_result;
        let mut named = self.variables.iter().filter(|it| it.name == path.variable).peekable();
        if named.peek().is_some() && !named.any(|it| is_argument(&it)) {
            return Err(ProbeError::Local);
        }
        let arguments = || self.variables.iter().filter(is_argument);
        let variable = arguments().find(|it| it.name == path.variable).ok_or_else(|| {
            ProbeError::Path(Error::UnknownVariable {
                function: self.name.to_string(),
                name: path.variable.clone(),
                existing: arguments().map(|it| it.name.clone()).collect(),
            })
        })?;
        let bound = bind(sources, variable.type_key, &path.steps).map_err(ProbeError::Path)?;
        let pieces = self.located(point, variable)?;
        let found = fetched(pieces, &bound)?;
        let name = field.name();
        Ok(found.into_iter().map(|it| it.named(&name)).collect())
    }

    /// Returns true if a location in memory that holds for the whole function has the value at the point.
    ///
    /// Memory above the frame address is written by the caller, except for Go, whose functions store registers there.
    fn is_stored(&self, point: &ProbePoint, variable: &Variable) -> bool {
        let is_late = variable.is_stored_late || self.is_go;
        let is_after = !point.is_entry && !self.prologue.contains(&point.address);
        self.inlined_into.is_none() && (!is_late || (is_after && !self.is_go))
    }

    /// Returns the pieces of a variable: the storage, with the offset in the variable.
    fn located(
        &self,
        point: &ProbePoint,
        variable: &Variable,
    ) -> Result<Vec<(u64, Fetch)>, ProbeError> {
        let location = &*variable.location;
        match location {
            Location::Number(number) => return Ok(vec![(0, Fetch::Number(*number))]),
            Location::Bytes(_) => return Err(Absence::Operation("constant").into()),
            _ => {}
        }
        let program = location.at(point.address)?;
        let operations = program.operations().ok_or(Absence::Malformed("location"))?;
        let mut pieces = Vec::new();
        let mut offset = 0_u64;
        let mut rest = operations.as_slice();
        while let Some(end) = rest.iter().position(|it| matches!(it, Operation::Piece { .. })) {
            let (piece, after) = rest.split_at(end);
            if !piece.is_empty() {
                pieces.push((offset, self.storage(point, piece)?));
            }
            if let Some((Operation::Piece { size_in_bits, bit_offset: None }, after)) =
                after.split_first()
            {
                offset = offset.saturating_add(size_in_bits / 8);
                rest = after;
            } else {
                return Err(Absence::Operation("bit_piece").into());
            }
        }
        if !rest.is_empty() {
            pieces.push((offset, self.storage(point, rest)?));
        }
        let is_memory = pieces.iter().any(|(_, it)| matches!(it, Fetch::Memory(..)));
        let is_everywhere = matches!(location, Location::Everywhere(_));
        if is_memory && is_everywhere && !self.is_stored(point, variable) {
            return Err(ProbeError::NotStored);
        }
        Ok(pieces)
    }

    fn storage(
        &self,
        point: &ProbePoint,
        operations: &[Operation<gimli::EndianSlice<'_, gimli::RunTimeEndian>>],
    ) -> Result<Fetch, ProbeError> {
        match *operations {
            [Operation::Register { register }] => {
                Ok(Fetch::Register(register_name(point.arch, register.0)?))
            }
            [Operation::RegisterOffset { register, offset: 0, .. }, Operation::StackValue] => {
                Ok(Fetch::Register(register_name(point.arch, register.0)?))
            }
            [Operation::UnsignedConstant { value }, Operation::StackValue] => {
                Ok(Fetch::Number(value.into()))
            }
            [Operation::SignedConstant { value }, Operation::StackValue] => {
                Ok(Fetch::Number(value.into()))
            }
            [Operation::RegisterOffset { register, offset, .. }] => {
                point.memory(register.0, offset)
            }
            [
                Operation::RegisterOffset { register, offset: 0, .. },
                ref masks @ ..,
                Operation::StackValue,
            ] => masked(register_name(point.arch, register.0)?, masks),
            // The pointer to an object that the caller owns.
            [ref pointer @ .., Operation::Deref { size: 8, space: false, .. }] => {
                Ok(Fetch::Memory(Box::new(self.storage(point, pointer)?), 0))
            }
            [Operation::FrameOffset { offset }] => {
                let base = match &*self.frame_base {
                    Location::Absent => return Err(Absence::NoFrameBase.into()),
                    base => base.at(point.address)?,
                };
                point.frame(base, offset)
            }
            _ => Err(Absence::Operation("for probes").into()),
        }
    }
}

/// The lowest bits of a register, by constants that a value is combined with.
fn masked(
    register: String,
    masks: &[Operation<gimli::EndianSlice<'_, gimli::RunTimeEndian>>],
) -> Result<Fetch, ProbeError> {
    let mut mask = u64::MAX;
    for pair in masks.chunks(2) {
        match *pair {
            [Operation::UnsignedConstant { value }, Operation::And] => mask &= value,
            _ => return Err(Absence::Operation("for probes").into()),
        }
    }
    let count = mask.trailing_ones();
    if mask == 0 || mask.checked_shr(count).unwrap_or(0) != 0 {
        return Err(Absence::Operation("for probes").into());
    }
    Ok(Fetch::Bits(register, count))
}

impl ProbePoint {
    /// Memory at an offset from the frame base.
    fn frame(&self, base: &Program, offset: i64) -> Result<Fetch, ProbeError> {
        let operations = base.operations().ok_or(Absence::Malformed("frame base"))?;
        match *operations.as_slice() {
            [Operation::CallFrameCFA] => self.memory(self.cfa.0, self.cfa.1.wrapping_add(offset)),
            [Operation::Register { register }] => self.memory(register.0, offset),
            [Operation::RegisterOffset { register, offset: more, .. }] => {
                self.memory(register.0, offset.wrapping_add(more))
            }
            _ => Err(Absence::Operation("frame base for probes").into()),
        }
    }

    /// Memory at an offset from a register. At the entry, nothing below the frame address is stored.
    fn memory(&self, register: u16, offset: i64) -> Result<Fetch, ProbeError> {
        let (cfa_register, cfa_offset) = self.cfa;
        if self.is_entry && register == cfa_register && offset < cfa_offset {
            return Err(ProbeError::NotStored);
        }
        let name = register_name(self.arch, register)?;
        Ok(Fetch::Memory(Box::new(Fetch::Register(name)), offset))
    }
}

/// Returns the kernel's name of a register.
///
/// Sources: `regoffset_table` of the kernel's `arch/x86/kernel/ptrace.c` and `arch/arm64/kernel/ptrace.c`; DWARF
/// numbers of the psABI for x86-64 (figure 3.36) and of DWARF for the Arm 64-bit architecture (section 4.1).
fn register_name(arch: Arch, number: u16) -> Result<String, ProbeError> {
    const X86_64: [&str; 16] = [
        "ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15",
    ];
    let unknown = || match (arch, number) {
        (Arch::X86_64, 17..=32) | (Arch::Aarch64, 64..=95) => ProbeError::FloatingPoint(number),
        _ => ProbeError::Absent(Absence::Register(number)),
    };
    match (arch, number) {
        (Arch::X86_64, _) => {
            X86_64.get(usize::from(number)).map(|&name| name.to_owned()).ok_or_else(unknown)
        }
        (Arch::Aarch64, 0..=30) => Ok(format!("x{number}")),
        (Arch::Aarch64, 31) => Ok("sp".to_owned()),
        (Arch::Aarch64, _) => Err(unknown()),
        _ => Err(ProbeError::Arch),
    }
}
