//! Functions by address: from the frame descriptions and the symbols of the files, read without any code of the
//! command.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};

use crate::truth::stepped::Mapping;

/// The function that contains an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContainingFunction {
    /// File and name without the suffix of a cold part, or file and first address.
    pub(super) function: String,
    /// First address of the function; for a cold part, that of the function.
    pub(super) start: u64,
    /// True in the linkage table or in the dynamic linker.
    pub(super) linkage: bool,
    /// True in a thunk or an outlined piece, which compilers create: a chain may show or omit it.
    pub(super) made_up: bool,
}

/// Functions of a process.
#[derive(Debug, Default)]
pub(super) struct Functions {
    mappings: Vec<Mapping>,
    files: BTreeMap<String, File>,
    places: BTreeMap<u64, ContainingFunction>,
}

/// Functions of a file, by addresses that the file states.
#[derive(Debug, Default)]
struct File {
    /// Loaded segments: offset in the file, address and size.
    segments: Vec<(u64, u64, u64)>,
    /// First address and end address.
    ranges: BTreeMap<u64, u64>,
    /// Address, end and name.
    symbols: BTreeMap<u64, (u64, String)>,
    /// Linkage tables.
    tables: Vec<(u64, u64)>,
}

impl Functions {
    /// Sets the mappings of the process from now on.
    pub(super) fn map(&mut self, mappings: Vec<Mapping>) -> Result<()> {
        for mapping in mappings.iter().filter(|it| it.executable && it.name.starts_with('/')) {
            if !self.files.contains_key(&mapping.name) {
                let file = File::read(Path::new(&mapping.name))
                    .with_context(|| format!("{} cannot be read", mapping.name))?;
                self.files.insert(mapping.name.clone(), file);
            }
        }
        self.mappings = mappings;
        self.places.clear();
        Ok(())
    }

    /// Returns the function that contains an address.
    pub(super) fn at(&mut self, addr: u64) -> &ContainingFunction {
        if !self.places.contains_key(&addr) {
            let place = self.find(addr);
            self.places.insert(addr, place);
        }
        &self.places[&addr]
    }

    fn find(&self, addr: u64) -> ContainingFunction {
        let mapping = self.mappings.iter().find(|it| (it.start..it.end).contains(&addr));
        let name = mapping.map_or("", |mapping| mapping.name.as_str());
        let short = name.rsplit('/').next().unwrap_or_default();
        let unknown = || ContainingFunction {
            function: format!("{short}+{addr:#x}"),
            start: addr,
            linkage: false,
            made_up: false,
        };
        let (Some(mapping), Some(file)) = (mapping, self.files.get(name)) else { return unknown() };
        let in_process = addr;
        let Some(addr) = file.address(addr - mapping.start + mapping.offset) else {
            return unknown();
        };
        let linkage = file.tables.iter().any(|&(start, end)| (start..end).contains(&addr))
            || short.starts_with("ld-linux");
        let range = file.ranges.range(..=addr).next_back().filter(|&(_, &end)| addr < end);
        let symbol = file.symbols.range(..=addr).next_back().filter(|(_, it)| addr < it.0);
        let start = range.map(|(&start, _)| start);
        // If a function has several names, its first address decides, unless it is a part of another function.
        let named = symbol.map(|(&start, (_, name))| (start, name.as_str()));
        let part = named.and_then(|(_, name)| name.split_once(".cold").map(|(whole, _)| whole));
        let whole = match (part, start, named) {
            (Some(whole), _, _) => whole.to_owned(),
            (None, _, Some((_, name))) => name.to_owned(),
            (None, Some(start), None) => format!("{start:#x}"),
            (None, None, None) => format!("{addr:#x}"),
        };
        let made_up = named.is_some_and(|(_, name)| {
            ["_ZThn", "_ZTv", "_ZTc", "OUTLINED_FUNCTION"].iter().any(|it| name.starts_with(it))
        });
        let first = part.and_then(|whole| file.start_of(whole)).or(start).or(named.map(|it| it.0));
        let start = in_process.wrapping_add(first.unwrap_or(addr).wrapping_sub(addr));
        ContainingFunction { function: format!("{short}:{whole}"), start, linkage, made_up }
    }
}

impl File {
    fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)?;
        let file = object::File::parse(&*bytes)?;
        let mut found = Self::default();
        for segment in file.segments() {
            let (offset, _) = segment.file_range();
            found.segments.push((offset, segment.address(), segment.size()));
        }
        for section in file.sections() {
            if section.name().is_ok_and(|name| name.starts_with(".plt")) {
                found.tables.push((section.address(), section.address() + section.size()));
            }
        }
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let is_function = symbol.kind() == object::SymbolKind::Text;
            if is_function && symbol.is_definition() && symbol.size() > 0 {
                let name = symbol.name().unwrap_or_default().to_owned();
                let end = symbol.address() + symbol.size();
                found.symbols.entry(symbol.address()).or_insert((end, name));
            }
        }
        if let Some(section) = file.section_by_name(".eh_frame") {
            found.describe(&section.uncompressed_data()?, section.address())?;
        }
        Ok(found)
    }

    /// Reads the ranges of the frame descriptions.
    fn describe(&mut self, bytes: &[u8], address: u64) -> Result<()> {
        let section = EhFrame::new(bytes, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(address);
        let mut entries = section.entries(&bases);
        while let Some(entry) = entries.next()? {
            if let CieOrFde::Fde(partial) = entry {
                let fde = partial
                    .parse(|section, bases, offset| section.cie_from_offset(bases, offset))?;
                self.ranges.insert(fde.initial_address(), fde.initial_address() + fde.len());
            }
        }
        Ok(())
    }

    /// Returns the first address of the function of that name.
    fn start_of(&self, wanted: &str) -> Option<u64> {
        self.symbols.iter().find(|(_, (_, name))| name == wanted).map(|(&start, _)| start)
    }

    /// Returns the address that the file states for an offset.
    fn address(&self, offset: u64) -> Option<u64> {
        let inside =
            |&&(start, _, size): &&(u64, u64, u64)| (start..start + size).contains(&offset);
        let &(start, address, _) = self.segments.iter().find(inside)?;
        Some(offset - start + address)
    }
}
