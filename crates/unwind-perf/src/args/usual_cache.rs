//! The cache of runs that name none, and other folders of this program below the user's cache folder.

use std::path::PathBuf;

use host::{Host, PrivateTree};
use options::CacheLocation;

/// Variable that names the folder of cached names, or is `off`.
const VARIABLE: &str = "UNWIND_PERF_CACHE";
/// The folder of cached names, below the user's cache folder.
const NAMES: &str = "unwind-perf/names";

/// Returns the location of cached names if no option names one; `None` if the environment has no folder for it, or it
/// is not safe to use.
pub(crate) fn usual_cache(host: &dyn Host) -> Option<CacheLocation> {
    match host.variable(VARIABLE) {
        _ if is_cache_off(host) => None,
        Some(value) if !value.is_empty() => Some(CacheLocation::of_default_size(value.into())),
        _ => {
            let folder = own_folder(host.cache_home()?.join(NAMES), host).ok()?;
            Some(CacheLocation { is_default: true, ..CacheLocation::of_default_size(folder) })
        }
    }
}

/// Returns true if the user wants no cache.
pub(crate) fn is_cache_off(host: &dyn Host) -> bool {
    host.variable(VARIABLE).is_some_and(|value| value == "off")
}

/// Returns a folder below the user's cache folder, or the reason not to write there, unescaped: another user owns it, as with
/// `sudo` and the user's `HOME`, or others can change it.
pub(crate) fn own_folder(folder: PathBuf, host: &dyn Host) -> Result<PathBuf, String> {
    let home = host.cache_home().unwrap_or_default();
    // `~/.cache` may not exist yet.
    let home = home.parent().filter(|_| home.ends_with(".cache")).unwrap_or(&home).to_owned();
    if let Some(user) = PrivateTree::at(folder.clone()).other_owner(&home) {
        return Err(format!("{} is of another user (uid {user})", home.display()));
    }
    match host.distrust(&folder) {
        Some(distrust) => Err(distrust.to_string()),
        None => Ok(folder),
    }
}
