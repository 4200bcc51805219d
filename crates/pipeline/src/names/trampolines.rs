//! Names of signal trampolines, which are recognized by their code. C libraries have no symbol for them, so a preceding
//! symbol without a size (musl's `setjmp`) would name them.

use std::sync::Arc;

use address::Svma;
use hashbrown::HashMap;
use image_store::{LoadedImage, is_within};
use rayon::prelude::*;
use unwinder::signal_trampoline;

use super::location_names::LocationNames;

/// The name in C libraries that have a symbol for it.
const NAME: &[u8] = b"__restore_rt";

/// Minimum number of addresses that a task examines.
const TOGETHER: usize = 1 << 10;

/// Names the locations of a file that are in a trampoline and returns their indexes. `places` are pairs of file address
/// and index.
/// If a symbol begins at the trampoline, or if its size covers it, the symbol's name stays.
pub(super) fn name_trampolines(
    named: &mut LocationNames<'_>,
    file: &Arc<LoadedImage>,
    places: &[(u64, u32)],
) -> Vec<u32> {
    let mut done = Vec::new();
    let mut functions: HashMap<u64, u32> = HashMap::new();
    // Collected at the first trampoline, so that symbols are read only once.
    let mut sized: Option<Vec<(u64, u64)>> = None;
    let start = |&(svma, location): &(u64, u32)| {
        Some((svma, location, signal_trampoline(file.image(), Svma(svma))?))
    };
    let found: Vec<_> = places.par_iter().with_min_len(TOGETHER).filter_map(start).collect();
    for (svma, location, start) in found {
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
