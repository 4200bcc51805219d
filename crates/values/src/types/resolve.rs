//! Types of the debug information to shapes.

use std::sync::Arc;

use gimli::{Reader, constants as c};

use super::enums;
use super::fields::{dimensions, size_of, stripped};
use super::names::type_name;
use super::shape::{Elements, Shape};
use super::text;
use crate::dwarf::{self, DieKey, Entry, Sources};
use crate::error::Error;

/// Maximum nesting of shapes: references, elements, fields of variants.
const MAX_DEPTH: u32 = 8;

/// Reads the shape of a type. Types without a decoder are [`Shape::Unsupported`].
///
/// Source: DWARF 5, chapter 5.
pub(super) fn shape<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
    depth: u32,
) -> Result<Shape, Error> {
    let unsupported = || -> Result<Shape, Error> {
        let name = type_name(sources, key)?.into();
        Ok(Shape::Unsupported { name, size: size_of(sources, key)?.unwrap_or(0) })
    };
    let Some(entry) = stripped(sources, key)? else { return unsupported() };
    if depth > MAX_DEPTH || dwarf::flag(&entry.die, c::DW_AT_declaration) {
        return unsupported();
    }
    let target = entry.reference(sources, c::DW_AT_type);
    let found = match entry.tag() {
        c::DW_TAG_base_type => base(&entry),
        c::DW_TAG_pointer_type => Some(pointer(sources, &entry, target, depth)?),
        c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
            Some(reference(sources, &entry, target, depth)?)
        }
        c::DW_TAG_enumeration_type => enums::enumeration(sources, &entry)?,
        c::DW_TAG_array_type => array(sources, &entry, target, depth)?,
        c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
            match enums::variants(sources, &entry, depth)? {
                Some(shape) => Some(shape),
                None => text::known(sources, &entry, depth)?,
            }
        }
        _ => None,
    };
    found.map_or_else(unsupported, Ok)
}

fn base<R: Reader<Offset = usize>>(entry: &Entry<'_, R>) -> Option<Shape> {
    let size = dwarf::unsigned(&entry.die, c::DW_AT_byte_size)?;
    let is_plain = entry.die.attr_value(c::DW_AT_endianity).is_none()
        && dwarf::unsigned(&entry.die, c::DW_AT_bit_size)
            .is_none_or(|bits| Some(bits) == size.checked_mul(8));
    let gimli::AttributeValue::Encoding(encoding) = entry.die.attr_value(c::DW_AT_encoding)? else {
        return None;
    };
    let shape = match encoding {
        c::DW_ATE_boolean => Shape::Bool(size),
        c::DW_ATE_signed | c::DW_ATE_signed_char => Shape::Integer { size, is_signed: true },
        c::DW_ATE_unsigned | c::DW_ATE_unsigned_char => Shape::Integer { size, is_signed: false },
        c::DW_ATE_UTF => Shape::Char(size),
        c::DW_ATE_float if matches!(size, 4 | 8) => Shape::Float(size),
        c::DW_ATE_address => Shape::Pointer(size),
        _ => return None,
    };
    (is_plain && (1..=16).contains(&size)).then_some(shape)
}

fn pointer_size<R: Reader<Offset = usize>>(entry: &Entry<'_, R>) -> u64 {
    let size = dwarf::unsigned(&entry.die, c::DW_AT_byte_size);
    size.filter(|size| (1..=8).contains(size))
        .unwrap_or_else(|| entry.unit.unit.encoding().address_size.into())
}

/// Returns true if a type is `char` of C, of which texts are made.
pub(super) fn is_char<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
) -> Result<bool, Error> {
    let Some(entry) = stripped(sources, key)? else { return Ok(false) };
    let is_byte = dwarf::unsigned(&entry.die, c::DW_AT_byte_size) == Some(1);
    let name = dwarf::name(&entry.unit, &entry.die, c::DW_AT_name);
    let is_char = matches!(name.as_deref(), Some("char" | "char8_t"));
    Ok(entry.tag() == c::DW_TAG_base_type && is_byte && is_char)
}

fn pointer<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
    target: Option<DieKey>,
    depth: u32,
) -> Result<Shape, Error> {
    if is_char(sources, target)? {
        return Ok(Shape::TextPointer(pointer_size(entry)));
    }
    // References of Rust are pointers by tag, and references by name.
    let name = dwarf::name(&entry.unit, &entry.die, c::DW_AT_name);
    if name.is_some_and(|name| name.starts_with('&')) {
        return reference(sources, entry, target, depth);
    }
    Ok(Shape::Pointer(pointer_size(entry)))
}

fn reference<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
    target: Option<DieKey>,
    depth: u32,
) -> Result<Shape, Error> {
    let target = Arc::new(shape(sources, target, depth + 1)?);
    Ok(Shape::Reference { size: pointer_size(entry), target })
}

fn array<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
    element: Option<DieKey>,
    depth: u32,
) -> Result<Option<Shape>, Error> {
    let counts = dimensions(sources, entry)?;
    let counts: Option<Vec<u64>> = counts.into_iter().collect();
    let (Some(counts), None) = (counts, entry.die.attr_value(c::DW_AT_byte_stride)) else {
        return Ok(None);
    };
    let Some((&last, outer)) = counts.split_last() else { return Ok(None) };
    let mut inner = if is_char(sources, element)? {
        Shape::TextArray(last)
    } else {
        let Some(stride) = size_of(sources, element)? else { return Ok(None) };
        let shape = Arc::new(shape(sources, element, depth + 1)?);
        Shape::Array(Elements { shape, stride }, last)
    };
    for &count in outer.iter().rev() {
        let Some(stride) = inner.size() else { return Ok(None) };
        inner = Shape::Array(Elements { shape: Arc::new(inner), stride }, count);
    }
    Ok(Some(inner))
}
