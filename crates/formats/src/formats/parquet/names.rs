//! The names of a profile as Parquet values in UTF-8, each converted once.

use address::ModuleId;
use parquet::data_type::ByteArray;
use profile::query::Programs;

use super::schema::ParquetTypes;
use crate::render::truncation::{in_table, push_repeated};
use profile::{EndReason, FoundBy, ModuleKind, Profile, StringId, Table};

/// A profile with its converted names.
#[derive(Debug)]
pub(super) struct ConvertedProfile<'a> {
    pub(super) profile: &'a Profile,
    pub(super) programs: Programs,
    pub(super) recording: Option<ByteArray>,
    strings: Table<StringId, ByteArray>,
    /// In hexadecimal.
    build_ids: Table<ModuleId, Option<ByteArray>>,
    ends: Vec<ByteArray>,
    found_by: Vec<ByteArray>,
    nothing: ByteArray,
}

impl<'a> ConvertedProfile<'a> {
    pub(super) fn new(profile: &'a Profile, types: ParquetTypes) -> Self {
        // A page repeats names after its dictionary is full.
        let lossy = |name: &[u8]| {
            if types == ParquetTypes::Plain {
                // Names of the tree are those of the Arrow stream.
                return ByteArray::from(&*String::from_utf8_lossy(&in_table(name)));
            }
            let mut shown = Vec::new();
            push_repeated(&mut shown, name, |out, text| out.extend_from_slice(text));
            ByteArray::from(&*String::from_utf8_lossy(&shown))
        };
        let build_id = |id: &address::BuildId| ByteArray::from(&*id.to_string());
        Self {
            profile,
            programs: Programs::new(profile),
            recording: profile.recording.name.as_deref().map(lossy),
            strings: profile.strings.iter().map(lossy).collect(),
            build_ids: profile.modules.iter().map(|m| m.build_id.as_ref().map(build_id)).collect(),
            ends: EndReason::ALL.iter().map(|word| word.as_str().into()).collect(),
            found_by: FoundBy::ALL.iter().map(|word| word.as_str().into()).collect(),
            nothing: "".into(),
        }
    }

    /// Returns the name with this id.
    pub(super) fn get(&self, id: StringId) -> ByteArray {
        self.strings.get(id).unwrap_or(&self.nothing).clone()
    }

    /// Returns a name for a required column; empty if the profile is inconsistent and lacks it.
    pub(super) fn always(&self, id: Option<StringId>) -> ByteArray {
        id.map_or_else(|| self.nothing.clone(), |id| self.get(id))
    }

    pub(super) fn module(&self, id: Option<ModuleId>) -> Option<ByteArray> {
        self.profile.modules.get(id?).map(|module| self.get(module.path))
    }

    pub(super) fn build_id(&self, id: Option<ModuleId>) -> Option<ByteArray> {
        self.build_ids.get(id?)?.clone()
    }

    /// Returns true if the module's addresses are those stated in an ELF file.
    pub(super) fn is_elf(&self, id: Option<ModuleId>) -> bool {
        let module = id.and_then(|id| self.profile.modules.get(id));
        module.is_some_and(|module| module.kind == ModuleKind::Elf)
    }

    pub(super) fn end(&self, end: EndReason) -> ByteArray {
        self.ends.get(end as usize).unwrap_or(&self.nothing).clone()
    }

    pub(super) fn found_by(&self, found_by: FoundBy) -> ByteArray {
        self.found_by.get(found_by as usize).unwrap_or(&self.nothing).clone()
    }
}
