//! DWARF 2 to 5: from sorted addresses of a file to units, and from a unit's addresses to frames.
//!
//! # Why not `addr2line`
//!
//! The crate `addr2line`, on top of gimli, is queried for one address at a time. It stores a sorted table of the ranges
//! of all units, and all functions and rows of each queried unit.
//! Here, all addresses of a file are known in advance and sorted, and most contents of a unit are not needed:
//!
//! - Entries are most of the bytes, and most entries are types and variables. Abbreviations are compiled to steps, so
//!   that an entry of fixed size is skipped by one addition. Subtrees without a wanted address are skipped by
//!   `DW_AT_sibling`. gimli dispatches on the form of each attribute.
//! - A line program is executed once against the sorted addresses, and its rows are not stored.
//! - Names are read only for scopes that contain an address, and demangled once for all files.
//! - Units are independent, so all threads work on the units of all files.
//!
//! Measured on a program of 1,032 MB with 662 MB of entries and 86 MB of line programs, on two threads, with addresses
//! in 46 of 300 units: symbols are loaded in 18 to 38 ms, functions and lines found in 51 to 61 ms.
//! With all other work of a run, 227 MB are resident (`docs/BENCHMARKING.md`, "A large file"). `addr2line` was not
//! measured.
//!
//! All frames of some thousand random addresses equal those of `llvm-symbolizer`, except for names that share an
//! address (`docs/COMPARE.md`). Tests read damaged files without a panic.
//!
//! gimli decodes the rarely used parts, which are range lists and the index of packages. Its constants name tags,
//! attributes and forms.

mod abbrev;
mod candidates;
mod costs;
mod die_names;
mod file;
mod form;
mod lines;
mod rangeless;
mod ranges;
mod roots;
mod scopes;
mod split;
mod unit;
mod units;
mod walk;

pub(crate) use candidates::{CANDIDATES, Candidates};
pub(crate) use die_names::DwarfPair;
pub(crate) use file::{DwarfFile, DwarfSections, sections_to_load};
pub(crate) use lines::SharedLines;
pub(crate) use lines::header::FilePath;
pub(crate) use rangeless::RangelessUnits;
pub(crate) use scopes::ScopeName;
pub(crate) use split::{SplitImage, split_file, split_id};
pub(crate) use units::{
    FunctionName, UnitAddress, UnitDeclaration, UnitFrame, UnitJob, UnitNameId, UnitPathId,
    UnitResult, UnitSources, resolve,
};
