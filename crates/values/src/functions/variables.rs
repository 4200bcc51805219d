//! Parameters and locals of an instance, with their blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use gimli::{Reader, constants as c};

use super::Variable;
use crate::dwarf::{self, DieKey, Entry, Ranges, Sources};
use crate::error::Error;
use crate::expr::{Compiler, Location, compile_attribute};

/// Maximum nesting of blocks.
const MAX_BLOCKS: u32 = 64;

/// Reads the parameters and locals of an instance. Those of its abstract instance that it lacks are optimized out.
///
/// Source: DWARF 5, sections 3.3.8 and 4.1.
pub(super) fn variables<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    instance: &Entry<'a, R>,
) -> Result<Vec<Variable>, Error> {
    let mut reading = Reading { sources, variables: Vec::new(), known: BTreeSet::new() };
    reading.block(instance, &Ranges::new(), 0, false)?;
    let origin = instance.reference(sources, c::DW_AT_abstract_origin);
    if let Some(origin) = origin {
        reading.block(&sources.entry(origin)?, &Ranges::new(), 0, true)?;
    }
    Ok(reading.variables)
}

struct Reading<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    variables: Vec<Variable>,
    /// Entries of the abstract instance that have a concrete one.
    known: BTreeSet<DieKey>,
}

impl<'a, R: Reader<Offset = usize>> Reading<'a, '_, R> {
    /// Reads a block. `scope` is empty for the function itself.
    fn block(
        &mut self,
        block: &Entry<'a, R>,
        scope: &Ranges,
        depth: u32,
        is_abstract: bool,
    ) -> Result<(), Error> {
        if depth > MAX_BLOCKS {
            return Ok(());
        }
        let sources = self.sources;
        block.children(sources, |child| match child.tag() {
            c::DW_TAG_formal_parameter | c::DW_TAG_variable => {
                self.variable(child, scope, depth, is_abstract)
            }
            c::DW_TAG_lexical_block => {
                if let Some(origin) = child.reference(sources, c::DW_AT_abstract_origin) {
                    sources.meter().hold(32)?;
                    self.known.insert(origin);
                }
                if is_abstract {
                    // Scopes of variables without location do not matter, except for those that shadow others.
                    return self.block(&child, scope, depth + 1, true);
                }
                let own = child.ranges(sources)?;
                let scope = if own.is_empty() { scope } else { &own };
                self.block(&child, scope, depth + 1, is_abstract)
            }
            _ => Ok(()),
        })
    }

    fn variable(
        &mut self,
        entry: Entry<'a, R>,
        scope: &Ranges,
        depth: u32,
        is_abstract: bool,
    ) -> Result<(), Error> {
        let sources = self.sources;
        if is_abstract && self.known.contains(&entry.key) {
            return Ok(());
        }
        let is_parameter = entry.tag() == c::DW_TAG_formal_parameter;
        let is_result = dwarf::flag(&entry.die, c::DW_AT_variable_parameter);
        let compiler = Compiler::new(sources, &entry.unit);
        let mut location = if dwarf::flag(&entry.die, c::DW_AT_declaration) {
            Location::Absent
        } else {
            compile_attribute(&compiler, &entry.die)?
        };
        let origins = entry.origins(sources)?;
        if !is_abstract {
            self.known.extend(origins.iter().skip(1).map(|it| it.key));
        }
        let name = origins.iter().find_map(|it| dwarf::name(&it.unit, &it.die, c::DW_AT_name));
        let Some(name) = name else { return Ok(()) };
        let type_key = origins.iter().find_map(|it| it.reference(sources, c::DW_AT_type));
        if matches!(location, Location::Absent) {
            // Constants and static variables are stated once, for all instances.
            for origin in origins.iter().skip(1) {
                if let Some(found) = shared_location(sources, origin)? {
                    location = found;
                    break;
                }
            }
        }
        // An entry of the abstract instance has no place in the code: another variable of that name hides it.
        let is_hidden = is_abstract && self.variables.iter().any(|it| it.name == name);
        if is_hidden {
            return Ok(());
        }
        sources.meter().hold(128 + name.len() + 16 * scope.len())?;
        self.variables.push(Variable {
            name,
            is_parameter,
            is_result,
            type_key,
            scope: scope.clone(),
            depth: if is_abstract { 0 } else { depth },
            location: Arc::new(location),
            is_stored_late: false,
        });
        Ok(())
    }
}

/// Returns the location or constant that an abstract entry states.
fn shared_location<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    entry: &Entry<'a, R>,
) -> Result<Option<Location>, Error> {
    let location = compile_attribute(&Compiler::new(sources, &entry.unit), &entry.die)?;
    Ok((!matches!(location, Location::Absent)).then_some(location))
}
