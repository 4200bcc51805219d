//! File search options that were not given yet and may find a file.

use image_store::{DEBUG_DIR, FileOptions};
use options::UntriedOptions;

/// Returns the options that were not tried.
pub(super) fn untried(options: &FileOptions) -> UntriedOptions {
    let is_here = options.sysroots.is_empty();
    UntriedOptions {
        extra_dir: !options.extra.is_named(),
        sysroot: is_here,
        debug_dir: options.named_debug_dirs.is_empty(),
        debuginfod: cfg!(feature = "debuginfod") && options.fetcher.is_none(),
        install: is_here && options.debug_dirs.iter().any(|dir| *dir == *DEBUG_DIR),
    }
}
