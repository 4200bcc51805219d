//! Fields of structures, and the type behind names and qualifiers.

use gimli::{AttributeValue, Reader, Section as _, constants as c};

use crate::dwarf::{self, DieKey, Entry, Sources};
use crate::error::Error;

/// Maximum length of a chain of typedefs and qualifiers.
const MAX_CHAIN: usize = 32;
/// Maximum nesting of base classes and anonymous members.
const MAX_NESTING: u32 = 8;

/// A field of a structure, class or union.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Name; empty for anonymous members and base classes.
    pub(super) name: String,
    /// Its type.
    pub(super) type_key: Option<DieKey>,
    /// Offset in bytes; `None` if it is computed (virtual bases).
    pub(super) offset: Option<u64>,
    /// First bit from the start of the object, and number of bits, of a bit field.
    pub(super) bits: Option<(u64, u64)>,
    /// True for a base class.
    pub(super) is_base: bool,
}

/// Returns the entry of a type without typedefs and qualifiers; `None` for `void`.
///
/// Source: DWARF 5, sections 5.3 and 5.4.
pub(super) fn stripped<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
) -> Result<Option<Entry<'a, R>>, Error> {
    let mut key = key;
    for _ in 0..MAX_CHAIN {
        let Some(at) = key else { return Ok(None) };
        let entry = sources.entry(at)?;
        match entry.tag() {
            c::DW_TAG_typedef
            | c::DW_TAG_const_type
            | c::DW_TAG_volatile_type
            | c::DW_TAG_restrict_type
            | c::DW_TAG_atomic_type
            | c::DW_TAG_immutable_type
            | c::DW_TAG_template_alias => key = entry.reference(sources, c::DW_AT_type),
            // A declaration of a type that has a unit of its own.
            _ if entry.die.has_attr(c::DW_AT_signature) => {
                match entry.reference(sources, c::DW_AT_signature) {
                    Some(definition) if definition != at => key = Some(definition),
                    _ => return Ok(Some(entry)),
                }
            }
            _ => return Ok(Some(entry)),
        }
    }
    Err(gimli::Error::MissingUnitDie.into())
}

/// Returns the size of a type in bytes.
pub(super) fn size_of<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
) -> Result<Option<u64>, Error> {
    let (mut key, mut count) = (key, Some(1_u64));
    for _ in 0..MAX_CHAIN {
        let Some(entry) = stripped(sources, key)? else { return Ok(None) };
        if let Some(size) = dwarf::unsigned(&entry.die, c::DW_AT_byte_size) {
            return Ok(count.and_then(|count| count.checked_mul(size)));
        }
        match entry.tag() {
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
                let size = u64::from(entry.unit.unit.encoding().address_size);
                return Ok(count.and_then(|count| count.checked_mul(size)));
            }
            c::DW_TAG_array_type => {
                for dimension in dimensions(sources, &entry)? {
                    count = count.zip(dimension).and_then(|(count, by)| count.checked_mul(by));
                }
                key = entry.reference(sources, c::DW_AT_type);
            }
            c::DW_TAG_enumeration_type => key = entry.reference(sources, c::DW_AT_type),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Returns the number of elements of each dimension of an array; `None` if it is not constant.
///
/// Source: DWARF 5, sections 5.5 and 5.13.
pub(super) fn dimensions<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    array: &Entry<'a, R>,
) -> Result<Vec<Option<u64>>, Error> {
    let mut counts = Vec::new();
    array.children(sources, |child| {
        if child.tag() == c::DW_TAG_subrange_type && counts.len() < MAX_CHAIN {
            let die = &child.die;
            let lower = dwarf::unsigned(die, c::DW_AT_lower_bound).unwrap_or(0);
            let upper = match die.attr_value(c::DW_AT_upper_bound) {
                // The upper bound of an array without elements is -1.
                Some(AttributeValue::Sdata(-1)) => Some(0),
                Some(value) => {
                    value.udata_value().and_then(|it| (it.checked_add(1)?).checked_sub(lower))
                }
                None => None,
            };
            counts.push(dwarf::unsigned(die, c::DW_AT_count).or(upper));
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Returns the fields of a structure in order, base classes among them.
///
/// Source: DWARF 5, section 5.7; bit fields of DWARF 3 as well.
pub(super) fn fields<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    structure: &Entry<'a, R>,
) -> Result<Vec<Field>, Error> {
    let mut fields = Vec::new();
    structure.children(sources, |child| {
        let is_base = child.tag() == c::DW_TAG_inheritance;
        let die = &child.die;
        let is_static =
            dwarf::flag(die, c::DW_AT_external) || dwarf::flag(die, c::DW_AT_declaration);
        if !is_base && (child.tag() != c::DW_TAG_member || is_static) {
            return Ok(());
        }
        let name = if is_base { None } else { dwarf::name(&child.unit, die, c::DW_AT_name) };
        let name = name.unwrap_or_default();
        sources.meter().hold(size_of_val(&name) + name.len() + 64)?;
        let offset = offset(&child);
        let type_key = child.reference(sources, c::DW_AT_type);
        let bits = bit_range(sources, &child, type_key, offset)?;
        fields.push(Field { name, type_key, offset, bits, is_base });
        Ok(())
    })?;
    Ok(fields)
}

fn offset<R: Reader<Offset = usize>>(member: &Entry<'_, R>) -> Option<u64> {
    match member.die.attr_value(c::DW_AT_data_member_location) {
        None => Some(0),
        Some(AttributeValue::Exprloc(expression)) => {
            let mut operations = expression.operations(member.unit.unit.encoding());
            let (first, rest) = (operations.next().ok()??, operations.next().ok()?);
            match (first, rest) {
                (gimli::Operation::PlusConstant { value }, None) => Some(value),
                _ => None,
            }
        }
        Some(value) => value.udata_value(),
    }
}

/// Returns the first bit and the number of bits of a bit field.
fn bit_range<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    member: &Entry<'a, R>,
    type_key: Option<DieKey>,
    offset: Option<u64>,
) -> Result<Option<(u64, u64)>, Error> {
    let die = &member.die;
    let Some(count) = dwarf::unsigned(die, c::DW_AT_bit_size) else { return Ok(None) };
    if let Some(first) = dwarf::unsigned(die, c::DW_AT_data_bit_offset) {
        return Ok(Some((first, count)));
    }
    let (Some(offset), Some(above)) = (offset, dwarf::unsigned(die, c::DW_AT_bit_offset)) else {
        return Ok(offset.map(|offset| (offset.saturating_mul(8), count)));
    };
    let size = match dwarf::unsigned(die, c::DW_AT_byte_size) {
        Some(size) => Some(size),
        None => size_of(sources, type_key)?,
    };
    // Counted from the highest bit of the storage unit.
    let start = offset.saturating_mul(8);
    let is_big = gimli::Endianity::is_big_endian(member.unit.dwarf.debug_info.reader().endian());
    let below = |size: u64| size.saturating_mul(8).checked_sub(above)?.checked_sub(count);
    let inside = if is_big { Some(above) } else { size.and_then(below) };
    Ok(inside.map(|inside| (start.saturating_add(inside), count)))
}

/// Returns a field by name, also of anonymous members and base classes, with offsets from `structure`.
pub(super) fn field<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    structure: &Entry<'a, R>,
    name: &str,
) -> Result<Result<Field, Vec<String>>, Error> {
    let mut names = Vec::new();
    // As in C++, a field hides those of base classes further away.
    for level in 0..=MAX_NESTING {
        let before = names.len();
        if let Some(found) = search(sources, structure, name, &mut names, level)? {
            return Ok(Ok(found));
        }
        if level > 0 && names.len() == before {
            break;
        }
    }
    Ok(Err(names.into_iter().filter(|it| !it.is_empty()).collect()))
}

/// Returns a field of base classes and anonymous members `level` steps away; adds the names there to `names`.
fn search<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    structure: &Entry<'a, R>,
    name: &str,
    names: &mut Vec<String>,
    level: u32,
) -> Result<Option<Field>, Error> {
    let all = fields(sources, structure)?;
    let Some(inner_level) = level.checked_sub(1) else {
        names.extend(all.iter().map(|it| it.name.clone()));
        return Ok(all.into_iter().find(|field| !field.is_base && field.name == name));
    };
    for inner in all.iter().filter(|it| it.name.is_empty()) {
        let Some(entry) = stripped(sources, inner.type_key)? else { continue };
        let Some(found) = search(sources, &entry, name, names, inner_level)? else { continue };
        let offset = inner.offset.zip(found.offset).and_then(|(a, b)| a.checked_add(b));
        let shifted = |(first, count): (u64, u64)| {
            inner.offset.map(|by| (by.saturating_mul(8).saturating_add(first), count))
        };
        let bits = found.bits.and_then(shifted);
        return Ok(Some(Field { offset, bits, ..found }));
    }
    Ok(None)
}
