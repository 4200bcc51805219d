//! Mappings, locations and functions of a pprof profile.

use address::ModuleId;
use hashbrown::HashMap;

use super::StringTable;
use super::field::{FUNCTION, LOCATION, MAPPING};
use crate::render::code_ranges::{CodeRange, CodeRangeId, CodeRanges};
use crate::render::encoding::protobuf::ProtoMessage;
use profile::query::{functions, stack_weights};
use profile::{InlineRow, LocationRow, ModuleKind, Profile, StringId, Table};

/// Whether any location of a mapping has a name, a file, a line, or an inlined function.
type MappingFlags = [bool; 4];

/// The mappings of a profile, and the mapping of each location.
#[derive(Debug)]
pub(super) struct LocationTables<'a> {
    profile: &'a Profile,
    inlines: bool,
    mappings: CodeRanges,
    flags: Table<CodeRangeId, MappingFlags>,
}

impl<'a> LocationTables<'a> {
    pub(super) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let mappings = CodeRanges::new(profile);
        let mut flags: Table<CodeRangeId, MappingFlags> =
            Table::from_vec(vec![MappingFlags::default(); mappings.rows.len()]);
        for (location, mapping) in profile.locations.iter().zip(&mappings.of_location) {
            let Some(flags) = mapping.and_then(|mapping| flags.get_mut(mapping)) else { continue };
            for row in functions(profile, location, inlines) {
                flags[0] |= row.function.is_some();
                flags[1] |= row.file.is_some();
                flags[2] |= row.line != 0;
                flags[3] |= row.inlined;
            }
        }
        Self { profile, inlines, mappings, flags }
    }

    /// Writes all three tables.
    pub(super) fn write(&self, names: &mut StringTable, top: &mut ProtoMessage) {
        let mut message = ProtoMessage::default();
        let program = program(self.profile);
        let is_program = |mapping: &CodeRange| Some(mapping.module) == program;
        // pprof shows the first mapping's name as its title.
        let (first, then): (Vec<_>, Vec<_>) =
            self.mappings.rows.entries().partition(|(_, mapping)| is_program(mapping));
        let mut numbers: Table<CodeRangeId, u64> =
            Table::from_vec(vec![0; self.mappings.rows.len()]);
        // Parca requires mapping ids to be numbered in order of appearance.
        for (number, (id, mapping)) in (1_u64..).zip(first.into_iter().chain(then)) {
            if let Some(slot) = numbers.get_mut(id) {
                *slot = number;
            }
            message.clear();
            message.number(1, number);
            self.mapping(id, mapping, names, &mut message);
            top.message(MAPPING, &message);
        }
        let mut functions = PprofFunctions::default();
        for ((id, location), &mapping) in
            self.profile.locations.entries().zip(&self.mappings.of_location)
        {
            message.clear();
            message.number(1, id.to_bits().into());
            let mapping = mapping.and_then(|mapping| numbers.get(mapping).copied());
            message.number(2, mapping.unwrap_or(0));
            message.number(3, location.relative);
            self.lines(location, &mut functions, &mut message);
            top.message(LOCATION, &message);
        }
        for (id, function) in (1_u64..).zip(&functions.rows) {
            let name = match function.function {
                Some(name) => names.index(self.profile.strings.get(name)),
                None => names.index(b"[unknown]"),
            };
            message.clear();
            message.number(1, id);
            // Without a system name, pprof shows the name unchanged instead of shortened.
            message.number(2, name);
            let file = function.file.map(|file| names.index(self.profile.strings.get(file)));
            message.number(4, file.unwrap_or(0));
            top.message(FUNCTION, &message);
        }
    }

    fn mapping(
        &self,
        id: CodeRangeId,
        mapping: &CodeRange,
        names: &mut StringTable,
        message: &mut ProtoMessage,
    ) {
        message.number(2, mapping.start());
        message.number(3, mapping.end());
        message.number(4, mapping.file_offset());
        if let Some(module) = self.profile.modules.get(mapping.module) {
            message.number(5, names.index(self.profile.strings.get(module.path)));
            let id = module.build_id.map(|id| names.index(id.to_string().as_bytes()));
            message.number(6, id.unwrap_or(0));
        }
        for (field, flags) in (7..).zip(self.flags.get(id).copied().unwrap_or_default()) {
            message.number(field, flags.into());
        }
    }

    /// Writes the lines of a location, innermost first; none if no name is known.
    fn lines(&self, location: &LocationRow, ids: &mut PprofFunctions, message: &mut ProtoMessage) {
        let rows = functions(self.profile, location, self.inlines);
        if rows.iter().all(|row| row.function.is_none()) {
            return;
        }
        let mut line = ProtoMessage::default();
        for row in rows {
            line.clear();
            line.number(1, ids.id(row));
            line.number(2, row.line.into());
            line.number(3, row.column.into());
            message.message(4, &line);
        }
    }
}

/// Returns the main program's module: the module with the most frames that is not a shared object.
fn program(profile: &Profile) -> Option<ModuleId> {
    let mut frames: Table<ModuleId, u64> = Table::from_vec(vec![0; profile.modules.len()]);
    for (stack, weight) in profile.stacks.iter().zip(&stack_weights(profile)) {
        let location = profile.frames.get(stack.frame).map(|frame| frame.location);
        let module = location.and_then(|location| profile.locations.get(location)?.module);
        if let Some(sum) = module.and_then(|module| frames.get_mut(module)) {
            *sum += weight;
        }
    }
    let is_program = |module: ModuleId| {
        profile.modules.get(module).is_some_and(|row| {
            let path = profile.strings.get(row.path);
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            let is_shared = name.ends_with(b".so") || name.windows(4).any(|part| part == b".so.");
            matches!(row.kind, ModuleKind::Elf | ModuleKind::File)
                && path.starts_with(b"/")
                && !is_shared
        })
    };
    let programs = frames.entries().filter(|&(module, &sum)| sum > 0 && is_program(module));
    programs.max_by_key(|&(module, &sum)| (sum, std::cmp::Reverse(module))).map(|it| it.0)
}

/// Distinct functions, identified by name and file.
#[derive(Debug, Default)]
struct PprofFunctions {
    rows: Vec<InlineRow>,
    index: HashMap<(Option<StringId>, Option<StringId>), u64>,
}

impl PprofFunctions {
    fn id(&mut self, row: &InlineRow) -> u64 {
        *self.index.entry((row.function, row.file)).or_insert_with(|| {
            self.rows.push(*row);
            self.rows.len() as u64
        })
    }
}
