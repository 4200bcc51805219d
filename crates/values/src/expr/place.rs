//! Places of objects: memory, registers, values, and pieces of them.

use std::sync::Arc;

use budget::Meter;
use gimli::{Endianity, RunTimeEndian};

use super::evaluate::Context;
use super::frame::Frame;
use super::location::Location;
use crate::absence::Absence;

/// Maximum number of bytes of a text.
pub(crate) const TEXT_BYTES: usize = 256;
/// Maximum number of bytes that are read at once.
const MAX_READ: u64 = 1 << 16;

/// Storage of a piece.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Optimized out.
    Missing,
    /// A register, by its DWARF number.
    Register(u16),
    /// Memory of the process.
    Memory(u64),
    /// A value of that many bytes.
    Value {
        /// The bits.
        value: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// A constant.
    Number(i128),
    /// Bytes in the order of memory.
    Bytes(Vec<u8>),
    /// A pointer to an object without address.
    Object {
        /// Location of the object, if it is known.
        location: Option<Arc<Location>>,
        /// Offset in the object, in bytes.
        offset: i64,
    },
}

/// A piece of an object.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Storage.
    pub(crate) part: Part,
    /// Bits of the object that are stored here; `None` for all.
    pub(crate) bits: Option<u64>,
    /// Bits of the storage before those of the object.
    pub(crate) skip_bits: u64,
}

/// Pieces of an object, in order; usually one.
#[derive(Clone, Debug)]
enum Pieces {
    One(Piece),
    Several(Vec<Piece>),
}

impl Pieces {
    fn as_slice(&self) -> &[Piece] {
        match self {
            Self::One(piece) => std::slice::from_ref(piece),
            Self::Several(pieces) => pieces,
        }
    }
}

/// Place of an object.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pieces: Pieces,
    /// Size of the object, in bytes, if it is known.
    width: Option<u64>,
    /// Offset of this place in the object, in bytes.
    base: u64,
    is_big_endian: bool,
}

/// The object behind a pointer.
pub(crate) enum Pointee {
    /// Memory of the process.
    Memory(u64),
    /// An object without address.
    Object(Place),
}

impl Place {
    /// Creates a place.
    pub(crate) fn new(pieces: Vec<Piece>, width: Option<u64>, endian: RunTimeEndian) -> Self {
        let pieces = Pieces::Several(pieces);
        Self { pieces, width, base: 0, is_big_endian: endian.is_big_endian() }
    }

    /// Creates a place of one piece.
    pub(crate) fn of_part(part: Part, width: Option<u64>, endian: RunTimeEndian) -> Self {
        let pieces = Pieces::One(Piece { part, bits: None, skip_bits: 0 });
        Self { pieces, width, base: 0, is_big_endian: endian.is_big_endian() }
    }

    fn one(part: Part, width: Option<u64>) -> Self {
        Self::of_part(part, width, RunTimeEndian::Little)
    }

    /// Memory of the process.
    pub(crate) fn memory(address: u64, is_big_endian: bool) -> Self {
        Self { is_big_endian, ..Self::one(Part::Memory(address), None) }
    }

    /// A constant of `width` bytes.
    pub(crate) fn number(number: i128, width: Option<u64>) -> Self {
        Self::one(Part::Number(number), width)
    }

    /// A constant in the order of memory.
    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self::one(Part::Bytes(bytes), None)
    }

    /// Sets the byte order.
    pub(crate) const fn with_order(mut self, is_big_endian: bool) -> Self {
        self.is_big_endian = is_big_endian;
        self
    }

    /// Returns the place of a part, `offset` bytes further.
    pub(crate) fn at(&self, offset: u64) -> Self {
        Self { base: self.base.wrapping_add(offset), ..self.clone() }
    }

    /// Address of the object, if it is in memory.
    pub(crate) fn address(&self) -> Option<u64> {
        match self.pieces.as_slice() {
            [Piece { part: Part::Memory(address), bits: None, .. }] => {
                Some(address.wrapping_add(self.base))
            }
            _ => None,
        }
    }

    /// Reads bytes of the object, in the order of memory.
    pub(crate) fn read(
        &self,
        offset: u64,
        size: u64,
        context: &Context<'_>,
    ) -> Result<Vec<u8>, Absence> {
        if size > MAX_READ {
            return Err(Absence::Length(size));
        }
        let mut bytes = vec![0; size as usize];
        self.read_into(offset, &mut bytes, context)?;
        Ok(bytes)
    }

    /// Fills bytes with those of the object, in the order of memory.
    fn read_into(
        &self,
        offset: u64,
        bytes: &mut [u8],
        context: &Context<'_>,
    ) -> Result<(), Absence> {
        let size = bytes.len() as u64;
        context.meter.steps(1 + size / 8)?;
        let offset = self.base.wrapping_add(offset);
        let pieces = self.pieces.as_slice();
        if let [Piece { part, bits: None, skip_bits: 0 }] = pieces {
            return self.read_part(part, offset, bytes, self.width, context);
        }
        let end = offset.checked_add(size).ok_or(Absence::Length(size))?;
        let (mut start, mut rest) = (0_u64, bytes);
        for piece in pieces {
            context.meter.steps(1)?;
            let bits = piece.bits.ok_or(Absence::Malformed("piece"))?;
            if bits % 8 != 0 || piece.skip_bits % 8 != 0 {
                return Err(Absence::Operation("bit_piece"));
            }
            let piece_end = start.saturating_add(bits / 8);
            let (from, to) = (offset.max(start), end.min(piece_end));
            if from < to {
                let skip = piece.skip_bits / 8;
                let inside = (from - start).saturating_add(skip);
                let width = (bits / 8).saturating_add(skip);
                let taken = rest.split_off_mut(..(to - from) as usize);
                let taken = taken.ok_or(Absence::Malformed("piece"))?;
                self.read_part(&piece.part, inside, taken, Some(width), context)?;
            }
            start = piece_end;
        }
        if rest.is_empty() { Ok(()) } else { Err(Absence::OptimizedOut) }
    }

    /// Reads bytes of a piece that is `width` bytes wide.
    fn read_part(
        &self,
        part: &Part,
        offset: u64,
        bytes: &mut [u8],
        width: Option<u64>,
        context: &Context<'_>,
    ) -> Result<(), Absence> {
        let size = bytes.len() as u64;
        let end = offset.checked_add(size).ok_or(Absence::Length(size))?;
        let width = width.unwrap_or(end).max(end);
        match part {
            Part::Missing => Err(Absence::OptimizedOut),
            Part::Memory(address) => {
                let address = address.wrapping_add(offset);
                read_memory(context.frame, address, bytes, context.meter)
            }
            Part::Register(number) => {
                if width > 8 {
                    return Err(Absence::RegisterWidth(*number));
                }
                let value = context.frame.register(*number).ok_or(Absence::Register(*number))?;
                self.low_bytes(value.into(), width, offset, bytes);
                Ok(())
            }
            Part::Value { value, bytes: stated } => {
                if width > *stated {
                    return Err(Absence::Operation("value that is narrower than its type"));
                }
                self.low_bytes((*value).into(), width, offset, bytes);
                Ok(())
            }
            Part::Number(number) if width <= 16 => {
                self.low_bytes(number.cast_unsigned(), width, offset, bytes);
                Ok(())
            }
            Part::Number(_) => Err(Absence::Length(width)),
            Part::Bytes(stated) => {
                let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
                let inside = range.and_then(|(start, end)| stated.get(start..end));
                bytes.copy_from_slice(inside.ok_or(Absence::Malformed("constant"))?);
                Ok(())
            }
            Part::Object { .. } => Err(Absence::NoAddress),
        }
    }

    /// Fills bytes with a part of a number of `width` bytes, in the order of memory.
    fn low_bytes(&self, value: u128, width: u64, offset: u64, bytes: &mut [u8]) {
        for (at, byte) in (offset..).zip(bytes) {
            let at = if self.is_big_endian { width - 1 - at } else { at };
            *byte = (value >> (8 * at).min(127)) as u8;
        }
    }

    /// Reads a number of at most 16 bytes.
    pub(crate) fn unsigned(
        &self,
        offset: u64,
        size: u64,
        context: &Context<'_>,
    ) -> Result<u128, Absence> {
        let mut number = [0; 16];
        let bytes = number.get_mut(..size as usize).ok_or(Absence::Length(size))?;
        self.read_into(offset, bytes, context)?;
        if !self.is_big_endian {
            return Ok(u128::from_le_bytes(number));
        }
        Ok(bytes.iter().fold(0, |value, &byte| value << 8 | u128::from(byte)))
    }

    /// Reads a number of the bits of a bit field. `bit` counts from the first byte of the object.
    pub(crate) fn bits(&self, bit: u64, bits: u64, context: &Context<'_>) -> Result<u128, Absence> {
        let (first, skip) = (bit / 8, bit % 8);
        let size = (skip + bits).div_ceil(8);
        if bits == 0 || bits > 64 {
            return Err(Absence::Length(bits));
        }
        let value = self.unsigned(first, size, context)?;
        let below = if self.is_big_endian { 8 * size - skip - bits } else { skip };
        Ok(value >> below & ((1 << bits) - 1))
    }

    /// Follows a pointer of `size` bytes.
    pub(crate) fn pointee(
        &self,
        offset: u64,
        size: u64,
        context: &Context<'_>,
    ) -> Result<Pointee, Absence> {
        let at = self.base.wrapping_add(offset);
        let mut start = 0_u64;
        for piece in self.pieces.as_slice() {
            context.meter.steps(1)?;
            let end = start.saturating_add(piece.bits.map_or(u64::MAX, |bits| bits / 8));
            if let (true, Part::Object { location, offset }) =
                ((start..end).contains(&at), &piece.part)
            {
                let location = location.as_ref().ok_or(Absence::NoAddress)?;
                let nesting = context.nesting + 1;
                if nesting > 8 {
                    return Err(Absence::Malformed("nesting of locations"));
                }
                let place = Context { nesting, ..*context }.locate(location, None)?;
                if self.is_big_endian && place.address().is_none() {
                    return Err(Absence::NoAddress);
                }
                let place = place.with_order(self.is_big_endian);
                return Ok(Pointee::Object(place.at(offset.cast_unsigned())));
            }
            start = end;
        }
        let address = self.unsigned(offset, size, context)?;
        u64::try_from(address).map(Pointee::Memory).map_err(|_| Absence::Length(size))
    }

    /// Byte order of the object.
    pub(crate) const fn is_big_endian(&self) -> bool {
        self.is_big_endian
    }

    /// Reads at most `most` bytes; fewer if the memory after them is unknown.
    pub(crate) fn read_some(&self, most: usize, context: &Context<'_>) -> Result<Vec<u8>, Absence> {
        if let Some(address) = self.address() {
            context.meter.steps(1 + most as u64 / 8)?;
            let mut bytes = vec![0; most.min(MAX_READ as usize)];
            let known = context.frame.read(address, &mut bytes);
            bytes.truncate(known);
            return if bytes.is_empty() && most > 0 {
                Err(Absence::Memory(address))
            } else {
                Ok(bytes)
            };
        }
        let mut size = most as u64;
        while size > 0 {
            match self.read(0, size, context) {
                Ok(bytes) => return Ok(bytes),
                Err(Absence::Budget) => return Err(Absence::Budget),
                Err(error) if size == 1 => return Err(error),
                Err(_) => size -= 1,
            }
        }
        Ok(Vec::new())
    }
}

/// Fills bytes with memory of the process; all of it must be known.
pub(crate) fn read_memory(
    frame: &dyn Frame,
    address: u64,
    bytes: &mut [u8],
    meter: &Meter,
) -> Result<(), Absence> {
    meter.steps(1 + bytes.len() as u64 / 8)?;
    let known = frame.read(address, bytes);
    if known >= bytes.len() {
        Ok(())
    } else {
        Err(Absence::Memory(address.wrapping_add(known as u64)))
    }
}
