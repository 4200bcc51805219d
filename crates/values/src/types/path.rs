//! Paths of requests, resolved against types.

use gimli::{Reader, constants as c};

use super::fields::{dimensions, field, size_of, stripped};
use super::names::type_name;
use super::resolve::shape;
use super::shape::{Shape, Step};
use crate::dwarf::{self, DieKey, Entry, Sources};
use crate::error::Error;
use crate::request::PathStep;

/// A path whose fields have offsets.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// Steps from the variable to the value.
    pub(crate) steps: Vec<Step>,
    /// Shape of the value.
    pub(crate) shape: Shape,
    /// Name of the value's type.
    pub(crate) type_name: String,
    /// Size of the variable in bytes.
    pub(crate) width: Option<u64>,
}

/// Resolves a path from a variable of a type.
///
/// # Errors
/// [`Error::UnknownField`] and [`Error::Path`] for steps that do not fit; damaged entries and spent budgets.
pub(crate) fn bind<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    variable: Option<DieKey>,
    path: &[PathStep],
) -> Result<Bound, Error> {
    let mut binding = Binding { sources, at: variable, steps: Vec::new(), is_bits: false };
    for step in path {
        binding.step(step)?;
    }
    let Binding { at, steps, .. } = binding;
    sources.meter().hold(256 + steps.len() * size_of_val(&Step::Offset(0)))?;
    Ok(Bound {
        steps,
        shape: shape(sources, at, 0)?,
        type_name: type_name(sources, at)?,
        width: size_of(sources, variable)?,
    })
}

struct Binding<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    /// Type of the value so far.
    at: Option<DieKey>,
    steps: Vec<Step>,
    is_bits: bool,
}

impl<'a, R: Reader<Offset = usize>> Binding<'a, '_, R> {
    fn misfit(&self, step: &str) -> Error {
        let of = type_name(self.sources, self.at).unwrap_or_default();
        Error::Path { of, step: step.to_owned() }
    }

    fn step(&mut self, step: &PathStep) -> Result<(), Error> {
        let text = match step {
            PathStep::Field(name) => format!(".{name}"),
            PathStep::Index(index) => format!("[{index}]"),
            PathStep::Deref => "*".to_owned(),
        };
        let entry = stripped(self.sources, self.at)?.filter(|_| !self.is_bits);
        let Some(entry) = entry else { return Err(self.misfit(&text)) };
        match step {
            PathStep::Deref if is_pointer(&entry) => self.deref(&entry),
            PathStep::Deref => return Err(self.misfit(&text)),
            PathStep::Index(index) => return self.index(&entry, *index, &text),
            PathStep::Field(name) => return self.field(entry, name, &text),
        }
        Ok(())
    }

    fn deref(&mut self, pointer: &Entry<'a, R>) {
        let size = dwarf::unsigned(&pointer.die, c::DW_AT_byte_size);
        let size = size.filter(|size| (1..=8).contains(size));
        let size = size.unwrap_or_else(|| pointer.unit.unit.encoding().address_size.into());
        self.steps.push(Step::Deref(size));
        self.at = pointer.reference(self.sources, c::DW_AT_type);
    }

    fn field(&mut self, entry: Entry<'a, R>, name: &str, text: &str) -> Result<(), Error> {
        let mut entry = entry;
        for _ in 0..4 {
            if !is_pointer(&entry) {
                break;
            }
            self.deref(&entry);
            entry = stripped(self.sources, self.at)?.ok_or_else(|| self.misfit(text))?;
        }
        if !matches!(
            entry.tag(),
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type
        ) {
            return Err(self.misfit(text));
        }
        let found = field(self.sources, &entry, name)?;
        let found = found.map_err(|existing| Error::UnknownField {
            of: type_name(self.sources, self.at).unwrap_or_default(),
            name: name.to_owned(),
            existing,
        })?;
        match (found.bits, found.offset) {
            (Some((first, count)), _) => {
                self.is_bits = true;
                self.steps.push(Step::Bits { first, count });
            }
            (None, Some(offset)) => self.steps.push(Step::Offset(offset)),
            (None, None) => return Err(self.misfit(text)),
        }
        self.at = found.type_key;
        Ok(())
    }

    fn index(&mut self, entry: &Entry<'a, R>, index: u64, text: &str) -> Result<(), Error> {
        let element = entry.reference(self.sources, c::DW_AT_type);
        if is_pointer(entry) {
            let size = size_of(self.sources, element)?.ok_or_else(|| self.misfit(text))?;
            self.deref(entry);
            let offset = size.checked_mul(index).ok_or_else(|| self.misfit(text))?;
            self.steps.push(Step::Offset(offset));
            return Ok(());
        }
        if entry.tag() == c::DW_TAG_array_type {
            let counts = dimensions(self.sources, entry)?;
            let size = size_of(self.sources, element)?;
            let ([Some(count)], Some(size)) = (counts.as_slice(), size) else {
                return Err(self.misfit(text));
            };
            if index >= *count {
                return Err(self.misfit(text));
            }
            self.steps.push(Step::Offset(size.saturating_mul(index)));
            self.at = element;
            return Ok(());
        }
        if let Shape::Span(span) = shape(self.sources, self.at, 0)?
            && let Some(elements) = &span.elements
        {
            let key = self.element_type(entry)?.ok_or_else(|| self.misfit(text))?;
            let (pointer, length, stride) = (span.pointer, span.length, elements.stride);
            self.steps.push(Step::Element { pointer, length, index, stride });
            self.at = Some(key);
            return Ok(());
        }
        Err(self.misfit(text))
    }

    /// Type of the elements of a slice or vector.
    fn element_type(&self, slice: &Entry<'a, R>) -> Result<Option<DieKey>, Error> {
        for name in ["data_ptr", "array"] {
            let Ok(pointer) = field(self.sources, slice, name)? else { continue };
            let pointer = stripped(self.sources, pointer.type_key)?;
            return Ok(pointer.and_then(|it| it.reference(self.sources, c::DW_AT_type)));
        }
        let mut found = None;
        slice.children(self.sources, |child| {
            if child.tag() == c::DW_TAG_template_type_parameter && found.is_none() {
                found = child.reference(self.sources, c::DW_AT_type);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn is_pointer<R: Reader<Offset = usize>>(entry: &Entry<'_, R>) -> bool {
    matches!(
        entry.tag(),
        c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type
    )
}
