//! DWARF 2 to 5: from sorted addresses of a file to units, and from a unit's addresses to frames.

mod abbrev;
mod die_names;
mod file;
mod form;
mod lines;
mod ranges;
mod split;
mod unit;
mod units;
mod walk;

pub(crate) use die_names::DwarfPair;
pub(crate) use file::{DwarfFile, DwarfSections, prefetch};
pub(crate) use split::{SplitImage, split_file, split_id};
pub(crate) use units::{
    CANDIDATES, UnitJob, UnitResult, candidates, resolve, units_without_ranges,
};
