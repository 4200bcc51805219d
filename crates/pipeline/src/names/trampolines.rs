//! The name of signal trampolines, which are known by their code: C libraries leave theirs without a symbol, so that a
//! symbol without a size before it (musl's `setjmp`) would name it.

use std::sync::Arc;

use address::Svma;
use hashbrown::HashMap;
use image_store::{LoadedImage, is_within};
use unwinder::signal_trampoline;

use super::named::Named;

/// What they are called in C libraries that name them.
const NAME: &[u8] = b"__restore_rt";

/// Names the locations of a file that are in a trampoline, each an address of the file and an index; gives the indexes of
/// those. What a symbol names that begins there, or whose size reaches there, keeps its name.
pub(super) fn name_trampolines(
    named: &mut Named<'_>,
    file: &Arc<LoadedImage>,
    places: &[(u64, u32)],
) -> Vec<u32> {
    let mut done = Vec::new();
    let mut functions: HashMap<u64, u32> = HashMap::new();
    // Made for the first trampoline: symbols are gone through once.
    let mut sized: Option<Vec<(u64, u64)>> = None;
    for &(svma, location) in places {
        let Some(start) = signal_trampoline(file.image(), Svma(svma)) else { continue };
        if named.slides.contains_key(&location)
            || named.function_start(location) == Some(start)
            || is_within(sized.get_or_insert_with(|| file.image().symbol_ranges()), svma)
        {
            continue;
        }
        let function = functions.entry(start.0);
        let function = *function.or_insert_with(|| named.list(NAME.to_vec(), start.0));
        named.take_listed(location, function);
        done.push(location);
    }
    done
}
