//! Strings, views and slices of the standard libraries, recognized by their fields.

use std::sync::Arc;

use gimli::{Reader, constants as c};

use super::fields::{Field, fields, size_of, stripped};
use super::resolve::{is_char, shape};
use super::shape::{Elements, Number, Shape, Span};
use crate::dwarf::{self, DieKey, Entry, Sources};
use crate::error::Error;

/// Maximum nesting of fields around a pointer.
const MAX_NESTING: u32 = 8;

/// Returns the shape of a structure that is a string, a view or a slice.
///
/// Sources: headers `bits/basic_string.h` and `string_view` of libstdc++, `string` of libc++; `alloc::string` and
/// `alloc::raw_vec` of Rust; `reflect.StringHeader` and `reflect.SliceHeader` of Go.
pub(super) fn known<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
    depth: u32,
) -> Result<Option<Shape>, Error> {
    let Some(name) = dwarf::name(&entry.unit, &entry.die, c::DW_AT_name) else { return Ok(None) };
    let Some(size) = dwarf::unsigned(&entry.die, c::DW_AT_byte_size) else { return Ok(None) };
    let all = fields(sources, entry)?;
    let has = |name: &str| all.iter().find(|field| field.name == name);
    let found = if let (Some(pointer), Some(length)) = (has("data_ptr"), has("length")) {
        let is_text = name.ends_with("str") || name.ends_with("str>");
        Some((pointer, length, is_text))
    } else if let (Some(pointer), Some(length), "string") = (has("str"), has("len"), &*name) {
        Some((pointer, length, true))
    } else if let (Some(pointer), Some(length), Some(_)) = (has("array"), has("len"), has("cap")) {
        Some((pointer, length, false))
    } else if let (Some(pointer), Some(length)) = (has("_M_str"), has("_M_len")) {
        Some((pointer, length, true))
    } else if let (true, Some(pointer), Some(length)) = (
        name.starts_with("basic_string_view<"),
        has("__data_").or_else(|| has("__data")),
        has("__size_").or_else(|| has("__size")),
    ) {
        Some((pointer, length, true))
    } else {
        None
    };
    if let Some((pointer, length, is_text)) = found {
        return span(sources, size, pointer, length, is_text, depth);
    }
    if let (Some(data), Some(length)) = (has("_M_dataplus"), has("_M_string_length")) {
        return cxx_string(sources, size, data, length);
    }
    if let (true, Some(vector)) = (name == "String", has("vec")) {
        return rust_vector(sources, size, vector.offset, vector.type_key, true, depth);
    }
    if name.starts_with("Vec<") && has("buf").is_some() && has("len").is_some() {
        return rust_vector(sources, size, Some(0), Some(entry.key), false, depth);
    }
    if name.starts_with("basic_string<char") && size == 24 && is_libcxx(sources, entry)? {
        return Ok(Some(Shape::LibcxxString));
    }
    Ok(None)
}

fn number<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    field: &Field,
    base: u64,
) -> Result<Option<Number>, Error> {
    let size = size_of(sources, field.type_key)?;
    let offset = field.offset.and_then(|it| it.checked_add(base));
    let both =
        offset.zip(size).filter(|&(_, size)| (1..=8).contains(&size) && field.bits.is_none());
    Ok(both.map(|(offset, size)| Number { offset, size }))
}

fn span<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    size: u64,
    pointer: &Field,
    length: &Field,
    is_text: bool,
    depth: u32,
) -> Result<Option<Shape>, Error> {
    let Some(target) = stripped(sources, pointer.type_key)? else { return Ok(None) };
    if target.tag() != c::DW_TAG_pointer_type {
        return Ok(None);
    }
    let element = target.reference(sources, c::DW_AT_type);
    if is_text && size_of(sources, element)? != Some(1) {
        // Of wide characters.
        return Ok(None);
    }
    let elements = if is_text { None } else { elements(sources, element, depth)? };
    let numbers = number(sources, pointer, 0)?.zip(number(sources, length, 0)?);
    let Some((pointer, length)) = numbers.filter(|_| is_text || elements.is_some()) else {
        return Ok(None);
    };
    Ok(Some(Shape::Span(Span { size, pointer, length, elements, is_terminated: false })))
}

fn elements<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    element: Option<DieKey>,
    depth: u32,
) -> Result<Option<Elements>, Error> {
    let Some(stride) = size_of(sources, element)? else { return Ok(None) };
    Ok(Some(Elements { shape: Arc::new(shape(sources, element, depth + 1)?), stride }))
}

/// A string of libstdc++: the pointer leads to the heap or into the object.
fn cxx_string<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    size: u64,
    data: &Field,
    length: &Field,
) -> Result<Option<Shape>, Error> {
    let (Some(holder), Some(base)) = (stripped(sources, data.type_key)?, data.offset) else {
        return Ok(None);
    };
    let all = fields(sources, &holder)?;
    let Some(pointer) = all.iter().find(|field| field.name == "_M_p") else { return Ok(None) };
    let Some(target) = stripped(sources, pointer.type_key)? else { return Ok(None) };
    if !is_char(sources, target.reference(sources, c::DW_AT_type))? {
        return Ok(None);
    }
    let numbers = number(sources, pointer, base)?.zip(number(sources, length, 0)?);
    Ok(numbers.map(|(pointer, length)| {
        Shape::Span(Span { size, pointer, length, elements: None, is_terminated: true })
    }))
}

/// A `Vec<T>`, or the one inside of a `String`.
fn rust_vector<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    size: u64,
    base: Option<u64>,
    vector: Option<DieKey>,
    is_text: bool,
    depth: u32,
) -> Result<Option<Shape>, Error> {
    let (Some(base), Some(vector)) = (base, stripped(sources, vector)?) else { return Ok(None) };
    let all = fields(sources, &vector)?;
    let has = |name: &str| all.iter().find(|field| field.name == name);
    let (Some(buffer), Some(length)) = (has("buf"), has("len")) else { return Ok(None) };
    let inside = base.saturating_add(buffer.offset.unwrap_or(0));
    let Some(pointer) = first_pointer(sources, buffer.type_key, inside, 0)? else {
        return Ok(None);
    };
    let mut element = None;
    vector.children(sources, |child| {
        let is_parameter = child.tag() == c::DW_TAG_template_type_parameter;
        if is_parameter
            && dwarf::name(&child.unit, &child.die, c::DW_AT_name).as_deref() == Some("T")
        {
            element = child.reference(sources, c::DW_AT_type);
        }
        Ok(())
    })?;
    let elements = if is_text { None } else { elements(sources, element, depth)? };
    let Some(length) = number(sources, length, base)? else { return Ok(None) };
    let shape = Shape::Span(Span { size, pointer, length, elements, is_terminated: false });
    Ok(matches!(&shape, Shape::Span(span) if is_text || span.elements.is_some()).then_some(shape))
}

/// Returns the first pointer inside of nested structures.
fn first_pointer<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
    base: u64,
    nesting: u32,
) -> Result<Option<Number>, Error> {
    let Some(entry) = stripped(sources, key)? else { return Ok(None) };
    if entry.tag() == c::DW_TAG_pointer_type {
        let size = size_of(sources, key)?.filter(|size| (1..=8).contains(size));
        return Ok(size.map(|size| Number { offset: base, size }));
    }
    if entry.tag() != c::DW_TAG_structure_type || nesting > MAX_NESTING {
        return Ok(None);
    }
    for field in fields(sources, &entry)? {
        let offset = base.saturating_add(field.offset.unwrap_or(0));
        if let Some(found) = first_pointer(sources, field.type_key, offset, nesting + 1)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns true if the class has the usual layout of libc++: capacity, size and pointer, or 23 bytes after a size.
fn is_libcxx<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    class: &Entry<'a, R>,
) -> Result<bool, Error> {
    let (mut is_long, mut is_short) = (false, false);
    class.children(sources, |child| {
        if child.tag() != c::DW_TAG_structure_type {
            return Ok(());
        }
        let name = dwarf::name(&child.unit, &child.die, c::DW_AT_name);
        let data = fields(sources, &child)?.into_iter().find(|field| field.name == "__data_");
        let size = fields(sources, &child)?.into_iter().find(|field| field.name == "__size_");
        match name.as_deref() {
            Some("__long") => {
                let offsets = data.zip(size).map(|(data, size)| (data.offset, size.offset));
                is_long = offsets == Some((Some(16), Some(8)));
            }
            Some("__short") => is_short = data.is_some_and(|data| data.offset == Some(1)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(is_long && is_short)
}
