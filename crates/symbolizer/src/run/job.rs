//! Data passed between the rounds of a run: the files of a request, the units to query, and their answers.

use std::borrow::Cow;
use std::path::PathBuf;

use address::Svma;
use budget::{Budget, Exhausted, Meter};
use gopclntab::{GoFunctions, GoTable};
use image_store::Image;

use crate::dwarf::{Candidates, DwarfFile, DwarfSections, UnitResult};
use crate::elf::SymbolTable;
use crate::languages::Proof;

/// The contents of a request's files.
#[derive(Default)]
pub(crate) struct LoadedFiles<'a> {
    pub(crate) tables: Vec<SymbolTable<'a>>,
    /// Index of the image's `.dynsym` in `tables`.
    pub(crate) dynsym: Option<usize>,
    /// The file of `main`.
    pub(crate) main_image: Option<&'a Image>,
    pub(crate) main: Option<DwarfSections<'a>>,
    pub(crate) alt: Option<DwarfSections<'a>>,
    /// The table of Go functions of the image.
    pub(crate) go: Option<GoTable>,
    /// The limit that was exceeded in the search for it.
    pub(crate) go_exhausted: Option<Exhausted>,
    /// Unreadable symbol tables and tables of Go functions: the file, and their file offsets.
    pub(crate) damage: Vec<(PathBuf, u64)>,
}

impl<'a> LoadedFiles<'a> {
    /// Adds the symbols of a file, if it has such a table.
    pub(crate) fn add_table(&mut self, image: &'a Image, symbols: &str, strings: &str) {
        match SymbolTable::new(image, symbols, strings) {
            Ok(table) => self.tables.extend(table),
            Err(place) => self.damage.push((image.path().to_owned(), place.0)),
        }
    }

    /// Finds the Go functions of a file, if it has such a table.
    pub(crate) fn find_go(&mut self, image: &'a Image, budget: &Budget) {
        let meter = Meter::new(budget, image.bytes().len());
        match GoTable::find(image, &|| meter.steps(1).is_ok()) {
            None => {}
            Some(Ok(table)) => self.go = Some(table),
            Some(Err(bad)) if bad.is_out_of_steps => self.go_exhausted = meter.exhausted(),
            Some(Err(bad)) => self.damage.push((image.path().to_owned(), bad.offset)),
        }
    }
}

/// A request's files, with the data that all addresses need.
pub(crate) struct OpenedFiles<'l> {
    /// For each address the symbol that covers it: start and name.
    pub(crate) symbols: Vec<Option<SymbolName<'l>>>,
    /// True if there is any source of names.
    pub(crate) has_symbols: bool,
    pub(crate) main: Option<DwarfFile<'l>>,
    pub(crate) alt: Option<DwarfFile<'l>>,
    /// The Go functions of the image.
    pub(crate) go: Option<GoFunctions<'l>>,
    pub(crate) candidates: Candidates,
    /// Languages that the file is proven to contain.
    pub(crate) languages: Proof<'l>,
    /// Damaged symbol tables: the file, and their file offsets.
    pub(crate) damaged_tables: Vec<(PathBuf, u64)>,
    /// The exceeded limit on symbol names.
    pub(crate) no_more_names: Option<Exhausted>,
}

/// A symbol that covers an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolName<'l> {
    pub(crate) start: u64,
    pub(crate) name: Cow<'l, [u8]>,
}

/// Location of the frames of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressAnswer {
    /// Index of the finished job.
    pub(crate) job: u32,
    /// Index of the address in it.
    pub(crate) index: u32,
    /// True if no other unit needs to be queried.
    pub(crate) complete: bool,
}

/// Key of units that share a line program: the request, the offset of the program and the size of its addresses.
pub(crate) type ProgramKey = (u32, u64, u8);

/// A finished unit.
pub(crate) struct FinishedUnit<'f> {
    pub(crate) job: PlannedUnit,
    pub(crate) result: UnitResult<'f>,
}

/// A unit that is queried for some addresses of its file.
pub(crate) struct PlannedUnit {
    pub(crate) request: u32,
    pub(crate) unit: u32,
    /// Indices of the request's addresses.
    pub(crate) indices: Vec<u32>,
    pub(crate) addresses: Vec<Svma>,
    pub(crate) named: Vec<bool>,
}
