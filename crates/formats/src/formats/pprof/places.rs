//! Mappings, locations and functions of a pprof profile.

use address::ModuleId;
use hashbrown::HashMap;

use super::Names;
use super::message::Message;
use profile::query::functions;
use profile::{InlineRow, LocationRow, Profile};

/// Fields of `Profile`.
const MAPPING: u32 = 3;
const LOCATION: u32 = 4;
const FUNCTION: u32 = 5;

/// Mappings begin and end at multiples of this.
const PAGE: u64 = 4096;

/// A part of a module in which addresses and file offsets differ by one number.
#[derive(Debug)]
struct Mapping {
    module: ModuleId,
    /// Lowest and highest address of a location in it.
    low: u64,
    high: u64,
    /// What file offsets are behind addresses (wrapping); `None` where the module has no offsets.
    delta: Option<u64>,
    /// Whether any location has a name, a file, a line, an inlined function.
    has: [bool; 4],
}

/// The mappings of a profile, and in which of them each location is.
#[derive(Debug)]
pub(super) struct Places<'a> {
    profile: &'a Profile,
    inlines: bool,
    mappings: Vec<Mapping>,
    /// By location: its mapping's number from 1, or 0.
    of_location: Vec<u32>,
}

impl<'a> Places<'a> {
    pub(super) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let mut index: HashMap<(ModuleId, Option<u64>), u32> = HashMap::new();
        let mut mappings: Vec<Mapping> = Vec::new();
        let mut of_location = Vec::with_capacity(profile.locations.len());
        for location in &profile.locations {
            let Some(module) = location.module else {
                of_location.push(0);
                continue;
            };
            let address = location.relative;
            let delta = location.offset.map(|offset| offset.wrapping_sub(address));
            let id = *index.entry((module, delta)).or_insert_with(|| {
                mappings.push(Mapping {
                    module,
                    low: address,
                    high: address,
                    delta,
                    has: [false; 4],
                });
                mappings.len() as u32
            });
            of_location.push(id);
            if let Some(mapping) = mappings.get_mut(id as usize - 1) {
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
    pub(super) fn write(&self, names: &mut Names, top: &mut Message) {
        let mut message = Message::default();
        for (id, mapping) in (1_u64..).zip(&self.mappings) {
            message.clear();
            message.number(1, id);
            self.mapping(mapping, names, &mut message);
            top.message(MAPPING, &message);
        }
        let mut functions = Functions::default();
        for ((id, location), &mapping) in
            (1_u64..).zip(&self.profile.locations).zip(&self.of_location)
        {
            message.clear();
            message.number(1, id);
            message.number(2, mapping.into());
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

    fn mapping(&self, mapping: &Mapping, names: &mut Names, message: &mut Message) {
        let start = mapping.low - mapping.low % PAGE;
        message.number(2, start);
        message.number(3, (mapping.high - mapping.high % PAGE).saturating_add(PAGE));
        message.number(4, mapping.delta.map_or(0, |delta| start.wrapping_add(delta)));
        if let Some(module) = self.profile.modules.get(mapping.module.index()) {
            message.number(5, names.index(self.profile.strings.get(module.path)));
            let id = module.build_id.map(|id| names.index(id.to_string().as_bytes()));
            message.number(6, id.unwrap_or(0));
        }
        for (field, has) in (7..).zip(mapping.has) {
            message.number(field, has.into());
        }
    }

    /// Writes the lines of a location, innermost first; none where no name is known.
    fn lines(&self, location: &LocationRow, known: &mut Functions, message: &mut Message) {
        let rows = functions(self.profile, location, self.inlines);
        if rows.iter().all(|row| row.function.is_none()) {
            return;
        }
        let mut line = Message::default();
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
struct Functions {
    rows: Vec<InlineRow>,
    index: HashMap<(Option<profile::StringId>, Option<profile::StringId>), u64>,
}

impl Functions {
    fn id(&mut self, row: &InlineRow) -> u64 {
        *self.index.entry((row.function, row.file)).or_insert_with(|| {
            self.rows.push(*row);
            self.rows.len() as u64
        })
    }
}
