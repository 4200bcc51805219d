//! DWARF 2 to 5: from sorted addresses of a file to units, and from a unit's addresses to frames.
//!
//! # Why there is a reader of its own
//!
//! The usual way is a context of the crate `addr2line` on top of gimli, which is asked for one address at a time: it
//! keeps a sorted table of the ranges of all units, and for each unit that was asked for all its functions and all its
//! rows. That is right where questions come one by one. Here the whole sorted set of a file's addresses is known before
//! anything is read, and most of what a unit holds is of no use:
//!
//! - Entries are most of the bytes, and most of them are types and variables. Abbreviations are compiled to steps, so
//!   that an entry is skipped in one addition where its size is fixed, and subtrees without a wanted address by
//!   `DW_AT_sibling`. gimli looks at the form of each attribute.
//! - A line program is run once against the sorted addresses and none of its rows is kept.
//! - Names are read only of scopes that hold an address, and demangled once for all files.
//! - Units are independent, so that all threads work on the units of all files.
//!
//! Of a program of 1,032 MB (662 MB of entries, 86 MB of line programs) of which 46 of 300 units are hit, symbols are
//! loaded in 18 to 38 ms and functions and lines found in 51 to 61 ms, on two threads; with all of a run's other work
//! 227 MB are resident (`docs/BENCHMARKING.md`, "A large file"). `addr2line` was not timed beside it. What guards the
//! reader: all frames of some thousand random addresses equal those of `llvm-symbolizer` but for names that share an
//! address (`docs/COMPARE.md`), and damaged files are read in tests without a panic.
//!
//! gimli decodes what is not read often: range lists, the index of packages; and its
//! constants name tags, attributes and forms.

mod abbrev;
mod candidates;
mod costs;
mod die_names;
mod file;
mod form;
mod lines;
mod ranges;
mod roots;
mod scopes;
mod silent;
mod split;
mod unit;
mod units;
mod walk;

pub(crate) use candidates::{CANDIDATES, Candidates};
pub(crate) use die_names::DwarfPair;
pub(crate) use file::{DwarfFile, DwarfSections, sections_to_load};
pub(crate) use lines::SharedLines;
pub(crate) use lines::header::FilePath;
pub(crate) use scopes::ScopeName;
pub(crate) use silent::SilentUnits;
pub(crate) use split::{SplitImage, split_file, split_id};
pub(crate) use units::{
    FunctionName, UnitAddress, UnitDeclaration, UnitFrame, UnitJob, UnitNameId, UnitPathId,
    UnitResult, UnitSources, resolve,
};
