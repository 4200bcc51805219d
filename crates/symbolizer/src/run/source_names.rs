//! The source files that the debug information of a file names.

use budget::{MemoryUse, Resource};
use hashbrown::HashSet;

use super::compile_dirs::load;
use crate::dwarf::{DwarfFile, FilePath};
use crate::request::{SymbolSource, SymbolizeOptions};

/// Returns a path of the debug information whose last component is `file_name` and for which `is_wanted` is true, as
/// recorded; `None` if there is none.
///
/// It reads the headers of all line programs, which no run needs.
#[must_use]
pub fn named_source(
    source: &SymbolSource<'_>,
    options: &SymbolizeOptions<'_>,
    file_name: &[u8],
    is_wanted: &dyn Fn(&[u8]) -> bool,
) -> Option<Vec<u8>> {
    let held = options.held(MemoryUse::Symbols);
    let main = source.debug.and_then(load).or_else(|| load(source.image))?;
    let alt = source.alt.and_then(load);
    let alt = alt.as_ref().map(|alt| DwarfFile::new(alt, &options.budget, &held));
    let file = DwarfFile::new(&main, &options.budget, &held);
    let mut bytes = file.costs.whole(Resource::NameBytes);
    let mut seen = HashSet::new();
    for unit in &file.units {
        // Units that share a program and a directory have the same files.
        let Some(names) = file.file_names(unit) else { continue };
        if !seen.insert((unit.root.line_program, unit.root.comp_dir)) || options.is_cancelled() {
            continue;
        }
        let mut text = |value| file.string(unit, value, alt.as_ref());
        let comp_dir = unit.root.comp_dir.and_then(&mut text);
        let unit_name = unit.root.name.and_then(&mut text);
        for number in 0..=names.count() {
            let path = FilePath::of(names, number, comp_dir, unit_name, &mut text);
            let path = path.filter(|path| path.has_file_name(file_name));
            let Some(path) = path else { continue };
            let path = path.join(&mut bytes).ok()?;
            if let Some(path) = path.filter(|path| is_wanted(path)) {
                return Some(path);
            }
        }
    }
    None
}
