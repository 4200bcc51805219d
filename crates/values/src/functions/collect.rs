//! Instances of the functions that a search has named.

use std::rc::Rc;
use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, DwTag, Reader, constants as c};

use super::find::{Named, NamedEntry, undamaged};
use super::pattern::Pattern;
use super::prologue::{is_stored_late, prologue};
use super::variables::variables;
use super::{Instance, Variable};
use crate::dwarf::{self, DieKey, Entry, Sources, Walk};
use crate::error::Error;
use crate::expr::{Compiler, Identity, Location};
use crate::types::type_name;

/// Finds the code of named functions: out of line and inlined, with their variables.
///
/// Source: DWARF 5, section 3.3.
pub(super) fn collect<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    patterns: &[Pattern],
    named: &Named,
    found: &mut [Vec<Instance>],
) -> Result<(), Error> {
    for index in 0..sources.len() {
        let mut places = Vec::<(DieKey, Vec<DieKey>)>::new();
        // Functions around the entry: depth, position, and whether they are out of line.
        let mut around = Vec::<(isize, DieKey, bool)>::new();
        if !may_refer(sources, index, named)? {
            continue;
        }
        let Some(unit) = undamaged(sources.unit(index))? else { continue };
        let read = Walk::new(sources, unit).run(None, may_have_code, |unit, die| {
            while around.last().is_some_and(|&(depth, ..)| depth >= die.depth()) {
                around.pop();
            }
            if matches!(die.tag(), c::DW_TAG_subprogram | c::DW_TAG_inlined_subroutine) {
                let key = unit.key(die.offset());
                let has_code = die.has_attr(c::DW_AT_low_pc) || die.has_attr(c::DW_AT_ranges);
                if has_code && undamaged(origin(sources, key, named))?.flatten().is_some() {
                    sources.meter().hold(64)?;
                    let physical = around.iter().rposition(|&(.., is_physical)| is_physical);
                    let outer = around.get(physical.unwrap_or(0)..).unwrap_or_default();
                    places.push((key, outer.iter().map(|&(_, key, _)| key).collect()));
                }
                around.push((die.depth(), key, die.tag() == c::DW_TAG_subprogram));
            }
            Ok(true)
        });
        undamaged(read)?;
        for (key, around) in places {
            let Some(entry) = origin(sources, key, named)? else { continue };
            undamaged(add(sources, patterns, entry, key, &around, found))?;
        }
    }
    Ok(())
}

/// Returns true if entries of a unit may be named ones, or refer to them.
fn may_refer<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    index: usize,
    named: &Named,
) -> Result<bool, Error> {
    let has_named = sources.positions(index).is_some_and(|it| named.range(it).next().is_some());
    Ok(has_named || undamaged(sources.refers_elsewhere(index))? != Some(false))
}

/// Returns true if an entry has code of a function, or its children may.
const fn may_have_code(tag: DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_subprogram
            | c::DW_TAG_inlined_subroutine
            | c::DW_TAG_namespace
            | c::DW_TAG_module
            | c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_union_type
            | c::DW_TAG_enumeration_type
            | c::DW_TAG_lexical_block
            | c::DW_TAG_compile_unit
            | c::DW_TAG_partial_unit
    )
}

/// Returns the naming entry of a function, by its references.
fn origin<'a, 'n, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: DieKey,
    named: &'n Named,
) -> Result<Option<&'n NamedEntry>, Error> {
    if let Some(entry) = named.get(&key) {
        return Ok(Some(entry));
    }
    let origins = sources.entry(key)?.origins(sources)?;
    Ok(origins.iter().find_map(|it| named.get(&it.key)))
}

fn add<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    patterns: &[Pattern],
    named: &NamedEntry,
    key: DieKey,
    around: &[DieKey],
    found: &mut [Vec<Instance>],
) -> Result<(), Error> {
    let entry = sources.entry(key)?;
    let ranges = entry.ranges(sources)?;
    if ranges.is_empty() {
        return Ok(());
    }
    let is_inlined = entry.tag() == c::DW_TAG_inlined_subroutine;
    let physical = if is_inlined { around.first().copied().unwrap_or(key) } else { key };
    let inlined_into = match around.last().filter(|_| is_inlined) {
        Some(&outer) => Some(plain_name(sources, outer)?),
        None => None,
    };
    let (frame_base, function) = physical_function(sources, physical)?;
    let mut variables = variables(sources, &entry)?;
    let is_go = is_go(sources, &entry)?;
    let mut before_stores = 0..0;
    if !is_inlined {
        for variable in &mut variables {
            variable.is_stored_late = is_stored_late(&variable.location, &frame_base);
        }
        if is_go || variables.iter().any(|it| it.is_stored_late) {
            before_stores = prologue(sources, &entry.unit, function.entry, &ranges)?;
        }
    }
    let own = || entry.address(c::DW_AT_entry_pc).or_else(|| ranges.first().map(|it| it.start));
    let name: Arc<str> = Rc::clone(&named.name).as_ref().into();
    let instance = Instance {
        name,
        inlined_into,
        entry: if is_inlined { own() } else { function.entry },
        result: result(sources, key)?,
        is_go,
        ranges,
        prologue: before_stores,
        frame_base,
        function,
        variables,
    };
    for &index in &named.patterns {
        let (Some(pattern), Some(found)) = (patterns.get(index), found.get_mut(index)) else {
            continue;
        };
        if pattern.has_parameters() && !pattern.takes(&types(sources, &instance.variables)?) {
            continue;
        }
        sources.meter().hold(256 + 128 * instance.variables.len())?;
        found.push(instance.clone());
    }
    Ok(())
}

/// Returns true if the unit of an entry is of Go.
fn is_go<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
) -> Result<bool, Error> {
    let mut raw = entry.unit.unit.entries_raw(None)?;
    let mut root = DebuggingInformationEntry::null();
    sources.meter().steps(1)?;
    let is_root = raw.read_entry(&mut root)?;
    let language = root.attr_value(c::DW_AT_language).filter(|_| is_root);
    Ok(matches!(language, Some(AttributeValue::Language(c::DW_LANG_Go))))
}

/// Returns the type of a function's result.
fn result<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: DieKey,
) -> Result<Option<DieKey>, Error> {
    let origins = sources.entry(key)?.origins(sources)?;
    Ok(origins.iter().find_map(|it| it.reference(sources, c::DW_AT_type)))
}

/// Types of the parameters as text, without `this`.
fn types<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    variables: &[Variable],
) -> Result<Vec<String>, Error> {
    let parameters = variables.iter().filter(|it| it.is_parameter && it.name != "this");
    parameters.map(|it| type_name(sources, it.type_key)).collect()
}

/// Returns the name of a function without its scopes.
fn plain_name<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: DieKey,
) -> Result<Arc<str>, Error> {
    let origins = sources.entry(key)?.origins(sources)?;
    let name = origins.iter().find_map(|it| dwarf::name(&it.unit, &it.die, c::DW_AT_name));
    Ok(name.unwrap_or_default().into())
}

/// Returns the frame base and the identity of a function out of line.
pub(super) fn physical_function<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: DieKey,
) -> Result<(Arc<Location>, Arc<Identity>), Error> {
    let entry = sources.entry(key)?;
    let frame_base = match entry.die.attr_value(c::DW_AT_frame_base) {
        Some(value) => Compiler::new(sources, &entry.unit).location(value)?,
        None => Location::Absent,
    };
    let first = entry.address(c::DW_AT_low_pc);
    let lowest = entry.ranges(sources)?.first().map(|range| range.start);
    let start = entry.address(c::DW_AT_entry_pc).or(first.filter(|&it| it != 0)).or(lowest);
    let identity = Identity { entry: start, ..identity(sources, entry)? };
    Ok((Arc::new(frame_base), Arc::new(identity)))
}

/// Returns the identity of a function by an entry of it: its code, its declaration, or its abstract instance.
pub(super) fn identity<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: Entry<'a, R>,
) -> Result<Identity, Error> {
    let origins = entry.origins(sources)?;
    let linkage =
        origins.iter().find_map(|it| dwarf::name(&it.unit, &it.die, c::DW_AT_linkage_name));
    let name = origins.iter().find_map(|it| dwarf::name(&it.unit, &it.die, c::DW_AT_name));
    // Functions of other units are named only if they are visible there.
    let is_external = origins.iter().any(|it| dwarf::flag(&it.die, c::DW_AT_external));
    let symbol = linkage.or(name).filter(|_| is_external).map(Arc::from);
    Ok(Identity { die: origins.last().map(|it| it.key), symbol, entry: None })
}
