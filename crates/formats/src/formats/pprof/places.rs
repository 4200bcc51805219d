//! Mappings, locations and functions of a pprof profile.

use address::ModuleId;
use hashbrown::HashMap;

use super::StringTable;
use super::message::PprofMessage;
use profile::query::functions;
use profile::{InlineRow, LocationId, LocationRow, Profile, StringId, Table, row_ids};

/// Fields of `Profile`.
const MAPPING: u32 = 3;
const LOCATION: u32 = 4;
const FUNCTION: u32 = 5;

/// Mappings begin and end at multiples of this.
const PAGE: u64 = 4096;

row_ids! {
    /// A row of the table of mappings.
    MappingId(u32);
}

/// A part of a module in which addresses and file offsets differ by one number.
#[derive(Debug)]
struct PprofMapping {
    module: ModuleId,
    /// Lowest and highest address of a location in it.
    low: u64,
    high: u64,
    /// What is added to an address for the file offset (wrapping); `None` where the module has no offsets.
    delta: Option<u64>,
    /// Whether any location has a name, a file, a line, an inlined function.
    has: [bool; 4],
}

/// The mappings of a profile, and in which of them each location is.
#[derive(Debug)]
pub(super) struct PlaceTables<'a> {
    profile: &'a Profile,
    inlines: bool,
    mappings: Table<MappingId, PprofMapping>,
    /// `None` for a location in no module.
    of_location: Table<LocationId, Option<MappingId>>,
}

impl<'a> PlaceTables<'a> {
    pub(super) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let mut index: HashMap<(ModuleId, Option<u64>), MappingId> = HashMap::new();
        let mut mappings: Table<MappingId, PprofMapping> = Table::new();
        let mut of_location = Table::new();
        of_location.reserve(profile.locations.len());
        for location in &profile.locations {
            let Some(module) = location.module else {
                of_location.push(None);
                continue;
            };
            let address = location.relative;
            let delta = location.offset.map(|offset| offset.wrapping_sub(address));
            let id = *index.entry((module, delta)).or_insert_with(|| {
                mappings.push(PprofMapping {
                    module,
                    low: address,
                    high: address,
                    delta,
                    has: [false; 4],
                })
            });
            of_location.push(Some(id));
            if let Some(mapping) = mappings.get_mut(id) {
                mapping.low = mapping.low.min(address);
                mapping.high = mapping.high.max(address);
                for row in functions(profile, location, inlines) {
                    mapping.has[0] |= row.function.is_some();
                    mapping.has[1] |= row.file.is_some();
                    mapping.has[2] |= row.line != 0;
                    mapping.has[3] |= row.inlined;
                }
            }
        }
        Self { profile, inlines, mappings, of_location }
    }

    /// Writes all three tables.
    pub(super) fn write(&self, names: &mut StringTable, top: &mut PprofMessage) {
        let mut message = PprofMessage::default();
        for (id, mapping) in self.mappings.entries() {
            message.clear();
            message.number(1, id.to_bits().into());
            self.mapping(mapping, names, &mut message);
            top.message(MAPPING, &message);
        }
        let mut functions = PprofFunctions::default();
        for ((id, location), &mapping) in self.profile.locations.entries().zip(&self.of_location) {
            message.clear();
            message.number(1, id.to_bits().into());
            message.number(2, mapping.map_or(0, MappingId::to_bits).into());
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
            // Without a system name, pprof shows the name as it is instead of shortening it.
            message.number(2, name);
            let file = function.file.map(|file| names.index(self.profile.strings.get(file)));
            message.number(4, file.unwrap_or(0));
            top.message(FUNCTION, &message);
        }
    }

    fn mapping(&self, mapping: &PprofMapping, names: &mut StringTable, message: &mut PprofMessage) {
        let start = mapping.low - mapping.low % PAGE;
        message.number(2, start);
        message.number(3, (mapping.high - mapping.high % PAGE).saturating_add(PAGE));
        message.number(4, mapping.delta.map_or(0, |delta| start.wrapping_add(delta)));
        if let Some(module) = self.profile.modules.get(mapping.module) {
            message.number(5, names.index(self.profile.strings.get(module.path)));
            let id = module.build_id.map(|id| names.index(id.to_string().as_bytes()));
            message.number(6, id.unwrap_or(0));
        }
        for (field, has) in (7..).zip(mapping.has) {
            message.number(field, has.into());
        }
    }

    /// Writes the lines of a location, innermost first; none where no name is known.
    fn lines(
        &self,
        location: &LocationRow,
        known: &mut PprofFunctions,
        message: &mut PprofMessage,
    ) {
        let rows = functions(self.profile, location, self.inlines);
        if rows.iter().all(|row| row.function.is_none()) {
            return;
        }
        let mut line = PprofMessage::default();
        for row in rows {
            line.clear();
            line.number(1, known.id(row));
            line.number(2, row.line.into());
            line.number(3, row.column.into());
            message.message(4, &line);
        }
    }
}

/// Distinct functions: a name in a file.
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
