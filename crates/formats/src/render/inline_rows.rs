//! The table of inlines as written: with or without the inlined functions.

use std::borrow::Cow;

use profile::query::functions;
use profile::{InlineRow, Profile};

/// Rows of the inlines table, in the order of the locations. Each location owns a range of rows, even if some rows are
/// omitted.
pub(crate) struct InlineRows<'a> {
    pub(crate) inlines: Cow<'a, [InlineRow]>,
    /// Start of each location's rows, followed by the end of the last location's.
    pub(crate) starts: Vec<usize>,
}

impl<'a> InlineRows<'a> {
    /// Collects the rows of all functions or, without `inlines`, of functions that are not inlined.
    pub(crate) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let mut end = 0;
        let starts = profile.locations.iter().map(|location| {
            let start = end;
            end += functions(profile, location, inlines).len();
            start
        });
        let mut starts: Vec<usize> = starts.collect();
        starts.push(end);
        let mut stated = profile.locations.iter().zip(&starts);
        let in_place = stated.all(|(location, &start)| {
            location.n_inlines == 0 || location.first_inline.index() == start
        });
        let inlines = if in_place && end == profile.inlines.len() {
            Cow::Borrowed(profile.inlines.as_slice())
        } else {
            let rows = profile.locations.iter();
            rows.flat_map(|row| functions(profile, row, inlines)).copied().collect()
        };
        Self { inlines, starts }
    }
}
