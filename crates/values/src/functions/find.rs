//! Search for functions by name, over all units.

use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::{DebuggingInformationEntry, DwTag, Reader, constants as c};

use super::Instance;
use super::calls::Calls;
use super::collect::collect;
use super::pattern::Pattern;
use super::similar::Closest;
use crate::dwarf::{self, DieKey, LoadedUnit, Mentions, Sources, Walk};
use crate::error::Error;
use crate::expr::CallSites;

/// Entries that name a function, with the indexes of the names that match.
pub(super) type Named = BTreeMap<DieKey, NamedEntry>;

/// An entry that names a function.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedEntry {
    /// Qualified name.
    pub(super) name: Rc<str>,
    /// Indexes of the names that match.
    pub(super) patterns: Vec<usize>,
}

/// Functions of one image, found by name.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// For each name in the order given: its instances, sorted by address; or names that are alike.
    pub(crate) found: Vec<Result<Vec<Instance>, Error>>,
    /// Calls that state values which the instances were entered with.
    pub(crate) sites: CallSites,
    damaged_units: usize,
}

impl Functions {
    /// Finds functions of C, C++, Rust and Go by name.
    ///
    /// Each name yields all instances of all functions that it matches, or [`Error::UnknownFunction`].
    ///
    /// Damaged units are left out and counted.
    ///
    /// # Errors
    /// [`Error::Dwarf`] if an entry of such a function is damaged; [`Error::Exhausted`] if the meter of `sources` is.
    pub fn find<'a, R: Reader<Offset = usize>>(
        sources: &Sources<'a, R>,
        names: &[&str],
    ) -> Result<Self, Error> {
        let patterns: Vec<Pattern> = names.iter().map(|name| Pattern::new(name)).collect();
        let mut search = Search::new(sources, &patterns);
        let damaged_units = search.units()?;
        let named = search.named;
        let mut found = vec![Vec::new(); patterns.len()];
        if !named.is_empty() {
            collect(sources, &patterns, &named, &mut found)?;
        }
        let sites = Calls::needed_by(sources, &found)?;
        let is_missing: Vec<bool> = found.iter().map(Vec::is_empty).collect();
        let similar = similar(sources, &patterns, &is_missing)?;
        let results = found.into_iter().zip(&patterns).zip(similar);
        let results = results.map(|((mut instances, pattern), similar)| {
            instances.sort_by_key(|it: &Instance| {
                it.ranges.first().map(|range| (range.start, range.end))
            });
            if instances.is_empty() {
                return Err(Error::UnknownFunction { name: pattern.text().to_owned(), similar });
            }
            Ok(instances)
        });
        Ok(Self { found: results.collect(), sites, damaged_units })
    }

    /// Number of units that were left out because they are damaged.
    #[must_use]
    pub const fn damaged_units(&self) -> usize {
        self.damaged_units
    }

    /// Instances of the name at an index, as given to [`Self::find`].
    ///
    /// # Errors
    /// [`Error::UnknownFunction`] if there are none.
    pub fn instances(&self, index: usize) -> Result<&[Instance], Error> {
        match self.found.get(index) {
            Some(Ok(instances)) => Ok(instances),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::UnknownFunction { name: String::new(), similar: Vec::new() }),
        }
    }

    /// Calls that state values which the instances were entered with.
    #[must_use]
    pub const fn call_sites(&self) -> &CallSites {
        &self.sites
    }
}

/// Returns the result of a unit; `None` if it is damaged.
pub(super) fn undamaged<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Dwarf(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the names that are close to those without an instance.
fn similar<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    patterns: &[Pattern],
    is_missing: &[bool],
) -> Result<Vec<Vec<String>>, Error> {
    let mut search = Search::new(sources, patterns);
    if is_missing.contains(&true) {
        // Names are compared letter by letter only if there is something to suggest.
        let wanted = patterns.iter().zip(is_missing);
        let closest = wanted.map(|(it, &is_missing)| is_missing.then(|| Closest::new(it.last())));
        search.closest = closest.collect();
        search.units()?;
    }
    let names = |closest: Option<Closest<'_>>| closest.map(Closest::into_names).unwrap_or_default();
    Ok(search.closest.into_iter().map(names).collect())
}

struct Search<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    patterns: &'s [Pattern],
    named: Named,
    /// For each name, those that are close; `None` if they are not wanted.
    closest: Vec<Option<Closest<'s>>>,
    /// Scopes around the entry: depth and name.
    scopes: Vec<(isize, String)>,
}

impl<'a, 's, R: Reader<Offset = usize>> Search<'a, 's, R> {
    fn new(sources: &'s Sources<'a, R>, patterns: &'s [Pattern]) -> Self {
        let closest = patterns.iter().map(|_| None).collect();
        Self { sources, patterns, named: Named::new(), closest, scopes: Vec::new() }
    }

    /// Considers all units; returns the number of damaged ones.
    fn units(&mut self) -> Result<usize, Error> {
        let sources = self.sources;
        let mut damaged = 0;
        let mentions = match self.closest.iter().any(Option::is_some) {
            true => None,
            false => {
                let words: Vec<String> = self.patterns.iter().map(Pattern::word).collect();
                Mentions::of(sources, &words)?
            }
        };
        for index in 0..sources.len() {
            let has_word = mentions.as_ref().map(|it| it.may_be_in(sources, index)).transpose();
            // A damaged unit is counted below.
            if undamaged(has_word)?.flatten() == Some(false) {
                continue;
            }
            self.scopes.clear();
            let read = sources.unit(index).and_then(|unit| {
                Walk::new(sources, unit).run(None, may_name, |unit, die| self.visit(unit, die))
            });
            damaged += usize::from(undamaged(read)?.is_none());
        }
        Ok(damaged)
    }

    /// Considers an entry that may name a function or have children that do.
    fn visit(
        &mut self,
        unit: &LoadedUnit<'a, R>,
        die: &DebuggingInformationEntry<R>,
    ) -> Result<bool, Error> {
        let depth = die.depth();
        while self.scopes.last().is_some_and(|&(other, _)| other >= depth) {
            self.scopes.pop();
        }
        let name = || dwarf::name(unit, die, c::DW_AT_name);
        match die.tag() {
            c::DW_TAG_namespace | c::DW_TAG_module => {
                let name = name().unwrap_or_else(|| "(anonymous namespace)".to_owned());
                self.scopes.push((depth, name));
            }
            c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_union_type
            | c::DW_TAG_interface_type
            | c::DW_TAG_enumeration_type => {
                self.scopes.push((depth, name().unwrap_or_else(|| "(anonymous)".to_owned())));
            }
            c::DW_TAG_subprogram => {
                let Some(name) = name() else { return Ok(true) };
                self.function(unit, die, &name)?;
                self.scopes.push((depth, name));
            }
            _ => {}
        }
        Ok(true)
    }

    fn function(
        &mut self,
        unit: &LoadedUnit<'a, R>,
        die: &DebuggingInformationEntry<R>,
        name: &str,
    ) -> Result<(), Error> {
        let linkage = dwarf::name(unit, die, c::DW_AT_linkage_name)
            .or_else(|| dwarf::name(unit, die, c::DW_AT_MIPS_linkage_name));
        let scopes: Vec<&str> = self.scopes.iter().map(|(_, name)| name.as_str()).collect();
        let mut matching = Vec::new();
        for (index, pattern) in self.patterns.iter().enumerate() {
            let is_linkage = linkage.as_deref().is_some_and(|name| pattern.is_linkage_name(name));
            if is_linkage || pattern.matches(&scopes, name) {
                matching.push(index);
            } else if let Some(Some(closest)) = self.closest.get_mut(index) {
                let shown = name.split('<').next().filter(|it| !it.is_empty()).unwrap_or(name);
                let plain = shown.rsplit('.').next().unwrap_or(shown);
                self.sources.meter().steps(1 + plain.len() as u64 / 16)?;
                closest.add(plain, shown);
            }
        }
        if !matching.is_empty() {
            let mut qualified = scopes
                .iter()
                .filter(|it| !it.starts_with('('))
                .fold(String::new(), |text, scope| text + scope + "::");
            qualified.push_str(name);
            self.sources.meter().hold(128 + qualified.len())?;
            let entry = NamedEntry { name: qualified.into(), patterns: matching };
            self.named.insert(unit.key(die.offset()), entry);
        }
        Ok(())
    }
}

/// Returns true if an entry names a function, or its children may.
const fn may_name(tag: DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_namespace
            | c::DW_TAG_module
            | c::DW_TAG_structure_type
            | c::DW_TAG_class_type
            | c::DW_TAG_union_type
            | c::DW_TAG_interface_type
            | c::DW_TAG_enumeration_type
            | c::DW_TAG_subprogram
            | c::DW_TAG_lexical_block
            | c::DW_TAG_compile_unit
            | c::DW_TAG_partial_unit
            | c::DW_TAG_type_unit
    )
}
