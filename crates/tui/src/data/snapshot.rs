//! A profile prepared for queries.

use std::hash::BuildHasher as _;

use address::ById as _;
use hashbrown::DefaultHashBuilder;
use profile::query::engine::Index;
use profile::query::{Function, FunctionId, FunctionMarks, Functions};
use profile::{Profile, RowId as _, StringId};

use super::names::{file_name, safe, short};

/// A profile with the tables that queries need. Selected rows and open nodes have keys that are equal in a later
/// snapshot of the same stream.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) profile: Profile,
    pub(crate) index: Index,
    pub(crate) functions: Functions,
    marks: FunctionMarks,
    /// By function: a hash of its name, module and position.
    keys: Vec<u64>,
    hasher: DefaultHashBuilder,
}

impl Snapshot {
    /// Prepares a profile. Snapshots with equal hashers have equal keys.
    pub(crate) fn new(profile: Profile, inlines: bool, hasher: &DefaultHashBuilder) -> Self {
        let index = Index::new(&profile, inlines);
        let functions = Functions::new(&profile, inlines);
        let marks = FunctionMarks::new(&profile, &functions.rows);
        let text = |id: Option<StringId>| id.map(|id| profile.strings.get(id));
        let key = |it: &Function| {
            let parts = (text(it.name), text(it.module), text(it.file), it.line, it.start);
            hasher.hash_one(parts)
        };
        let keys = functions.rows.iter().map(key).collect();
        Self { index, keys, marks, functions, profile, hasher: hasher.clone() }
    }

    /// Returns the function of an id; an unknown function if the id is invalid.
    pub(crate) fn function(&self, id: FunctionId) -> Function {
        self.functions.rows.get(id).copied().unwrap_or(Function::unknown(None))
    }

    /// Returns the key of a function.
    pub(crate) fn key(&self, id: FunctionId) -> u64 {
        self.keys.by_id(id).copied().unwrap_or(0)
    }

    /// Returns the key of a node below another one.
    pub(crate) fn key_below(&self, parent: u64, key: u64) -> u64 {
        self.hasher.hash_one((parent, key))
    }

    /// Returns the function with a key.
    pub(crate) fn find(&self, key: u64) -> Option<FunctionId> {
        self.keys.iter().position(|it| *it == key).map(FunctionId::from_index)
    }

    /// Returns the name of a function with the mark that distinguishes it from others of its name.
    pub(crate) fn name(&self, id: FunctionId, is_full: bool) -> String {
        let function = self.function(id);
        let name = function.name.map_or(&b""[..], |name| self.profile.strings.get(name));
        if name.is_empty() {
            return "[unknown]".to_owned();
        }
        let name = safe(name);
        let name = if is_full { name } else { short(&name) };
        match self.marks.of(&function) {
            Some(mark) => format!("{name} ({})", safe(mark.as_bytes())),
            None => name,
        }
    }

    /// Returns the path of a function's module; empty if it is unknown.
    pub(crate) fn module(&self, id: FunctionId) -> &[u8] {
        self.text(self.function(id).module)
    }

    /// Returns the last component of the path of a function's module.
    pub(crate) fn module_name(&self, id: FunctionId) -> String {
        safe(file_name(self.module(id)))
    }

    /// Returns a string of the profile; empty if there is none.
    pub(crate) fn text(&self, id: Option<StringId>) -> &[u8] {
        id.map_or(&b""[..], |id| self.profile.strings.get(id))
    }
}
