//! Arguments of uprobes: values at a function's entry, in the notation of the kernel.

use std::fmt;

use address::Arch;
use gimli::{Operation, Reader};

use crate::absence::Absence;
use crate::dwarf::Sources;
use crate::error::Error;
use crate::expr::{Location, Program};
use crate::functions::{Instance, Variable};
use crate::request::Path;
use crate::types::{Bound, Shape, Step, bind};

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

/// A value that a probe fetches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeArgument {
    /// Name of the field: the path with `_` between its parts.
    pub name: String,
    /// Location, such as `%di` or `+0(+16(%di))`.
    pub fetch: String,
    /// Type, such as `u32`, `s64` or `string`.
    pub kind: String,
}

/// The reason why a probe cannot fetch a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// The path does not fit the function.
    Path(Error),
    /// The value is not there, or no probe can fetch it.
    Absent(Absence),
    /// The function stores the value after this instruction.
    NotStored,
    /// No code of its own at the address.
    NoFunction,
    /// No names of registers for the processor.
    Arch,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => write!(f, "{error}"),
            Self::Absent(absence) => write!(f, "{absence}"),
            Self::NotStored => f.write_str("the function stores it after this instruction"),
            Self::NoFunction => f.write_str("the address is not of the function's own code"),
            Self::Arch => f.write_str("probes of this processor are not supported"),
        }
    }
}

impl std::error::Error for ProbeError {}

impl From<Absence> for ProbeError {
    fn from(absence: Absence) -> Self {
        Self::Absent(absence)
    }
}

impl fmt::Display for ProbeArgument {
    /// Formats the argument: `size=%di:u32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}:{}", self.name, self.fetch, self.kind)
    }
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

/// Storage, as a probe reaches it.
#[derive(Clone, Debug)]
enum Fetch {
    Register(String),
    Memory(Box<Self>, i64),
}

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(name) => write!(f, "%{name}"),
            Self::Memory(base, offset) => write!(f, "{offset:+}({base})"),
        }
    }
}

impl Instance {
    /// Returns the argument of a probe for each path, in order, or the reason why there is none.
    ///
    /// Source: kernel documentation, `trace/uprobetracer.rst`.
    pub fn probe_arguments<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
        point: &ProbePoint,
        paths: &[Path],
    ) -> Vec<Result<ProbeArgument, ProbeError>> {
        paths.iter().map(|path| self.probe_argument(sources, point, path)).collect()
    }

    fn probe_argument<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
        point: &ProbePoint,
        path: &Path,
    ) -> Result<ProbeArgument, ProbeError> {
        let is_inside = self.ranges.iter().any(|range| range.contains(&point.address));
        if self.inlined_into.is_some() || !is_inside {
            return Err(ProbeError::NoFunction);
        }
        let in_scope = |it: &&Variable| {
            it.name == path.variable
                && (it.scope.is_empty()
                    || it.scope.iter().any(|range| range.contains(&point.address)))
        };
        let variable = self.variables.iter().filter(in_scope).max_by_key(|it| it.depth);
        let variable = variable.ok_or_else(|| {
            ProbeError::Path(Error::UnknownVariable {
                function: self.name.to_string(),
                name: path.variable.clone(),
                existing: self.variables().into_iter().map(str::to_owned).collect(),
            })
        })?;
        let bound = bind(sources, variable.type_key, &path.steps).map_err(ProbeError::Path)?;
        let start = self.located(point, &variable.location)?;
        let (fetch, kind) = fetched(start, &bound)?;
        let name = path.to_string().replace(|c: char| !c.is_alphanumeric() && c != '_', "_");
        let name = name.trim_matches('_').to_owned();
        Ok(ProbeArgument { name, fetch: fetch.to_string(), kind })
    }

    /// Returns the pieces of a variable: the storage, with the offset in the variable.
    fn located(
        &self,
        point: &ProbePoint,
        location: &Location,
    ) -> Result<Vec<(u64, Fetch)>, ProbeError> {
        if let Location::Number(_) | Location::Bytes(_) = location {
            return Err(Absence::Operation("constant").into());
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
            [Operation::RegisterOffset { register, offset, .. }] => {
                point.memory(register.0, offset)
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

    /// Memory at an offset from a register. At the entry, only that of the caller holds parameters.
    fn memory(&self, register: u16, offset: i64) -> Result<Fetch, ProbeError> {
        let (cfa_register, cfa_offset) = self.cfa;
        if self.is_entry && (register != cfa_register || offset < cfa_offset) {
            return Err(ProbeError::NotStored);
        }
        let name = register_name(self.arch, register)?;
        Ok(Fetch::Memory(Box::new(Fetch::Register(name)), offset))
    }
}

/// Follows the steps of a path, and returns the storage with the type.
fn fetched(pieces: Vec<(u64, Fetch)>, bound: &Bound) -> Result<(Fetch, String), ProbeError> {
    let mut at = At { pieces, offset: 0 };
    for step in &bound.steps {
        match *step {
            Step::Offset(offset) => at.offset = at.offset.saturating_add(offset),
            Step::Deref(_) => {
                at = At { pieces: vec![(0, Fetch::Memory(Box::new(at.whole()?), 0))], offset: 0 }
            }
            Step::Element { .. } => return Err(Absence::Operation("element of a slice").into()),
            Step::Bits { first, count } => {
                let size = (first % 8 + count).next_power_of_two().clamp(8, 64);
                at.offset = at.offset.saturating_add(first / 8);
                return Ok((at.whole()?, format!("b{count}@{}/{size}", first % 8)));
            }
        }
    }
    let fetch = at.whole()?;
    typed(&bound.shape, fetch)
}

fn typed(shape: &Shape, fetch: Fetch) -> Result<(Fetch, String), ProbeError> {
    let behind = |fetch: Fetch| Fetch::Memory(Box::new(fetch), 0);
    let unsupported = |name: &str| Err(ProbeError::Absent(Absence::Type(name.into())));
    let kind = match shape {
        Shape::Integer { size: size @ (1 | 2 | 4 | 8), is_signed } => {
            format!("{}{}", if *is_signed { 's' } else { 'u' }, 8 * size)
        }
        Shape::Bool(size @ (1 | 2 | 4)) | Shape::Char(size @ (1 | 2 | 4)) => {
            format!("u{}", 8 * size)
        }
        Shape::Enum(it) if matches!(it.size, 1 | 2 | 4 | 8) => {
            format!("{}{}", if it.is_signed { 's' } else { 'u' }, 8 * it.size)
        }
        Shape::Pointer(size @ (4 | 8)) => format!("x{}", 8 * size),
        Shape::TextPointer(_) => return Ok((behind(fetch), "string".to_owned())),
        Shape::TextArray(_) => match fetch {
            Fetch::Memory(..) => "string".to_owned(),
            Fetch::Register(_) => return unsupported("characters in a register"),
        },
        Shape::Span(span) if span.is_terminated => match fetch {
            Fetch::Memory(base, offset) => {
                let inside = offset.saturating_add_unsigned(span.pointer.offset);
                return Ok((behind(Fetch::Memory(base, inside)), "string".to_owned()));
            }
            Fetch::Register(_) => return unsupported("string in a register"),
        },
        Shape::Reference { size: size @ (4 | 8), target }
            if matches!(**target, Shape::Unsupported { .. }) =>
        {
            format!("x{}", 8 * size)
        }
        Shape::Reference { target, .. } => return typed(target, behind(fetch)),
        Shape::Unsupported { name, .. } => return unsupported(name),
        _ => return unsupported("without a type of probes"),
    };
    Ok((fetch, kind))
}

/// A part of a variable.
struct At {
    pieces: Vec<(u64, Fetch)>,
    offset: u64,
}

impl At {
    /// Storage that starts at the offset.
    fn whole(self) -> Result<Fetch, ProbeError> {
        let piece = self.pieces.into_iter().rev().find(|(start, _)| *start <= self.offset);
        let (start, fetch) = piece.ok_or(Absence::OptimizedOut)?;
        match (self.offset - start, fetch) {
            (0, fetch) => Ok(fetch),
            (inside, Fetch::Memory(base, offset)) => {
                Ok(Fetch::Memory(base, offset.saturating_add_unsigned(inside)))
            }
            (_, Fetch::Register(_)) => Err(Absence::Operation("upper part of a register").into()),
        }
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
    let unknown = || ProbeError::Absent(Absence::Register(number));
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
