//! Names for functions that have none but whose start is known from unwind information: the module and the address of
//! the start, as the file states it (`cc1plus+0x45a0`). So what is of one function stays together.

use std::borrow::Cow;
use std::sync::Arc;

use address::Svma;
use budget::Budget;
use hashbrown::HashMap;
use module_map::{ImageStore, LoadedImage, Timeline};
use profile::LocationRow;
use unwinder::FunctionStarts;

use super::named::Named;

/// A location that nothing named: its index, its address in the file, and the file.
pub(super) struct NamelessPlace {
    pub(super) location: u32,
    pub(super) address: Svma,
    pub(super) file: Arc<LoadedImage>,
}

/// Names locations by where their functions begin; gives the indexes of those that it could name.
pub(super) fn name_by_start(
    named: &mut Named<'_>,
    places: &[NamelessPlace],
    (timeline, images): (&Timeline, &ImageStore),
) -> Vec<u32> {
    let budget: Budget = images.options().budget;
    let mut files: HashMap<u32, FunctionStarts> = HashMap::new();
    let mut starts: HashMap<u32, Svma> = HashMap::new();
    for NamelessPlace { location, address, file } in places {
        let known = files
            .entry(file.serial)
            .or_insert_with(|| FunctionStarts::new(Arc::clone(file), &budget));
        if let Some(start) = known.start_of(*address, images) {
            starts.insert(*location, start);
        }
    }
    let mut done = Vec::new();
    // The index of the location that is asked for.
    let mut next = 0_u32..;
    named.name_each(|location, source| {
        let index = next.next()?;
        let start = starts.get(&index).filter(|_| source.is_nothing())?;
        let name = name_of(location, *start, timeline)?;
        done.push(index);
        Some((Cow::Owned(name), start.0))
    });
    done
}

/// `module+0xstart`.
fn name_of(location: &LocationRow, start: Svma, timeline: &Timeline) -> Option<Vec<u8>> {
    let module = timeline.modules().get(location.module?.index())?;
    let name = module.path.rsplit(|&byte| byte == b'/').next()?;
    let mut text = name.to_vec();
    text.extend_from_slice(format!("+{:#x}", start.0).as_bytes());
    Some(text)
}
