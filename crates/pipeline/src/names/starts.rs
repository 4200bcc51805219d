//! Names for nameless functions with a start known from unwind information: the module and the file address of the
//! start (`cc1plus+0x45a0`). This groups the addresses of one function.

use std::ops::Range;
use std::sync::Arc;

use address::{ModuleId, Svma};
use hashbrown::HashMap;
use image_store::{ImageStore, LoadedImage};
use module_map::Timeline;
use profile::LocationRow;
use unwinder::FunctionStarts;

use super::in_files::NamelessAddress;
use super::location_names::LocationNames;

/// A location without a name: its index, its file address, and the file.
pub(super) struct NamelessLocation {
    pub(super) location: u32,
    pub(super) address: Svma,
    pub(super) file: Arc<LoadedImage>,
}

impl From<NamelessAddress> for NamelessLocation {
    fn from(nameless: NamelessAddress) -> Self {
        let NamelessAddress { location, address, file, .. } = nameless;
        Self { location, address, file }
    }
}

/// Names locations by the starts of their functions; returns the indexes of the named ones, ascending. `places` are
/// grouped by file and sorted by address.
pub(super) fn name_by_start(
    named: &mut LocationNames<'_>,
    places: &[NamelessLocation],
    timeline: &Timeline,
    images: &ImageStore,
) -> Vec<u32> {
    let mut files: HashMap<u32, FunctionStarts> = HashMap::new();
    // The file and function of the previous location, which mostly is that of the next one, too.
    let mut last: Option<(u32, Range<Svma>)> = None;
    let mut names: HashMap<(Option<ModuleId>, Svma), Option<u32>> = HashMap::new();
    let mut done = Vec::new();
    for NamelessLocation { location: at, address, file } in places {
        let Some(location) = named.nameless(*at) else { continue };
        let is_last = |(serial, range): &(u32, Range<Svma>)| {
            *serial == file.serial && range.contains(address)
        };
        if !last.as_ref().is_some_and(is_last) {
            let starts = files.entry(file.serial);
            let starts = starts.or_insert_with(|| FunctionStarts::new(Arc::clone(file)));
            let range = starts.range_of(*address, images);
            last = range.map(|(start, end)| (file.serial, start..end));
        }
        let Some((_, Range { start, .. })) = last else { continue };
        let name = names.entry((location.module, start));
        let name = name.or_insert_with(|| {
            name_of(&location, start, timeline).map(|name| named.list(name, start.0))
        });
        if let Some(name) = *name {
            named.take_listed(*at, name);
            done.push(*at);
        }
    }
    done.sort_unstable();
    done
}

/// Returns `module+0xstart`.
fn name_of(location: &LocationRow, start: Svma, timeline: &Timeline) -> Option<Vec<u8>> {
    let module = timeline.modules().get(location.module?.index())?;
    let name = module.path.rsplit(|&byte| byte == b'/').next()?;
    let mut text = name.to_vec();
    text.extend_from_slice(format!("+{:#x}", start.0).as_bytes());
    Some(text)
}
