//! Which functions of all recordings are taken for the same: those of one name in modules of one name.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::modules::{DiffModuleId, Modules};
use super::names::{normal_function, offset_in_name};
use crate::id::{LocationId, StringId};
use crate::profile::Profile;
use crate::query::functions::functions;
use crate::tables::{LocationRow, Strings, Table};

crate::row_ids! {
    /// A row of [`Diff::functions`](super::Diff::functions).
    pub DiffFunctionId(u32);
}

/// How a function is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffName {
    /// By its name, without what compilers add to it.
    Named(StringId),
    /// By where it begins in its module, of which all recordings have the same build.
    At(u64),
    /// All code of the module whose function is not known.
    Unknown,
    /// No function but frames that no sample shows.
    Gap,
    /// Samples without a stack.
    NoFrames,
}

/// A function: how it is known, and its module, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FunctionKey {
    pub(super) name: DiffName,
    pub(super) module: Option<DiffModuleId>,
}

/// The name of frames that no sample shows.
const GAP: &[u8] = b"[gap]";

/// All functions of all recordings.
#[derive(Debug)]
pub(super) struct Matching {
    pub(super) strings: Strings,
    pub(super) modules: Modules,
    pub(super) functions: Table<DiffFunctionId, FunctionKey>,
    index: HashMap<FunctionKey, DiffFunctionId>,
    exact_names: bool,
    inlines: bool,
}

/// The functions at the locations of one recording.
#[derive(Debug)]
pub(super) struct PlaceFunctions {
    ids: Vec<DiffFunctionId>,
    /// By location: where its functions end in `ids`.
    ends: Table<LocationId, u32>,
}

impl PlaceFunctions {
    /// The functions at a location, innermost first.
    pub(super) fn at(&self, location: LocationId) -> &[DiffFunctionId] {
        let ends = self.ends.as_slice();
        let start = location.index().checked_sub(1).and_then(|before| ends.get(before)).copied();
        let end = ends.get(location.index()).copied().unwrap_or(0);
        self.ids.get(start.unwrap_or(0) as usize..end as usize).unwrap_or_default()
    }
}

impl Matching {
    /// No function yet. `inlines`: whether inlined functions are functions of their own.
    pub(super) fn new(
        strings: Strings,
        modules: Modules,
        exact_names: bool,
        inlines: bool,
    ) -> Self {
        let (functions, index) = (Table::new(), HashMap::new());
        Self { strings, modules, functions, index, exact_names, inlines }
    }

    /// The functions of a recording.
    pub(super) fn places(&mut self, profile: &Profile) -> PlaceFunctions {
        let modules = self.modules.ids(profile, &mut self.strings);
        let mut names: HashMap<StringId, StringId> = HashMap::new();
        let mut places = PlaceFunctions { ids: Vec::new(), ends: Table::new() };
        for location in &profile.locations {
            let module = location.module.and_then(|module| modules.get(module).copied().flatten());
            let row = module.and_then(|module| self.modules.rows.get(module));
            let inlines = self.inlines && !row.is_some_and(|row| row.without_inlines);
            let rows = functions(profile, location, inlines);
            for (index, row) in rows.iter().enumerate() {
                let is_outermost = index + 1 == rows.len();
                let name = match row.function {
                    Some(name) => self.named(profile, name, &mut names),
                    None => None,
                };
                let start = function_start(location).filter(|_| is_outermost);
                places.ids.push(self.function(name, module, start));
            }
            if rows.is_empty() {
                places.ids.push(self.function(None, module, function_start(location)));
            }
            places.ends.push(places.ids.len() as u32);
        }
        places
    }

    /// The function of samples without a stack.
    pub(super) fn no_frames(&mut self) -> DiffFunctionId {
        self.row(FunctionKey { name: DiffName::NoFrames, module: None })
    }

    /// A name as it is compared; `None` for an empty one.
    fn named(
        &mut self,
        profile: &Profile,
        name: StringId,
        known: &mut HashMap<StringId, StringId>,
    ) -> Option<StringId> {
        let text = profile.strings.get(name);
        let id = *known.entry(name).or_insert_with(|| {
            let normal = if self.exact_names { Cow::Borrowed(text) } else { normal_function(text) };
            self.strings.intern(&normal)
        });
        Some(id).filter(|_| !text.is_empty())
    }

    fn function(
        &mut self,
        name: Option<StringId>,
        module: Option<DiffModuleId>,
        start: Option<u64>,
    ) -> DiffFunctionId {
        let row = module.and_then(|module| self.modules.rows.get(module));
        let module_name = row.map_or(&b""[..], |row| self.strings.get(row.name));
        let text = name.map(|name| self.strings.get(name));
        let place = text.and_then(|text| offset_in_name(text, module_name));
        let name = match (name, place) {
            (Some(_), None) if text == Some(GAP) && module.is_none() => DiffName::Gap,
            (Some(name), None) => DiffName::Named(name),
            // An address means the same function in the same file only.
            _ if row.is_some_and(|row| row.same_file == Some(true)) => {
                place.or(start).map_or(DiffName::Unknown, DiffName::At)
            }
            _ => DiffName::Unknown,
        };
        self.row(FunctionKey { name, module })
    }

    fn row(&mut self, key: FunctionKey) -> DiffFunctionId {
        *self.index.entry(key).or_insert_with(|| self.functions.push(key))
    }
}

/// Where the function that is not inlined begins, in the space of the module's addresses.
fn function_start(location: &LocationRow) -> Option<u64> {
    location.relative.checked_sub(location.function_offset?)
}
