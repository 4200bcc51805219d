//! Names of function parts, replaced by the names of their functions.

use hashbrown::HashMap;
use options::NameOptions;
use profile::{InlineId, InlineRow, LocationRow, StringId, Strings, Table, whole_function};

/// Renames function parts (`parse.cold`, `parse.part.0`) to their functions, if `options` request it. The function
/// offset is then unknown, since the part begins elsewhere.
pub(super) fn name_parts(
    options: &NameOptions,
    locations: &mut [LocationRow],
    strings: &mut Strings,
    inlines: &mut Table<InlineId, InlineRow>,
) {
    if !options.fold_parts {
        return;
    }
    let mut known: HashMap<StringId, Option<StringId>> = HashMap::new();
    for location in locations {
        let outermost = inlines.as_mut_slice().get_mut(location.inlines());
        let Some(row) = outermost.and_then(<[_]>::last_mut) else { continue };
        let Some(name) = row.function else { continue };
        let whole = *known.entry(name).or_insert_with(|| {
            let whole = whole_function(strings.get(name)).map(<[u8]>::to_vec);
            whole.map(|whole| strings.intern(&whole))
        });
        if whole.is_some() {
            (row.function, location.function_offset) = (whole, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_get_the_name_of_their_function() {
        let (mut strings, mut inlines) = (Strings::default(), Table::new());
        let mut locations = Vec::new();
        for (name, inlined) in [("parse.cold", false), ("parse", false), ("parse.cold", true)] {
            let row =
                InlineRow { inlined, ..InlineRow::with_name(strings.intern(name.as_bytes())) };
            let first_inline = inlines.push(row);
            if inlined {
                inlines.push(InlineRow::with_name(strings.intern(b"main")));
            }
            locations.push(LocationRow {
                first_inline,
                n_inlines: if inlined { 2 } else { 1 },
                function_offset: Some(4),
                ..LocationRow::unnamed(None, 0x1000)
            });
        }
        let options = NameOptions { fold_parts: true, ..NameOptions::default() };
        name_parts(&options, &mut locations, &mut strings, &mut inlines);
        let name = |row: &InlineRow| row.function.map(|id| strings.get(id).to_vec());
        let names: Vec<Vec<u8>> = inlines.iter().filter_map(name).collect();
        assert_eq!(names, [&b"parse"[..], b"parse", b"parse.cold", b"main"]);
        let offsets: Vec<_> = locations.iter().map(|row| row.function_offset).collect();
        assert_eq!(offsets, [None, Some(4), Some(4)]);
    }
}
