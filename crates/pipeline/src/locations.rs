//! From the names that were found to the rows of locations and of the functions at them.

use std::ops::Range;

use profile::{InlineId, InlineRow, LocationId, LocationRow, StringId, Strings, Table};
use rayon::prelude::*;

use crate::names::{Resolved, Source};

/// Locations whose rows are made as one.
const CHUNK: usize = 1 << 12;

/// The rows of the locations; the inline rows that they own come behind those that there are.
pub(crate) fn locations(
    resolved: &Resolved,
    strings: &mut Strings,
    inlines: &mut Table<InlineId, InlineRow>,
) -> Table<LocationId, LocationRow> {
    let names = Names::intern(resolved, strings);
    let length = resolved.locations.len();
    let chunks: Vec<Rows> = (0..length.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let start = chunk * CHUNK;
            Rows::of(resolved, &names, start..length.min(start + CHUNK))
        })
        .collect();
    let mut all = Table::new();
    all.reserve(length);
    inlines.reserve(chunks.iter().map(|rows| rows.inlines.len()).sum());
    for rows in chunks {
        let before = inlines.len() as u32;
        let moved = |row: LocationRow| {
            let first_inline = InlineId::new(row.first_inline.as_u32() + before);
            LocationRow { first_inline, ..row }
        };
        all.extend(rows.locations.into_iter().map(moved));
        inlines.extend(rows.inlines);
    }
    all
}

/// The ids of names.
struct Names {
    /// Of those that files gave.
    of_files: Vec<StringId>,
    /// Of those of lists.
    listed: Vec<StringId>,
}

impl Names {
    /// Adds all names to the strings; those of lists in the order of the locations.
    fn intern(resolved: &Resolved, strings: &mut Strings) -> Self {
        let of_files: Vec<&[u8]> = resolved.symbols.names.iter().collect();
        let of_files = strings.intern_all(&of_files);
        let mut listed = vec![StringId::new(0); resolved.listed.len()];
        for source in &resolved.names {
            let Source::List(at) = *source else { continue };
            let slot = listed.get_mut(at as usize).zip(resolved.listed.get(at as usize));
            if let Some((slot, symbol)) = slot {
                *slot = strings.intern(&symbol.name);
            }
        }
        Self { of_files, listed }
    }

    fn of_file(&self, id: Option<symbolizer::NameId>) -> Option<StringId> {
        self.of_files.get(id?.0 as usize).copied()
    }
}

/// The rows of some locations; first inline rows are counted from the first of these.
#[derive(Default)]
struct Rows {
    locations: Vec<LocationRow>,
    inlines: Vec<InlineRow>,
}

impl Rows {
    fn of(resolved: &Resolved, names: &Names, range: Range<usize>) -> Self {
        let mut rows = Self::default();
        rows.locations.reserve_exact(range.len());
        for index in range {
            let Some(location) = resolved.locations.get(index) else { break };
            let first_inline = rows.inlines.len() as u32;
            let start = rows.push_functions(resolved, names, index);
            rows.locations.push(LocationRow {
                module: location.module,
                relative: location.relative,
                offset: resolved.offsets.get(index).copied().flatten(),
                function_offset: start.and_then(|start| location.relative.checked_sub(start)),
                first_inline: InlineId::new(first_inline),
                n_inlines: rows.inlines.len() as u32 - first_inline,
            });
        }
        rows
    }

    /// Adds the functions at a location; gives where the outermost of them begins.
    fn push_functions(&mut self, resolved: &Resolved, names: &Names, index: usize) -> Option<u64> {
        match *resolved.names.get(index)? {
            Source::Nothing => None,
            Source::File(request, at) => {
                let answer = resolved.symbols.addresses.get(request as usize)?.get(at as usize)?;
                let range = answer.frames.start as usize..answer.frames.end as usize;
                let frames = resolved.symbols.frames.get(range).unwrap_or_default();
                self.inlines.extend(frames.iter().map(|frame| InlineRow {
                    function: names.of_file(frame.function),
                    file: names.of_file(frame.file),
                    line: frame.line,
                    column: frame.column,
                    inlined: frame.inlined,
                }));
                let slide = resolved.slides.get(&(index as u32)).copied().unwrap_or(0);
                answer.function_start.map(|start| start.0.wrapping_add(slide))
            }
            Source::List(at) => {
                let listed = resolved.listed.get(at as usize)?;
                self.inlines.push(InlineRow {
                    function: names.listed.get(at as usize).copied(),
                    file: None,
                    line: 0,
                    column: 0,
                    inlined: false,
                });
                Some(listed.start)
            }
        }
    }
}
