//! Decoding of a place as a value of a shape.

use super::enums::sign_extended;
use super::path::Bound;
use super::shape::{Elements, Enumeration, Shape, Span, Step, Variants};
use super::value::Value;
use crate::absence::Absence;
use crate::expr::{Context, Location, Place, Pointee, TEXT_BYTES};

/// Maximum number of elements of a list.
const MAX_ITEMS: u64 = 64;
/// Longest text or slice that is believed: no process has more memory.
const MAX_LENGTH: u128 = 1 << 47;

impl Bound {
    /// Reads the value for a variable at a location.
    pub(crate) fn value(
        &self,
        location: &Location,
        context: &Context<'_>,
    ) -> Result<Value, Absence> {
        if let Shape::Unsupported { name, .. } = &self.shape {
            return Err(Absence::Type(name.clone()));
        }
        let mut place = context.locate(location, self.width)?;
        for step in &self.steps {
            place = match *step {
                Step::Offset(offset) => place.at(offset),
                Step::Deref(size) => behind(&place, 0, size, context)?,
                Step::Element { pointer, length, index, stride } => {
                    let length = place.unsigned(length.offset, length.size, context)?;
                    if u128::from(index) >= length || length > MAX_LENGTH {
                        return Err(Absence::Length(index));
                    }
                    let start = behind(&place, pointer.offset, pointer.size, context)?;
                    start.at(index.saturating_mul(stride))
                }
                Step::Bits { first, count } => {
                    return bit_field(
                        &self.shape,
                        place.bits(first, count, context)?,
                        count as u32,
                    );
                }
            };
        }
        decode(&self.shape, &place, context)
    }
}

/// Returns the place behind a pointer inside of a place.
fn behind(place: &Place, offset: u64, size: u64, context: &Context<'_>) -> Result<Place, Absence> {
    match place.pointee(offset, size, context)? {
        Pointee::Memory(address) => Ok(Place::memory(address, place.is_big_endian())),
        Pointee::Object(object) => Ok(object),
    }
}

fn bit_field(shape: &Shape, value: u128, bits: u32) -> Result<Value, Absence> {
    match shape {
        Shape::Integer { is_signed, .. } => Ok(integer(value, bits, *is_signed)),
        Shape::Bool(_) => Ok(Value::Bool(value != 0)),
        Shape::Enum(enumeration) => Ok(enumerator(enumeration, value, bits)),
        _ => Err(Absence::Type("bit field".into())),
    }
}

fn integer(value: u128, bits: u32, is_signed: bool) -> Value {
    let width = bits as u16;
    if is_signed {
        Value::Signed { number: sign_extended(value, bits), bits: width }
    } else {
        Value::Unsigned { number: value, bits: width }
    }
}

fn enumerator(enumeration: &Enumeration, value: u128, bits: u32) -> Value {
    let is_signed = enumeration.is_signed;
    let number = if is_signed { sign_extended(value, bits) } else { value.cast_signed() };
    let at = enumeration.names.partition_point(|&(other, _)| other < number);
    match enumeration.names.get(at) {
        Some((other, name)) if *other == number => Value::Enumerator { name: name.clone(), number },
        _ => integer(value, bits, is_signed),
    }
}

/// Decodes a place.
fn decode(shape: &Shape, place: &Place, context: &Context<'_>) -> Result<Value, Absence> {
    let unsigned = |size: u64| place.unsigned(0, size, context);
    match shape {
        Shape::Integer { size, is_signed } => {
            Ok(integer(unsigned(*size)?, 8 * *size as u32, *is_signed))
        }
        Shape::Bool(size) => Ok(Value::Bool(unsigned(*size)? != 0)),
        Shape::Char(size) => {
            let number = unsigned(*size)?;
            let character = u32::try_from(number).ok().and_then(char::from_u32);
            // A byte or a half of UTF-16 is a character only if it needs no other.
            let character = character.filter(|it| *size != 1 || it.is_ascii());
            Ok(character.map_or_else(|| integer(number, 8 * *size as u32, false), Value::Char))
        }
        Shape::Float(4) => {
            let number = f32::from_bits(unsigned(4)? as u32);
            Ok(Value::Float { number: number.into(), bits: 32 })
        }
        Shape::Float(_) => {
            Ok(Value::Float { number: f64::from_bits(unsigned(8)? as u64), bits: 64 })
        }
        Shape::Enum(enumeration) => {
            let value = unsigned(enumeration.size)?;
            Ok(enumerator(enumeration, value, 8 * enumeration.size as u32))
        }
        Shape::Pointer(size) => match place.pointee(0, *size, context)? {
            Pointee::Memory(address) => Ok(Value::Address(address)),
            Pointee::Object(_) => Err(Absence::NoAddress),
        },
        Shape::TextPointer(size) => text_pointer(place, *size, context),
        Shape::TextArray(size) => {
            let bytes = place.read_some((*size).min(TEXT_BYTES as u64) as usize, context)?;
            Ok(text(bytes, *size))
        }
        Shape::Reference { size, target } => reference(place, *size, target, context),
        Shape::Span(span) => decode_span(span, place, context),
        Shape::LibcxxString => libcxx(place, context),
        Shape::Array(elements, count) => list(elements, place, *count, context),
        Shape::Variants(variants) => decode_variant(variants, place, context),
        Shape::Unsupported { name, .. } => Err(Absence::Type(name.clone())),
    }
}

/// Ends a text at its first zero. `whole` is the size of its memory.
fn text(mut bytes: Vec<u8>, whole: u64) -> Value {
    let end = bytes.iter().position(|&byte| byte == 0);
    let cut = end.is_none() && (bytes.len() as u64) < whole;
    bytes.truncate(end.unwrap_or(bytes.len()));
    Value::Text { bytes, cut }
}

fn text_pointer(place: &Place, size: u64, context: &Context<'_>) -> Result<Value, Absence> {
    match place.pointee(0, size, context)? {
        Pointee::Memory(0) => Ok(Value::Address(0)),
        Pointee::Memory(address) => {
            match Place::memory(address, place.is_big_endian()).read_some(TEXT_BYTES, context) {
                Ok(bytes) => Ok(text(bytes, u64::MAX)),
                Err(Absence::Budget) => Err(Absence::Budget),
                Err(reason) => Ok(Value::Unread { address, reason }),
            }
        }
        Pointee::Object(object) => Ok(text(object.read_some(TEXT_BYTES, context)?, u64::MAX)),
    }
}

fn reference(
    place: &Place,
    size: u64,
    target: &Shape,
    context: &Context<'_>,
) -> Result<Value, Absence> {
    match place.pointee(0, size, context)? {
        Pointee::Object(object) => decode(target, &object, context),
        Pointee::Memory(address) if matches!(target, Shape::Unsupported { .. }) => {
            Ok(Value::Address(address))
        }
        Pointee::Memory(address) => {
            match decode(target, &Place::memory(address, place.is_big_endian()), context) {
                Ok(value) => Ok(value),
                Err(Absence::Budget) => Err(Absence::Budget),
                Err(reason) => Ok(Value::Unread { address, reason }),
            }
        }
    }
}

fn decode_span(span: &Span, place: &Place, context: &Context<'_>) -> Result<Value, Absence> {
    let length = place.unsigned(span.length.offset, span.length.size, context)?;
    if length > MAX_LENGTH {
        return Err(Absence::Length(length as u64));
    }
    let length = length as u64;
    if length == 0 {
        return Ok(match &span.elements {
            None => Value::Text { bytes: Vec::new(), cut: false },
            Some(_) => Value::List { items: Vec::new(), length },
        });
    }
    let start = behind(place, span.pointer.offset, span.pointer.size, context)?;
    let read = match &span.elements {
        None => start.read_some(length.min(TEXT_BYTES as u64) as usize, context).map(|bytes| {
            let cut = (bytes.len() as u64) < length;
            Value::Text { bytes, cut }
        }),
        Some(elements) => list(elements, &start, length, context),
    };
    match (read, start.address()) {
        (Err(reason @ Absence::Memory(_)), Some(address)) => Ok(Value::Unread { address, reason }),
        (read, _) => read,
    }
}

/// Decodes the first elements; those after unknown memory are left out.
fn list(
    elements: &Elements,
    place: &Place,
    length: u64,
    context: &Context<'_>,
) -> Result<Value, Absence> {
    let is_scalar = matches!(
        *elements.shape,
        Shape::Integer { .. }
            | Shape::Bool(_)
            | Shape::Char(_)
            | Shape::Float(_)
            | Shape::Enum(_)
            | Shape::Pointer(_)
    );
    let mut items = Vec::new();
    for index in 0..length.min(if is_scalar { MAX_ITEMS } else { 0 }) {
        match decode(&elements.shape, &place.at(index.saturating_mul(elements.stride)), context) {
            Ok(item) => items.push(item),
            Err(reason) if items.is_empty() => return Err(reason),
            Err(Absence::Memory(_)) => break,
            Err(reason) => return Err(reason),
        }
    }
    Ok(Value::List { items, length })
}

/// A string of libc++: the lowest bit of the first byte is set if the text is on the heap.
fn libcxx(place: &Place, context: &Context<'_>) -> Result<Value, Absence> {
    if place.is_big_endian() {
        return Err(Absence::Type("std::string".into()));
    }
    let head = place.unsigned(0, 1, context)?;
    if head & 1 == 0 {
        let bytes = place.read(1, head as u64 / 2, context)?;
        return if bytes.len() < 23 {
            Ok(Value::Text { bytes, cut: false })
        } else {
            Err(Absence::Length(head as u64 / 2))
        };
    }
    let number = |offset| super::shape::Number { offset, size: 8 };
    let span = Span {
        size: 24,
        pointer: number(16),
        length: number(8),
        elements: None,
        is_terminated: true,
    };
    decode_span(&span, place, context)
}

fn decode_variant(
    variants: &Variants,
    place: &Place,
    context: &Context<'_>,
) -> Result<Value, Absence> {
    let number = match variants.selector {
        Some(selector) => Some(place.unsigned(selector.offset, selector.size, context)?),
        None => None,
    };
    let all = &variants.variants;
    let exact = all.iter().find(|it| number.is_some() && it.number == number);
    let found = exact.or_else(|| all.iter().find(|it| it.number.is_none()));
    let found = found.ok_or(Absence::Malformed("variant"))?;
    let field = match &found.field {
        Some((offset, shape)) => Some(Box::new(decode(shape, &place.at(*offset), context)?)),
        None => None,
    };
    Ok(Value::Variant { name: found.name.clone(), field })
}
