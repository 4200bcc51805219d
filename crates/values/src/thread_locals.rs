//! Thread-local variables of an image by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use budget::Meter;
use gimli::{DwTag, Operation, Reader, constants as c};

use crate::absence::Absence;
use crate::dwarf::{self, DieKey, Entry, Sources, Walk};
use crate::error::Error;
use crate::expr::{Compiler, Context, Frame, Identity, Location, compile_attribute};
use crate::request::Request;
use crate::thread_context::{self, Part};
use crate::types::{Bound, Value, bind};

/// A requested thread-local variable, or a part of it.
#[derive(Clone, Debug)]
pub struct ThreadLocal {
    pub(crate) request: u32,
    part: VariablePart,
    location: Arc<Location>,
}

/// The part of a variable that is read.
#[derive(Clone, Debug)]
enum VariablePart {
    /// By its type.
    Typed(Arc<Bound>),
    /// Of the record that it points to.
    Context(Part),
}

impl ThreadLocal {
    /// Index of the request.
    #[must_use]
    pub const fn request(&self) -> usize {
        self.request as usize
    }

    /// Reads the value. Of the frame, only [`Frame::read`] and [`Frame::thread_local`] are used.
    ///
    /// # Errors
    /// The reason why the value is not there.
    pub fn value(&self, thread: &dyn Frame, meter: &Meter) -> Result<Value, Absence> {
        let context = Context {
            frame: thread,
            address: 0,
            frame_base: &Location::Absent,
            function: &Identity::default(),
            meter,
            nesting: 0,
        };
        match &self.part {
            VariablePart::Typed(bound) => bound.value(&self.location, &context),
            VariablePart::Context(part) => {
                part.value(&context.locate(&self.location, Some(8))?, &context)
            }
        }
    }
}

/// Finds a thread-local variable outside of functions. A file with several of the name is refused.
pub(crate) fn find<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    index: u32,
    request: &Request,
) -> Result<Result<ThreadLocal, Error>, Error> {
    let wanted = &request.path.variable;
    let mut found = named(sources, wanted)?;
    let count = found.len();
    let (Some((type_key, location)), 1) = (found.pop(), count) else {
        return Ok(Err(Error::ThreadLocal { name: wanted.clone(), count }));
    };
    let part = if wanted == thread_context::VARIABLE {
        Part::of(&request.path.steps).map(VariablePart::Context).ok_or_else(|| {
            let existing = Part::NAMES.map(str::to_owned).to_vec();
            Error::UnknownField { of: wanted.clone(), name: request.path.to_string(), existing }
        })
    } else {
        match bind(sources, type_key, &request.path.steps) {
            Err(error @ Error::Exhausted(_)) => return Err(error),
            bound => bound.map(|bound| VariablePart::Typed(Arc::new(bound))),
        }
    };
    Ok(part.map(|part| ThreadLocal { request: index, part, location: Arc::new(location) }))
}

/// Returns type and location of the thread-local variables with a name, plain or qualified.
///
/// Source: DWARF 5, section 2.5.1.3.
fn named<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    wanted: &str,
) -> Result<Vec<(Option<DieKey>, Location)>, Error> {
    let mut found: Vec<(Option<DieKey>, Location)> = Vec::new();
    for unit in 0..sources.len() {
        let Some(unit) = undamaged(sources.unit(unit))? else { continue };
        // Namespaces and classes around the entry: depth and name.
        let mut scopes: Vec<(isize, String)> = Vec::new();
        // Names around declarations, which definitions outside of their namespace or class complete.
        let mut declared: BTreeMap<DieKey, String> = BTreeMap::new();
        let read = Walk::new(sources, unit).run(None, may_declare, |unit, die| {
            while scopes.last().is_some_and(|&(depth, _)| depth >= die.depth()) {
                scopes.pop();
            }
            match die.tag() {
                c::DW_TAG_variable | c::DW_TAG_member => {}
                c::DW_TAG_compile_unit | c::DW_TAG_partial_unit => return Ok(true),
                _ => {
                    let name = dwarf::name(unit, die, c::DW_AT_name).unwrap_or_default();
                    scopes.push((die.depth(), name));
                    return Ok(true);
                }
            }
            let around = scopes.iter().map(|(_, name)| name.as_str());
            let around = around.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("::");
            if !die.has_attr(c::DW_AT_location) {
                let name = dwarf::name(unit, die, c::DW_AT_name);
                if name.is_some_and(|name| wanted.ends_with(&name)) {
                    sources.meter().hold(64 + around.len())?;
                    declared.insert(unit.key(die.offset()), around);
                }
                return Ok(false);
            }
            let entry = Entry { unit: unit.clone(), die: die.clone(), key: unit.key(die.offset()) };
            let location = compile_attribute(&Compiler::new(sources, &entry.unit), &entry.die)?;
            if is_thread_local(&location) {
                let origins = entry.origins(sources)?;
                let name =
                    origins.iter().find_map(|it| dwarf::name(&it.unit, &it.die, c::DW_AT_name));
                let mut declaration = origins.iter().filter_map(|it| declared.get(&it.key));
                let around = declaration.next().unwrap_or(&around);
                if name.is_some_and(|name| is_name(wanted, around, &name)) {
                    sources.meter().hold(size_of::<ThreadLocal>())?;
                    let of = |it: &Entry<'a, R>| it.reference(sources, c::DW_AT_type);
                    found.push((origins.iter().find_map(of), location));
                }
            }
            Ok(false)
        });
        undamaged(read)?;
    }
    Ok(found)
}

/// Returns true if an entry is a variable, or variables may be below it.
const fn may_declare(tag: DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_variable
            | c::DW_TAG_member
            | c::DW_TAG_namespace
            | c::DW_TAG_module
            | c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_compile_unit
            | c::DW_TAG_partial_unit
    )
}

/// Returns true if a location is in the block of a thread.
fn is_thread_local(location: &Location) -> bool {
    let Location::Everywhere(program) = location else { return false };
    let operations = program.operations().unwrap_or_default();
    operations.iter().any(|it| matches!(it, Operation::TLS))
}

/// Returns true if a name, plain or qualified, is that of a variable in namespaces and classes.
fn is_name(wanted: &str, around: &str, name: &str) -> bool {
    let Some(scope) = wanted.strip_suffix(name) else { return false };
    let Some(scope) = scope.strip_suffix("::") else { return scope.is_empty() };
    around == scope || around.strip_suffix(scope).is_some_and(|it| it.ends_with("::"))
}

/// Returns the result of a unit; `None` if it is damaged.
fn undamaged<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Dwarf(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
