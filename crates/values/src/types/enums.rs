//! Enumerations, and enums of Rust by their variants.

use std::sync::Arc;

use gimli::{Reader, constants as c};

use super::fields::{fields, size_of, stripped};
use super::resolve::shape;
use super::shape::{Enumeration, Number, Shape, Variant, Variants};
use crate::dwarf::{self, Entry, Sources};
use crate::error::Error;

/// Reads an enumeration: of C, a class of C++, or one of Rust without fields.
///
/// Source: DWARF 5, section 5.8.
pub(super) fn enumeration<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
) -> Result<Option<Shape>, Error> {
    let underlying = entry.reference(sources, c::DW_AT_type);
    let size = match dwarf::unsigned(&entry.die, c::DW_AT_byte_size) {
        Some(size) => Some(size),
        None => size_of(sources, underlying)?,
    };
    let Some(size) = size.filter(|size| (1..=8).contains(size)) else { return Ok(None) };
    let underlying = underlying.map(|key| shape(sources, Some(key), 8)).transpose()?;
    let mut names = Vec::<(i128, Arc<str>)>::new();
    entry.children(sources, |child| {
        let name = dwarf::name(&child.unit, &child.die, c::DW_AT_name);
        let number = dwarf::signed(&child.die, c::DW_AT_const_value);
        if let (c::DW_TAG_enumerator, Some(name), Some(number)) = (child.tag(), name, number) {
            sources.meter().hold(64 + name.len())?;
            names.push((number, name.into()));
        }
        Ok(())
    })?;
    // Without a type, the numbers say whether there is a sign.
    let is_signed = match underlying {
        Some(Shape::Integer { is_signed, .. }) => is_signed,
        _ => names.iter().any(|&(number, _)| number < 0),
    };
    let bits = 8 * size;
    // Forms of few bytes state numbers without sign: 255 is -1 in a signed byte.
    let reduced = |number: i128| {
        let low = number.cast_unsigned() & ((1 << bits) - 1);
        if is_signed { sign_extended(low, bits as u32) } else { low.cast_signed() }
    };
    for (number, _) in &mut names {
        *number = reduced(*number);
    }
    // The first of equal numbers counts.
    names.sort_by_key(|&(number, _)| number);
    Ok(Some(Shape::Enum(Arc::new(Enumeration { size, is_signed, names }))))
}

/// Extends the sign of a number of `bits` bits, 1 to 128.
pub(super) const fn sign_extended(value: u128, bits: u32) -> i128 {
    let unused = 128 - bits;
    (value << unused).cast_signed() >> unused
}

/// Reads an enum with fields, as rustc describes it. `None` for other structures.
///
/// Source: DWARF 5, section 5.7.10.
pub(super) fn variants<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    structure: &Entry<'a, R>,
    depth: u32,
) -> Result<Option<Shape>, Error> {
    let mut part = None;
    structure.children(sources, |child| {
        if child.tag() == c::DW_TAG_variant_part {
            part = Some(child);
        }
        Ok(())
    })?;
    let Some(part) = part else { return Ok(None) };
    let Some(size) = dwarf::unsigned(&structure.die, c::DW_AT_byte_size) else { return Ok(None) };
    let selector = match part.reference(sources, c::DW_AT_discr) {
        None => None,
        Some(key) => {
            let member = sources.entry(key)?;
            let offset = dwarf::unsigned(&member.die, c::DW_AT_data_member_location).unwrap_or(0);
            let size = size_of(sources, member.reference(sources, c::DW_AT_type))?;
            let Some(size @ 1..=16) = size else { return Ok(None) };
            Some(Number { offset, size })
        }
    };
    let mut variants = Vec::new();
    let mut is_complete = true;
    part.children(sources, |child| {
        if child.tag() == c::DW_TAG_variant {
            // Lists of numbers are not read: a variant would be missed.
            is_complete &= child.die.attr_value(c::DW_AT_discr_list).is_none();
            match variant(sources, &child, selector, depth)? {
                Some(variant) => variants.push(variant),
                None => is_complete = false,
            }
        }
        Ok(())
    })?;
    let is_complete =
        is_complete && !variants.is_empty() && (selector.is_some() || variants.len() == 1);
    Ok(is_complete.then(|| Shape::Variants(Arc::new(Variants { size, selector, variants }))))
}

fn variant<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
    selector: Option<Number>,
    depth: u32,
) -> Result<Option<Variant>, Error> {
    let number = match entry.die.attr_value(c::DW_AT_discr_value) {
        None => None,
        Some(_) => {
            let Some(number) = dwarf::signed(&entry.die, c::DW_AT_discr_value) else {
                return Ok(None);
            };
            let bits = selector.map_or(128, |it| 8 * it.size);
            Some(number.cast_unsigned() << (128 - bits) >> (128 - bits))
        }
    };
    let all = fields(sources, entry)?;
    let Some(member) = all.first() else { return Ok(None) };
    let mut field = None;
    if let (Some(payload), Some(offset)) = (stripped(sources, member.type_key)?, member.offset) {
        let inner = fields(sources, &payload)?;
        if let [only] = inner.as_slice()
            && let (Some(inside), None) = (only.offset, only.bits)
        {
            let shape = shape(sources, only.type_key, depth + 1)?;
            let is_decoded = !matches!(shape, Shape::Unsupported { .. });
            field = is_decoded.then_some((offset.saturating_add(inside), shape));
        }
    }
    sources.meter().hold(128)?;
    Ok(Some(Variant { number, name: member.name.as_str().into(), field }))
}
