//! Calls that state values at entry: those of the functions that need them, in all units.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gimli::{AttributeValue, DwAt, DwTag, Operation, Reader, constants as c};

use super::Instance;
use super::collect::{identity, physical_function};
use super::find::undamaged;
use crate::dwarf::{self, DieKey, Entry, Sources, Walk};
use crate::error::Error;
use crate::expr::{
    CallSite, CallSites, CallTarget, Compiler, Identity, Location, ParameterKey, Program,
};

/// Maximum number of callers of callers whose values are followed.
const MAX_ROUNDS: usize = 4;

/// A call, as far as a scan reads it.
struct Found {
    key: DieKey,
    /// Function out of line that contains it.
    host: DieKey,
    /// Return address, in addresses of the image (SVMA).
    return_address: Option<u64>,
    /// Entry of the callee.
    callee: Option<DieKey>,
    is_tail: bool,
}

/// Calls of all units.
pub(super) struct Calls<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    found: Vec<Found>,
    /// Functions whose tail calls are all stated.
    complete: BTreeSet<DieKey>,
    identities: BTreeMap<DieKey, Identity>,
}

impl<'a, 's, R: Reader<Offset = usize>> Calls<'a, 's, R> {
    /// Returns the calls of the functions whose variables need values at entry. Without any, nothing is read.
    ///
    /// Source: DWARF 5, section 3.4; the forms of GNU before it.
    pub(super) fn needed_by(
        sources: &'s Sources<'a, R>,
        found: &[Vec<Instance>],
    ) -> Result<CallSites, Error> {
        let mut needed = Vec::<Identity>::new();
        for instance in found.iter().flatten() {
            let needs = |location: &Location| location.needs_entry();
            if (instance.variables.iter().any(|it| needs(&it.location))
                || needs(&instance.frame_base))
                && !needed.contains(&instance.function)
            {
                needed.push(Identity::clone(&instance.function));
            }
        }
        if needed.is_empty() {
            return Ok(CallSites::default());
        }
        let mut calls = Self {
            sources,
            found: Vec::new(),
            complete: BTreeSet::new(),
            identities: BTreeMap::new(),
        };
        calls.scan()?;
        calls.close(needed)
    }

    fn scan(&mut self) -> Result<(), Error> {
        let sources = self.sources;
        for index in 0..sources.len() {
            let mut around = Vec::<(isize, DieKey)>::new();
            let Some(unit) = undamaged(sources.unit(index))? else { continue };
            let read = Walk::new(sources, unit).run(None, has_calls, |unit, die| {
                while around.last().is_some_and(|&(depth, _)| depth >= die.depth()) {
                    around.pop();
                }
                let key = unit.key(die.offset());
                let is_set = |names: &[DwAt]| names.iter().any(|&name| dwarf::flag(die, name));
                match die.tag() {
                    c::DW_TAG_subprogram => {
                        around.push((die.depth(), key));
                        if is_set(&ALL_TAIL_CALLS) {
                            sources.meter().hold(32)?;
                            self.complete.insert(key);
                        }
                    }
                    c::DW_TAG_call_site | c::DW_TAG_GNU_call_site => {
                        let Some(&(_, host)) = around.last() else { return Ok(false) };
                        sources.meter().hold(size_of::<Found>())?;
                        let entry = Entry { unit: unit.clone(), die: die.clone(), key };
                        let callee = entry.reference(sources, c::DW_AT_call_origin);
                        let callee =
                            callee.or_else(|| entry.reference(sources, c::DW_AT_abstract_origin));
                        let is_gnu = die.tag() == c::DW_TAG_GNU_call_site;
                        let name = if is_gnu { c::DW_AT_low_pc } else { c::DW_AT_call_return_pc };
                        let return_address = entry.address(name);
                        let is_tail = is_set(&[c::DW_AT_call_tail_call, c::DW_AT_GNU_tail_call]);
                        self.found.push(Found { key, host, return_address, callee, is_tail });
                        return Ok(false);
                    }
                    _ => {}
                }
                Ok(true)
            });
            undamaged(read)?;
        }
        Ok(())
    }

    /// Compiles the calls of the needed functions, and those that their values need in turn.
    fn close(&mut self, mut needed: Vec<Identity>) -> Result<CallSites, Error> {
        let mut result = CallSites::default();
        let all = std::mem::take(&mut self.found);
        let mut done = 0;
        for _ in 0..MAX_ROUNDS {
            let round: BTreeSet<Identity> = needed.drain(done..).collect();
            needed.extend(round.iter().cloned());
            done = needed.len();
            for call in &all {
                self.sources.meter().steps(1)?;
                let Some(return_address) = call.return_address.filter(|_| !call.is_tail) else {
                    continue;
                };
                if result.sites.contains_key(&return_address) {
                    continue;
                }
                let Some(callee) =
                    undamaged(call.callee.map(|key| self.identity(key)).transpose())?
                else {
                    continue;
                };
                let wanted = |callee: &Identity| round.iter().any(|it| it.is(callee, true));
                self.sources.meter().steps(round.len() as u64)?;
                if callee.as_ref().is_some_and(|callee| !wanted(callee)) {
                    continue;
                }
                let Some(site) = undamaged(self.site(call, callee))? else { continue };
                if site.parameters.iter().any(|(_, program)| program.needs_entry())
                    && !needed.contains(&site.caller)
                {
                    needed.push(Identity::clone(&site.caller));
                }
                self.sources.meter().hold(128)?;
                result.sites.insert(return_address, site);
            }
            if needed.len() == done {
                break;
            }
        }
        self.mark_tail_recursive(&all, &needed, &mut result)?;
        Ok(result)
    }

    fn identity(&mut self, key: DieKey) -> Result<Identity, Error> {
        if let Some(identity) = self.identities.get(&key) {
            return Ok(identity.clone());
        }
        let identity = identity(self.sources, self.sources.entry(key)?)?;
        self.sources.meter().hold(128)?;
        self.identities.insert(key, identity.clone());
        Ok(identity)
    }

    fn site(&self, call: &Found, callee: Option<Identity>) -> Result<CallSite, Error> {
        let entry = self.sources.entry(call.key)?;
        let compiler = Compiler::new(self.sources, &entry.unit);
        let expression =
            |entry: &Entry<'a, R>, names: [DwAt; 2]| -> Result<Option<Arc<Program>>, Error> {
                let value = names.iter().find_map(|&name| entry.die.attr_value(name));
                match value {
                    Some(AttributeValue::Exprloc(expression)) => {
                        compiler.program(&expression).map(Some)
                    }
                    _ => Ok(None),
                }
            };
        let target = match callee {
            Some(callee) => CallTarget::Function(callee),
            None => {
                match expression(&entry, [c::DW_AT_call_target, c::DW_AT_GNU_call_site_target])? {
                    Some(program) => CallTarget::Computed(program),
                    None => CallTarget::Unknown,
                }
            }
        };
        let mut parameters = Vec::new();
        entry.children(self.sources, |child| {
            if !matches!(
                child.tag(),
                c::DW_TAG_call_site_parameter | c::DW_TAG_GNU_call_site_parameter
            ) {
                return Ok(());
            }
            let value = expression(&child, [c::DW_AT_call_value, c::DW_AT_GNU_call_site_value])?;
            let Some(value) = value else { return Ok(()) };
            let place = expression(&child, [c::DW_AT_location, c::DW_AT_location])?;
            let key = match (place, child.die.attr_value(c::DW_AT_call_parameter)) {
                (Some(place), _) => match place.operations().as_deref() {
                    Some([Operation::Register { register }]) => ParameterKey::Register(register.0),
                    _ => ParameterKey::Other,
                },
                (None, Some(AttributeValue::UnitRef(offset))) => ParameterKey::Entry(offset.0),
                (None, _) => ParameterKey::Other,
            };
            self.sources.meter().hold(32)?;
            parameters.push((key, value));
            Ok(())
        })?;
        let (frame_base, caller) = physical_function(self.sources, call.host)?;
        Ok(CallSite { target, parameters, frame_base, caller })
    }

    /// Marks functions that tail calls may lead back to: their frame can be of another call than its caller states.
    fn mark_tail_recursive(
        &mut self,
        all: &[Found],
        needed: &[Identity],
        result: &mut CallSites,
    ) -> Result<(), Error> {
        // Functions with tail calls, by entry and by name; `None` for an unknown callee.
        let mut edges = BTreeMap::<DieKey, Vec<Option<Identity>>>::new();
        let mut by_symbol = BTreeMap::<Arc<str>, DieKey>::new();
        for call in all.iter().filter(|call| call.is_tail) {
            self.sources.meter().steps(1)?;
            let Some(host) = undamaged(self.identity(call.host))? else { continue };
            let callee = call.callee.map(|key| self.identity(key)).transpose();
            let callee = undamaged(callee)?.flatten();
            let Some(die) = host.die else { continue };
            if let Some(symbol) = host.symbol {
                by_symbol.insert(symbol, die);
            }
            self.sources.meter().hold(64)?;
            edges.entry(die).or_default().push(callee);
        }
        let complete = std::mem::take(&mut self.complete);
        let mut stated = BTreeSet::new();
        for &key in &complete {
            stated.extend(undamaged(self.identity(key))?.and_then(|it| it.die));
        }
        for function in needed {
            let Some(start) = function.die else { continue };
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            let mut leads_back = !stated.contains(&start);
            while let Some(at) = open.pop() {
                for callee in edges.get(&at).into_iter().flatten() {
                    self.sources.meter().steps(1)?;
                    let by_name = |it: &Identity| {
                        it.symbol.as_ref().and_then(|name| by_symbol.get(name).copied())
                    };
                    let next = callee.as_ref().and_then(|it| by_name(it).or(it.die));
                    let is_back = callee.as_ref().is_none_or(|it| it.is(function, true));
                    leads_back |= is_back || next == Some(start);
                    if let Some(next) = next.filter(|&next| seen.insert(next)) {
                        open.push(next);
                    }
                }
            }
            if leads_back {
                result.tail_recursive.insert(start);
            }
        }
        Ok(())
    }
}

/// Flags of functions whose tail calls are all stated.
const ALL_TAIL_CALLS: [DwAt; 5] = [
    c::DW_AT_call_all_calls,
    c::DW_AT_call_all_tail_calls,
    c::DW_AT_call_all_source_calls,
    c::DW_AT_GNU_all_call_sites,
    c::DW_AT_GNU_all_tail_call_sites,
];

/// Returns true if an entry is a call, or calls may be below it.
const fn has_calls(tag: DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_subprogram
            | c::DW_TAG_call_site
            | c::DW_TAG_GNU_call_site
            | c::DW_TAG_namespace
            | c::DW_TAG_module
            | c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_union_type
            | c::DW_TAG_lexical_block
            | c::DW_TAG_inlined_subroutine
            | c::DW_TAG_compile_unit
            | c::DW_TAG_partial_unit
    )
}
