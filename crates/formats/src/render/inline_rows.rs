//! The table of inlines as it is written: with the inlined functions or without them.

use std::borrow::Cow;

use profile::query::functions;
use profile::{InlineRow, Profile};

/// The rows of the table of inlines, in the order of the locations, so that these own ranges of it also where rows are
/// left out.
pub(crate) struct InlineRows<'a> {
    pub(crate) inlines: Cow<'a, [InlineRow]>,
    /// Where each location's rows begin, and where the last one's end.
    pub(crate) starts: Vec<usize>,
}

impl<'a> InlineRows<'a> {
    /// Those of all functions, or with `inlines` unset those of functions that are not inlined.
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
