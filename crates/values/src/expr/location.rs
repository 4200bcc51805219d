//! Locations: an expression, a list of expressions by address, or a constant.

use std::ops::Range;
use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, Reader, constants as c};

use super::program::{Compiler, Program};
use crate::absence::Absence;
use crate::dwarf::{LoadedUnit, Sources};
use crate::error::Error;

/// Location of a variable, or of a function's frame base.
#[derive(Clone, Debug, Default)]
pub(crate) enum Location {
    /// None is stated.
    #[default]
    Absent,
    /// Equal at all addresses of the variable's block.
    Everywhere(Arc<Program>),
    /// By address of the image (SVMA); the first range that contains it counts.
    List(Vec<(Range<u64>, Arc<Program>)>),
    /// A constant number, of the width of the type.
    Number(i128),
    /// A constant as bytes.
    Bytes(Box<[u8]>),
    /// Damaged.
    Damaged,
}

impl Location {
    /// Returns the expression for an address of the image (SVMA).
    pub(crate) fn at(&self, address: u64) -> Result<&Arc<Program>, Absence> {
        match self {
            Self::Everywhere(program) => Ok(program),
            Self::List(entries) => {
                let entry = entries.iter().find(|(range, _)| range.contains(&address));
                let program = entry.map(|(_, program)| program);
                program.filter(|it| !it.is_empty()).ok_or(Absence::OptimizedOut)
            }
            Self::Damaged => Err(Absence::Malformed("location")),
            Self::Absent | Self::Number(_) | Self::Bytes(_) => Err(Absence::OptimizedOut),
        }
    }

    /// Number of bytes of some ranges that have a location. The ranges must be sorted and disjoint.
    pub(crate) fn available(&self, ranges: &[Range<u64>]) -> u64 {
        let list = match self {
            Self::Absent | Self::Damaged => return 0,
            Self::Everywhere(_) | Self::Number(_) | Self::Bytes(_) => {
                return ranges.iter().map(|it| it.end - it.start).fold(0, u64::saturating_add);
            }
            Self::List(list) => list,
        };
        let mut covered: Vec<&Range<u64>> = list
            .iter()
            .filter(|(_, program)| !program.is_empty())
            .map(|(range, _)| range)
            .collect();
        covered.sort_by_key(|range| range.start);
        let mut sum = 0_u64;
        for range in ranges {
            let mut from = range.start;
            for part in &covered {
                let (start, end) = (part.start.max(from), part.end.min(range.end));
                if start < end {
                    sum = sum.saturating_add(end - start);
                    from = end;
                }
            }
        }
        sum
    }

    /// All expressions.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        let (one, list) = match self {
            Self::Everywhere(program) => (Some(program), [].as_slice()),
            Self::List(entries) => (None, entries.as_slice()),
            _ => (None, [].as_slice()),
        };
        one.into_iter().chain(list.iter().map(|(_, program)| program))
    }

    /// Returns true if an expression needs a value at entry.
    pub(crate) fn needs_entry(&self) -> bool {
        self.programs().any(|program| program.needs_entry())
    }
}

/// Compiles the location or the constant of a variable.
///
/// Source: DWARF 5, sections 2.6 and 4.1.
pub(crate) fn compile_attribute<'a, 's, R: Reader<Offset = usize>>(
    compiler: &Compiler<'a, 's, R>,
    die: &DebuggingInformationEntry<R>,
) -> Result<Location, Error> {
    if let Some(value) = die.attr_value(c::DW_AT_location) {
        return compiler.location(value);
    }
    match die.attr_value(c::DW_AT_const_value) {
        Some(AttributeValue::Sdata(value)) => Ok(Location::Number(value.into())),
        Some(AttributeValue::Block(bytes)) => {
            compiler.sources.meter().hold(bytes.len())?;
            Ok(Location::Bytes(bytes.to_slice()?.into()))
        }
        Some(AttributeValue::String(text)) => {
            compiler.sources.meter().hold(text.len())?;
            let mut bytes = text.to_slice()?.into_owned();
            bytes.push(0);
            Ok(Location::Bytes(bytes.into()))
        }
        Some(value) => match value.udata_value() {
            Some(value) => Ok(Location::Number(value.into())),
            None => string(compiler, value),
        },
        None => Ok(Location::Absent),
    }
}

/// A constant as a string of a string section.
fn string<R: Reader<Offset = usize>>(
    compiler: &Compiler<'_, '_, R>,
    value: AttributeValue<R>,
) -> Result<Location, Error> {
    let unit: &LoadedUnit<'_, R> = compiler.unit;
    let Ok(text) = unit.dwarf.attr_string(&unit.unit, value) else { return Ok(Location::Damaged) };
    compiler.sources.meter().hold(text.len())?;
    let mut bytes = text.to_slice()?.into_owned();
    bytes.push(0);
    Ok(Location::Bytes(bytes.into()))
}

impl<'a, R: Reader<Offset = usize>> Compiler<'a, '_, R> {
    /// Compiles a location: an expression or a list. Views of a list are not used: a sample has none.
    ///
    /// Source: DWARF 5, section 2.6.2; `.debug_loc` of DWARF 4, section 2.6.2.
    pub(crate) fn location(&self, value: AttributeValue<R>) -> Result<Location, Error> {
        if let AttributeValue::Exprloc(expression) = value {
            // An empty expression means that the object is not there.
            let is_empty = expression.0.is_empty();
            return if is_empty {
                Ok(Location::Absent)
            } else {
                self.program(&expression).map(Location::Everywhere)
            };
        }
        let sources: &Sources<'a, R> = self.sources;
        let list = self.unit.dwarf.attr_locations(&self.unit.unit, value);
        let Ok(Some(mut list)) = list else { return Ok(Location::Damaged) };
        let (mut entries, mut rest) = (Vec::new(), Vec::new());
        loop {
            sources.meter().steps(1)?;
            let Ok(next) = list.next() else { return Ok(Location::Damaged) };
            let Some(entry) = next else { break };
            sources.meter().hold(32)?;
            let range = entry.range.begin..entry.range.end;
            let program = self.program(&entry.data)?;
            // The default location is for addresses that no other entry has.
            if range == (0..u64::MAX) { &mut rest } else { &mut entries }.push((range, program));
        }
        entries.append(&mut rest);
        Ok(Location::List(entries))
    }
}
