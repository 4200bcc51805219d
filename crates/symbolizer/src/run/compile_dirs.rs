//! The compile directories of addresses: `DW_AT_comp_dir` of their units.

use budget::MemoryUse;
use image_store::Image;

use crate::addresses::AddressIndex;
use crate::bytes::NameText;
use crate::dwarf::{Candidates, DwarfFile, DwarfSections};
use crate::request::{SymbolRequest, SymbolizeOptions};

/// Returns for each address of a request the directory in which its unit was compiled, as recorded; `None` if no unit
/// contains the address, or states it.
///
/// [`symbolize`](crate::symbolize) does not answer this, since no output of a run needs it: it reads the roots of the
/// units again.
#[must_use]
pub fn compile_dirs(
    request: &SymbolRequest<'_>,
    options: &SymbolizeOptions<'_>,
) -> Vec<Option<Vec<u8>>> {
    let source = &request.source;
    let held = options.held(MemoryUse::Symbols);
    let Some(main) = source.debug.and_then(load).or_else(|| load(source.image)) else {
        return vec![None; request.addresses.len()];
    };
    let alt = source.alt.and_then(load);
    let alt = alt.as_ref().map(|alt| DwarfFile::new(alt, &options.budget, &held));
    let file = DwarfFile::new(&main, &options.budget, &held);
    let candidates = Candidates::of(&file, &AddressIndex::new(request.addresses));
    let directory = |number: Option<u32>| {
        let unit = file.units.get(number? as usize)?;
        let text = file.string(unit, unit.root.comp_dir?, alt.as_ref())?;
        NameText::short(text).map(<[u8]>::to_vec)
    };
    candidates.units.iter().map(|units| directory(*units.first()?)).collect()
}

pub(super) fn load(image: &Image) -> Option<DwarfSections<'_>> {
    DwarfSections::load(image, false)
}
