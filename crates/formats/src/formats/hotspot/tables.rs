//! Definitions in the stream so far: strings, locations and symbols, each before its first use.

use hashbrown::HashMap;

use super::message::{MessageKind, Stream};
use crate::render::truncation::in_table;
use profile::query::functions;
use profile::{InlineRow, LocationId, LocationRow, ModuleKind, ModuleRow, Profile, StringId};

/// Id in the stream that means no location or no string.
pub(super) const NONE: i32 = -1;

/// Process id of kernel locations.
const KERNEL: u32 = u32::MAX;

/// Definitions so far, and the stream that new ones are written to.
#[derive(Debug)]
pub(super) struct Definitions<W> {
    pub(super) stream: Stream<W>,
    inlines: bool,
    /// By string of the profile: its id in the stream.
    strings: Vec<i32>,
    n_strings: i32,
    /// By path: id of its last component.
    short: HashMap<StringId, i32>,
    /// By address in the process and location of the profile: the innermost function location.
    functions: HashMap<(u64, LocationId), i32>,
    /// By process, address and location of the profile: the address location.
    addresses: HashMap<(u32, u64, LocationId), i32>,
    n_locations: i32,
}

impl<W> Definitions<W> {
    pub(super) fn new(stream: Stream<W>, inlines: bool) -> Self {
        Self {
            stream,
            inlines,
            strings: Vec::new(),
            n_strings: 0,
            short: HashMap::new(),
            functions: HashMap::new(),
            addresses: HashMap::new(),
            n_locations: 0,
        }
    }

    /// Returns the address location, defined on its first use. `pid` is ignored for kernel frames.
    pub(super) fn address(
        &mut self,
        profile: &Profile,
        pid: address::Pid,
        addr: u64,
        at: LocationId,
        kernel: bool,
    ) -> i32 {
        let pid = if kernel { KERNEL } else { pid.0 as u32 };
        if let Some(&id) = self.addresses.get(&(pid, addr, at)) {
            return id;
        }
        let parent = self.function(profile, addr, at, kernel);
        let location = profile.locations.get(at);
        let innermost =
            location.and_then(|location| functions(profile, location, self.inlines).first());
        let id = self.location(profile, addr, innermost, pid, parent);
        self.addresses.insert((pid, addr, at), id);
        id
    }

    /// Returns the innermost function location of a location of the profile. All of its function locations are defined
    /// on the first use.
    fn function(&mut self, profile: &Profile, addr: u64, at: LocationId, kernel: bool) -> i32 {
        if let Some(&id) = self.functions.get(&(addr, at)) {
            return id;
        }
        let Some(location) = profile.locations.get(at) else { return NONE };
        let rows = functions(profile, location, self.inlines);
        let mut parent = NONE;
        for row in rows.iter().rev() {
            parent = self.symbol(profile, location, addr, Some(row), kernel, parent);
        }
        if rows.is_empty() {
            parent = self.symbol(profile, location, addr, None, kernel, NONE);
        }
        self.functions.insert((addr, at), parent);
        parent
    }

    /// Defines a function location and its symbol. Returns the location.
    fn symbol(
        &mut self,
        profile: &Profile,
        location: &LocationRow,
        addr: u64,
        row: Option<&InlineRow>,
        kernel: bool,
        parent: i32,
    ) -> i32 {
        let module = location.module.and_then(|id| profile.modules.get(id));
        let name = row.and_then(|row| row.function);
        let name = name.map_or(NONE, |name| self.string(profile, name));
        let (binary, path) = module.map_or((NONE, NONE), |module| self.module(profile, module));
        let pid = if kernel { KERNEL } else { 0 };
        let id = self.location(profile, addr, row, pid, parent);
        let stream = &mut self.stream;
        stream.begin(MessageKind::Symbol);
        stream.i32(id);
        stream.i32(name);
        stream.i32(binary);
        stream.i32(path);
        stream.bool(kernel);
        stream.end();
        id
    }

    fn location(
        &mut self,
        profile: &Profile,
        address: u64,
        row: Option<&InlineRow>,
        pid: u32,
        parent: i32,
    ) -> i32 {
        let file = row.and_then(|row| row.file).map_or(NONE, |file| self.string(profile, file));
        let id = self.n_locations;
        self.n_locations += 1;
        let stream = &mut self.stream;
        stream.begin(MessageKind::Location);
        stream.i32(id);
        stream.u64(address);
        stream.i32(file);
        stream.u32(pid);
        // -1 if line or column is unknown.
        stream.i32(row.map_or(-1, |row| if row.line == 0 { -1 } else { row.line as i32 }));
        stream.i32(row.map_or(-1, |row| if row.column == 0 { -1 } else { row.column as i32 }));
        stream.i32(parent);
        stream.end();
        id
    }

    /// Returns the ids of a module's file name and of its recorded path.
    fn module(&mut self, profile: &Profile, module: &ModuleRow) -> (i32, i32) {
        let path = self.string(profile, module.path);
        if let Some(&short) = self.short.get(&module.path) {
            return (short, path);
        }
        let name = profile.strings.get(module.path);
        let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
        let in_brackets = module.kind == ModuleKind::Kernel || last.is_empty();
        let short = if in_brackets { path } else { self.define(last) };
        self.short.insert(module.path, short);
        (short, path)
    }

    /// Returns the id of a string, defined on its first use.
    pub(super) fn string(&mut self, profile: &Profile, id: StringId) -> i32 {
        let text = profile.strings.get(id);
        if text.is_empty() {
            return NONE;
        }
        let index = id.index();
        if let Some(&known) = self.strings.get(index)
            && known != NONE
        {
            return known;
        }
        let number = self.define(text);
        if self.strings.len() <= index {
            // The profile's strings may grow while it is written.
            self.strings.resize(profile.strings.len().max(index + 1), NONE);
        }
        if let Some(slot) = self.strings.get_mut(index) {
            *slot = number;
        }
        number
    }

    /// Defines a string and returns its id.
    pub(super) fn define(&mut self, text: &[u8]) -> i32 {
        let number = self.n_strings;
        self.n_strings += 1;
        self.stream.begin(MessageKind::String);
        self.stream.i32(number);
        self.stream.bytes(&in_table(text));
        self.stream.end();
        number
    }
}
